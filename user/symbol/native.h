/* SPDX-License-Identifier: MIT */
/*
 * native.h - what code stands at an address of a process: function and module.
 *
 * Symbols of the mapped ELF files, then the process's perf map for code that a runtime made. An
 * address without a symbol keeps its own number as the name, never that of a neighbour.
 */
#ifndef SDW_NATIVE_H
#define SDW_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "symbol/perf_map.h"
#include "target/maps.h"

struct sdw_native_symbol {
	/*
	 * demangled; NAME@plt: a stub; "0x...": no symbol, the vaddr where the function starts by
	 * its unwind table, else of the address. Kept in the strings given
	 */
	const char *name;
	const char *module; /* path of the file; "[vdso]", "[jit]", "" (anonymous), "[unknown]" */
	uint64_t start;	    /* of the function: vaddr of its file, or address of other code */
	/* made by python -X perf around each Python call, one instruction of an interpreter whose
	   evaluation function is one function each (--with-tail-call-interp), or the stub through
	   which libpython calls its evaluation function: says nothing new, hide it */
	bool trampoline;
};

/*
 * Looks up `pc`; a return address stands for the call before it. Always gives a name, except for
 * -ENOMEM. `perf_map` is of the same process, or NULL. May open files and read the perf map: meant
 * to be called once for each address (until maps->generation changes).
 */
int sdw_native_resolve(struct sdw_maps *maps, struct sdw_perf_map *perf_map,
		       struct sdw_strings *strings, uint64_t pc, bool is_return_address,
		       struct sdw_native_symbol *symbol);

#endif
