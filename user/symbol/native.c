// SPDX-License-Identifier: MIT
/*
 * native.c - from an address to mapping, ELF file and symbol; names made printable here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "events.h"
#include "symbol/demangle.h"
#include "symbol/native.h"
#include "symbol/pycode.h"
#include "unwind/frame_table.h"

#define MAX_NAME_BYTES 4096u
#define TAIL_CALL      "_TAIL_CALL_" /* CPython 3.14 Python/ceval_macros.h */

/* Keeps bytes of a target as UTF-8. A long path keeps its end, a long name its beginning. */
static const char *keep(struct sdw_strings *strings, const char *bytes, bool is_path)
{
	size_t size = strlen(bytes);
	bool cut = size > MAX_NAME_BYTES;
	const char *kept = NULL, *from = bytes;
	char *text;

	if (cut && is_path)
		from += size - MAX_NAME_BYTES;
	text = sdw_text_decode(SDW_TEXT_BYTES, from, cut ? MAX_NAME_BYTES : size, cut && is_path,
			       cut && !is_path);
	if (text)
		kept = sdw_strings_keep(strings, text);
	free(text);
	return kept;
}

static int finish(struct sdw_native_symbol *symbol)
{
	return symbol->name && symbol->module ? 0 : -ENOMEM;
}

static int name_by_number(struct sdw_strings *strings, uint64_t number, const char *module,
			  struct sdw_native_symbol *symbol)
{
	char name[32];

	snprintf(name, sizeof(name), "0x%" PRIx64, number);
	symbol->name = sdw_strings_keep(strings, name);
	symbol->module = keep(strings, module, true);
	symbol->start = number;
	return finish(symbol);
}

/*
 * The start of the function at `vaddr` by its unwind table, `otherwise` if that does not tell: all
 * addresses of a function without a symbol are then one row of a report.
 */
static uint64_t start_by_frame_table(struct sdw_elf *elf, uint64_t vaddr, uint64_t otherwise)
{
	struct sdw_frame_tables tables = {0}; /* nothing is kept: searched once for an address */
	struct sdw_elf_section header, debug;
	struct sdw_frame_entry entry;
	uint64_t start = otherwise;

	/* without its search table, or beside .debug_frame, an index would be made each time */
	if (sdw_elf_section(elf, ".eh_frame_hdr", &header) || !header.data ||
	    (!sdw_elf_section(elf, ".debug_frame", &debug) && debug.data))
		return otherwise;
	if (!sdw_frame_table_find(&tables, elf, vaddr, &entry))
		start = entry.start;
	sdw_frame_tables_free(&tables);
	return start;
}

/* Code in an ELF file. `number` is what an address without a symbol is called: its vaddr. */
static int name_by_elf(struct sdw_elf *elf, struct sdw_strings *strings, uint64_t vaddr,
		       uint64_t number, const char *module, struct sdw_native_symbol *symbol)
{
	char readable[MAX_NAME_BYTES], stub[MAX_NAME_BYTES + sizeof("@plt")];
	struct sdw_elf_symbol found;
	bool is_stub = false;
	const char *name;

	if (sdw_elf_symbol_at(elf, vaddr, &found) && sdw_elf_evaluation_at(elf, vaddr, &found)) {
		if (sdw_elf_stub_at(elf, vaddr, &found))
			return name_by_number(strings, start_by_frame_table(elf, vaddr, number),
					      module, symbol);
		is_stub = true;
	}
	name = sdw_demangle(found.name, readable, sizeof(readable)) ? found.name : readable;
	if (is_stub) {
		snprintf(stub, sizeof(stub), "%.*s@plt", (int)MAX_NAME_BYTES - 1, name);
		name = stub;
	}
	symbol->name = keep(strings, name, false);
	symbol->module = keep(strings, module, true);
	symbol->start = found.vaddr;
	symbol->trampoline = !strncmp(found.name, TAIL_CALL, sizeof(TAIL_CALL) - 1) ||
			     (is_stub && sdw_is_evaluation_name(found.name));
	return finish(symbol);
}

/* Code that a runtime made. Returns 0, -ENOENT (not in the map) or -ENOMEM. */
static int name_by_perf_map(struct sdw_perf_map *map, struct sdw_strings *strings, uint64_t address,
			    struct sdw_native_symbol *symbol)
{
	const struct sdw_perf_map_entry *entry;

	if (!map)
		return -ENOENT;
	entry = sdw_perf_map_find(map, address);
	if (!entry && sdw_perf_map_refresh(map) > 0)
		entry = sdw_perf_map_find(map, address);
	if (!entry)
		return -ENOENT;
	symbol->name = sdw_strings_keep(strings, entry->name);
	symbol->module = sdw_strings_keep(strings, "[jit]");
	symbol->start = entry->start;
	symbol->trampoline = !strncmp(entry->name, "py::", 4);
	return finish(symbol);
}

/* Memory that no file stands behind, whatever the kernel or the process calls it. */
static bool is_anonymous(const char *path)
{
	return !path[0] || !strncmp(path, "//anon", 6) || !strncmp(path, "[anon", 5) ||
	       !strncmp(path, "[heap]", 6) || !strncmp(path, "[stack", 6);
}

int sdw_native_resolve(struct sdw_maps *maps, struct sdw_perf_map *perf_map,
		       struct sdw_strings *strings, uint64_t pc, bool is_return_address,
		       struct sdw_native_symbol *symbol)
{
	/* a call may be the last instruction of its function, or of its mapping */
	uint64_t address = is_return_address && pc ? pc - 1 : pc, vaddr;
	struct sdw_mapping *mapping = sdw_maps_find(maps, address);
	struct sdw_elf *elf;
	int err;

	*symbol = (struct sdw_native_symbol){0};
	if (!mapping)
		return name_by_number(strings, pc, "[unknown]", symbol);
	elf = sdw_mapping_elf(maps, mapping);
	if (elf && !sdw_mapping_to_vaddr(mapping, address, &vaddr))
		return name_by_elf(elf, strings, vaddr, vaddr + (pc - address), mapping->path,
				   symbol);
	err = name_by_perf_map(perf_map, strings, address, symbol);
	if (err != -ENOENT)
		return err;
	if (!is_anonymous(mapping->path))
		return name_by_number(strings, pc - mapping->start + mapping->offset, mapping->path,
				      symbol);
	symbol->name = sdw_strings_keep(strings, "[anonymous]");
	symbol->module = sdw_strings_keep(strings, "");
	symbol->start = mapping->start;
	return finish(symbol);
}
