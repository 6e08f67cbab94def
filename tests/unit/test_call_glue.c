// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/call_glue.h"

static void test_functions_that_only_carry_a_call_are_glue(void **state)
{
	static const char *const glue[] = {"PyEval_EvalFrameEx",
					   "PyObject_Call",
					   "PyVectorcall_Call",
					   "_PyEval_EvalCodeWithName",
					   "_PyEval_Vector",
					   "_PyFunction_Vectorcall",
					   "_PyObject_FastCallDict",
					   "call_function",
					   "py_trampoline_evaluator",
					   "do_call_core",
					   "function_code_fastcall",
					   "trace_call_function",
					   "method_vectorcall",
					   "_PyEval_EvalFrame",
					   "_PyObject_Vectorcall",
					   "_PyFunction_FastCall",
					   "ext_do_call",
					   "PyEval_EvalCodeEx"};

	(void)state;
	for (size_t i = 0; i < sizeof(glue) / sizeof(glue[0]); i++)
		assert_true(sdw_is_call_glue(glue[i]));
}

static void test_parts_that_the_compiler_split_off_are_glue_too(void **state)
{
	(void)state;
	assert_true(sdw_is_call_glue("call_function.constprop.0"));
	assert_true(sdw_is_call_glue("_PyEval_Vector.cold"));
}

static void test_what_does_something_is_not(void **state)
{
	(void)state;
	assert_false(sdw_is_call_glue("builtin_sorted"));
	assert_false(sdw_is_call_glue("slot_tp_getattr_hook"));
	assert_false(sdw_is_call_glue("call_function_of_mine"));
	assert_false(sdw_is_call_glue("_PyEval_EvalFrameDefault"));
	assert_false(sdw_is_call_glue(""));
	assert_false(sdw_is_call_glue(
		"a_name_that_is_longer_than_any_of_the_interpreters_own_functions_is"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_that_only_carry_a_call_are_glue),
		cmocka_unit_test(test_parts_that_the_compiler_split_off_are_glue_too),
		cmocka_unit_test(test_what_does_something_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
