// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "symbol/call_glue.h"

#define MAX_NAME 64

/* Sorted. CPython 2.7 to 3.15: Python/ceval.c, Objects/call.c, classobject.c, funcobject.c */
static const char *const names[] = {
	"PyEval_EvalCodeEx",
	"PyEval_EvalFrameEx",
	"PyObject_Call",
	"PyObject_CallFunctionObjArgs",
	"PyObject_Vectorcall",
	"PyVectorcall_Call",
	"_PyEval_EvalCode",
	"_PyEval_EvalCodeWithName",
	"_PyEval_EvalFrame",
	"_PyEval_Vector",
	"_PyFunction_FastCall",
	"_PyFunction_FastCallDict",
	"_PyFunction_FastCallKeywords",
	"_PyFunction_Vectorcall",
	"_PyObject_Call",
	"_PyObject_Call_Prepend",
	"_PyObject_FastCallDict",
	"_PyObject_FastCallDictTstate",
	"_PyObject_Vectorcall",
	"_PyObject_VectorcallTstate",
	"_PyVectorcall_Call",
	"_Py_VectorCallInstrumentation_StackRefSteal",
	"_Py_VectorCall_StackRefSteal",
	"call_function",
	"do_call",
	"do_call_core",
	"ext_do_call",
	"fast_function",
	"function_call",
	"function_code_fastcall",
	"instancemethod_call",
	"method_call",
	"method_vectorcall",
	"py_trampoline_evaluator", /* with -X perf */
	"trace_call_function",
};

static int compare(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool sdw_is_call_glue(const char *name)
{
	size_t length = strcspn(name, ".");
	char plain[MAX_NAME];

	if (length >= sizeof(plain))
		return false;
	memcpy(plain, name, length);
	plain[length] = '\0';
	return bsearch(plain, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]), compare);
}
