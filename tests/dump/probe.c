// SPDX-License-Identifier: MIT
/*
 * probe.c - where things are in the objects of a CPython as its own headers have it.
 *
 * Compiled against the internal headers of each interpreter by layouts.sh; prints every field of
 * struct sdw_object_layout, which must be what user/dump/object_layout.c says.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x03080000
#include "internal/pycore_pystate.h"
#elif PY_VERSION_HEX >= 0x03070000
#include "internal/mem.h"
#include "internal/pystate.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#else
/* CPython 3.6 to 3.10 Objects/dict-common.h, which is not installed */
struct _dictkeysobject {
	Py_ssize_t dk_refcnt;
	Py_ssize_t dk_size;
	void *dk_lookup;
	Py_ssize_t dk_usable;
	Py_ssize_t dk_nentries;
	char dk_indices[];
};
#endif

#include "text.h"

static void probe_states(struct sdw_object_layout *objects)
{
#if PY_VERSION_HEX < 0x03070000
	/* interpreters have no number yet, and the GIL is variables of one file */
	objects->interpreter_id = SDW_NO_OFFSET;
	objects->interpreter_modules = offsetof(PyInterpreterState, modules);
	objects->runtime_gil = objects->interpreter_gil = SDW_NO_OFFSET;
#elif PY_VERSION_HEX < 0x030c0000
	objects->interpreter_id = offsetof(PyInterpreterState, id);
	objects->interpreter_modules = offsetof(PyInterpreterState, modules);
	objects->runtime_gil = offsetof(_PyRuntimeState, ceval.gil);
	objects->interpreter_gil = SDW_NO_OFFSET;
	objects->gil_size = sizeof(((_PyRuntimeState *)0)->ceval.gil);
#else
	objects->interpreter_id = offsetof(PyInterpreterState, id);
	objects->interpreter_modules = offsetof(PyInterpreterState, imports.modules);
	objects->runtime_gil = SDW_NO_OFFSET;
	objects->interpreter_gil = offsetof(PyInterpreterState, ceval.gil);
	objects->gil_size = sizeof(struct _gil_runtime_state);
#endif
}

static void probe_frames(struct sdw_object_layout *objects)
{
#if PY_VERSION_HEX < 0x030b0000
	objects->frame_locals = offsetof(PyFrameObject, f_localsplus);
	objects->code_varnames = offsetof(PyCodeObject, co_varnames);
	objects->code_cellvars = offsetof(PyCodeObject, co_cellvars);
	objects->code_freevars = offsetof(PyCodeObject, co_freevars);
	objects->code_names = objects->code_kinds = SDW_NO_OFFSET;
#else
	objects->frame_locals = offsetof(struct _PyInterpreterFrame, localsplus);
	objects->code_varnames = objects->code_cellvars = objects->code_freevars = SDW_NO_OFFSET;
	objects->code_names = offsetof(PyCodeObject, co_localsplusnames);
	objects->code_kinds = offsetof(PyCodeObject, co_localspluskinds);
#endif
}

static void probe_dicts(struct sdw_object_layout *objects)
{
	typedef struct _dictkeysobject keys;

	objects->tuple_items = offsetof(PyTupleObject, ob_item) - sizeof(PyObject);
#if PY_VERSION_HEX < 0x030b0000
	objects->keys_have_size = true;
	objects->keys_size = offsetof(keys, dk_size);
	objects->keys_kind = SDW_NO_OFFSET;
#else
	objects->keys_size = offsetof(keys, dk_log2_index_bytes);
	objects->keys_kind = offsetof(keys, dk_kind);
	objects->values_first = offsetof(PyDictValues, values);
#endif
	objects->keys_nentries = offsetof(keys, dk_nentries);
	objects->keys_indices = offsetof(keys, dk_indices);
#if PY_VERSION_HEX >= 0x030b0000
#ifdef Py_GIL_DISABLED
	objects->managed_dict = 8; /* MANAGED_DICT_OFFSET of internal/pycore_object.h */
#else
	objects->managed_dict = 24;
#endif
#endif
	objects->heap_type_keys = offsetof(PyHeapTypeObject, ht_cached_keys);
}

int main(void)
{
	struct sdw_object_layout objects = {.version = PY_VERSION_HEX >> 16};

#ifdef Py_GIL_DISABLED
	objects.free_threaded = true;
#endif
	probe_states(&objects);
	probe_frames(&objects);
	probe_dicts(&objects);
	print_objects(&objects);
	return 0;
}
