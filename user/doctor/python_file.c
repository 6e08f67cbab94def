// SPDX-License-Identifier: MIT
/* python_file.c - findings about the CPython in an ELF file. */
#include "doctor/target.h"
#include "target/python_file.h"

#define DEBUG_OFFSETS_SINCE 0x030du

static const char *how(struct sdw_elf *elf)
{
	struct sdw_elf_symbol symbol;
	uint64_t vaddr, size;

	if (!sdw_elf_own_symbol_named(elf, "_PyRuntime", &symbol))
		return "by its symbol _PyRuntime";
	if (!sdw_elf_section_address(elf, ".PyRuntime", &vaddr, &size))
		return "by its section .PyRuntime";
	return "by its symbol _PyThreadState_Current";
}

/* Py_REF_DEBUG, which debug builds bring along, exports this function (3.8 and later). */
static const char *flavour(struct sdw_elf *elf, const struct sdw_python_file *file)
{
	struct sdw_elf_symbol symbol;

	if (!sdw_elf_symbol_named(elf, "_Py_NegativeRefcount", &symbol))
		return "debug build";
	return file->layout.free_threaded ? "free-threaded release build" : "release build";
}

void sdw_doctor_file(struct sdw_elf *elf, const char *path, bool living,
		     struct sdw_findings *findings)
{
	const struct sdw_python_file *file = sdw_python_file_of(elf);
	struct sdw_elf_symbol symbol;

	if (!file || !file->is_python)
		return;
	sdw_findings_add(findings, "python",
			 file->problem[0] ? SDW_LEVEL_FAULT
			 : file->is_guess ? SDW_LEVEL_NOTE
					  : SDW_LEVEL_OK,
			 NULL, "CPython %s in %s, found %s%s%s%s", file->version, path, how(elf),
			 file->is_guess ? "; the version is likely, not sure" : "",
			 file->problem[0] ? "; " : "", file->problem);
	sdw_findings_add(findings, "build", SDW_LEVEL_OK, NULL, "%s", flavour(elf, file));
	if (file->problem[0])
		return;
	if (file->layout.version >= DEBUG_OFFSETS_SINCE)
		sdw_findings_add(findings, "layout", SDW_LEVEL_OK, NULL,
				 "from its own _Py_DebugOffsets%s",
				 living ? ", proven on the process" : "");
	else
		sdw_findings_add(findings, "layout", SDW_LEVEL_OK, NULL,
				 "from the table for %u.%u%s", file->layout.version >> 8,
				 file->layout.version & 0xff,
				 living ? ", proven on the process" : "");
	if (sdw_elf_symbol_named(elf, "_PyEval_EvalFrameDefault", &symbol) &&
	    sdw_elf_symbol_named(elf, "PyEval_EvalFrameEx", &symbol))
		sdw_findings_add(findings, "symbols", SDW_LEVEL_NOTE, NULL,
				 "stripped of the name of its evaluation function: where Python "
				 "frames lie among native ones is told by other marks, or not");
	else
		sdw_findings_add(findings, "symbols", SDW_LEVEL_OK, NULL,
				 "the evaluation function is named: Python and native frames are "
				 "laid into one order");
}
