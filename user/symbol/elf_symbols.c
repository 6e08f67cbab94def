// SPDX-License-Identifier: MIT
/*
 * elf_symbols.c - which function holds an address of an ELF file, and where a named symbol is.
 *
 * In:  .symtab and .dynsym of the file and .symtab of its debug file, all hostile.
 * Out: one array of functions, sorted, one per address, built at first use.
 * The debug file is looked for by build id under the host's own /usr/lib/debug only, and must have
 * the same build id: nothing that a target says leads to another path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "symbol/elf_internal.h"

#define MAX_FUNCTIONS	    (4u << 20)
#define MAX_SYMBOL_SECTIONS 65536u
/* how many enclosing candidates are looked at; real code nests labels two or three deep */
#define MAX_NESTING	 64
#define DEBUG_DIRECTORY	 "/usr/lib/debug/.build-id/"
#define DEBUG_PATH_BYTES 256

struct symbol_table {
	Elf_Data *symbols, *strings;
	size_t count;
};

static int open_table(struct sdw_elf *elf, uint32_t type, struct symbol_table *table)
{
	Elf_Scn *section, *strings;
	GElf_Shdr header, string_header;

	section = sdw_elf_section_of_type(elf, type, &header);
	if (!section || header.sh_entsize != sizeof(Elf64_Sym))
		return -ENOENT;
	strings = elf_getscn(elf->elf, header.sh_link);
	if (!strings || !gelf_getshdr(strings, &string_header) ||
	    string_header.sh_type != SHT_STRTAB)
		return -ENOENT;
	table->symbols = sdw_elf_section_data(elf, section);
	table->strings = sdw_elf_section_data(elf, strings);
	if (!table->symbols || !table->symbols->d_buf || !table->strings || !table->strings->d_buf)
		return -ENOENT;
	table->count = table->symbols->d_size / sizeof(Elf64_Sym);
	return 0;
}

/* The executable sections: where the code that symbols may name is. */
struct code_sections {
	uint64_t *ends; /* by section index; 0: not code */
	size_t count;
};

static int find_code(struct sdw_elf *elf, struct code_sections *code)
{
	Elf_Scn *section = NULL;

	if (elf_getshdrnum(elf->elf, &code->count) || code->count > MAX_SYMBOL_SECTIONS)
		return -ENOEXEC;
	code->ends = calloc(code->count ? code->count : 1, sizeof(*code->ends));
	if (!code->ends)
		return -ENOMEM;
	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		GElf_Shdr header;
		size_t index = elf_ndxscn(section);

		if (index < code->count && gelf_getshdr(section, &header) &&
		    (header.sh_flags & SHF_EXECINSTR) &&
		    header.sh_addr + header.sh_size > header.sh_addr)
			code->ends[index] = header.sh_addr + header.sh_size;
	}
	return 0;
}

/* Lower is better: a name that its users know, with a size, not a label in assembler code. */
static uint8_t rank_of(const GElf_Sym *symbol, const char *name)
{
	uint8_t rank = 0;

	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank += 64;
	if (!symbol->st_size)
		rank += 32;
	if (name[0] == '_')
		rank += name[1] == '_' ? 8 : 4;
	if (GELF_ST_BIND(symbol->st_info) == STB_LOCAL)
		rank += 2;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank += 1;
	return rank;
}

static bool is_function(const GElf_Sym *symbol, const char *name)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		/* not the "$x" and ".L" marks that assemblers leave */
		return name[0] != '$' && name[0] != '.';
	default:
		return false;
	}
}

/* "memcpy@@GLIBC_2.14" is "memcpy" to everybody; the table in memory is our own copy. */
static void cut_version(const struct symbol_table *table, uint64_t offset)
{
	char *text = (char *)table->strings->d_buf + offset;
	char *version = strchr(text, '@');

	if (version && version != text)
		*version = '\0';
}

static int add_functions(struct sdw_elf *elf, const struct symbol_table *table,
			 const struct code_sections *code)
{
	struct {
		struct sdw_elf_function *items;
		size_t count, room;
	} list = {elf->functions, elf->function_count, elf->function_room};
	int err = 0;

	for (size_t i = 1; i < table->count && list.count < MAX_FUNCTIONS; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(table->symbols, (int)i, &symbol) ||
		    symbol.st_shndx >= code->count || !code->ends[symbol.st_shndx] ||
		    symbol.st_value >= code->ends[symbol.st_shndx])
			continue;
		name = sdw_elf_string(table->strings, symbol.st_name);
		if (!name || !name[0] || !is_function(&symbol, name))
			continue;
		cut_version(table, symbol.st_name);
		err = sdw_array_reserve(&list, 1);
		if (err)
			break;
		if (symbol.st_size > code->ends[symbol.st_shndx] - symbol.st_value)
			symbol.st_size = code->ends[symbol.st_shndx] - symbol.st_value;
		list.items[list.count++] = (struct sdw_elf_function){
			.vaddr = symbol.st_value,
			.size = symbol.st_size,
			.limit = code->ends[symbol.st_shndx],
			.name = name,
			.rank = rank_of(&symbol, name),
		};
	}
	elf->functions = list.items;
	elf->function_count = list.count;
	elf->function_room = list.room;
	return err;
}

static int compare_functions(const void *left, const void *right)
{
	const struct sdw_elf_function *a = left, *b = right;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Sorts, keeps the best name of each address, and computes how far back a search must go. */
static void sort_functions(struct sdw_elf *elf)
{
	struct sdw_elf_function *items = elf->functions;
	uint64_t reach = 0;
	size_t kept = 0;

	if (!elf->function_count)
		return;
	qsort(items, elf->function_count, sizeof(*items), compare_functions);
	for (size_t i = 0; i < elf->function_count; i++) {
		if (kept && items[kept - 1].vaddr == items[i].vaddr)
			continue;
		items[kept] = items[i];
		if (items[kept].vaddr + items[kept].size > reach)
			reach = items[kept].vaddr + items[kept].size;
		items[kept++].reach = reach;
	}
	elf->function_count = kept;
}

static int add_table(struct sdw_elf *elf, struct sdw_elf *from, uint32_t type)
{
	struct code_sections code = {0};
	struct symbol_table table;
	int err = open_table(from, type, &table);

	if (err)
		return err;
	err = find_code(from, &code);
	if (!err)
		err = add_functions(elf, &table, &code);
	free(code.ends);
	return err;
}

void sdw_elf_load_functions(struct sdw_elf *elf)
{
	if (elf->functions_tried)
		return;
	elf->functions_tried = true;
	if (add_table(elf, elf, SHT_SYMTAB) == 0)
		elf->functions_complete = true;
	else if (sdw_elf_debug_file(elf) && add_table(elf, elf->debug, SHT_SYMTAB) == 0)
		elf->functions_complete = true;
	add_table(elf, elf, SHT_DYNSYM);
	sort_functions(elf);
}

/* Index of the last function that starts at or before vaddr; false if there is none. */
static bool last_at_or_before(const struct sdw_elf *elf, uint64_t vaddr, size_t *index)
{
	size_t low = 0, high = elf->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->functions[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	*index = low - 1;
	return low > 0;
}

int sdw_elf_symbol_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol)
{
	const struct sdw_elf_function *function;
	size_t last, i;

	sdw_elf_load_functions(elf);
	if (!last_at_or_before(elf, vaddr, &last))
		return -ENOENT;
	for (i = last; last - i < MAX_NESTING && elf->functions[i].reach > vaddr; i--) {
		function = &elf->functions[i];
		if (vaddr - function->vaddr < function->size)
			goto found;
		if (i == 0)
			break;
	}
	/*
	 * Assembler code often has no sizes: its label reaches to the next one, or to its section's
	 * end. Where only exported names are known, static functions may lie in between: not taken.
	 */
	function = &elf->functions[last];
	if (function->size || vaddr >= function->limit || !elf->functions_complete)
		return -ENOENT;
found:
	*symbol = (struct sdw_elf_symbol){
		.vaddr = function->vaddr,
		.size = function->size,
		.name = function->name,
	};
	return 0;
}

/* True if the terminated string at `offset` is `name`, of `size` bytes with its end. */
static bool is_named(const Elf_Data *strings, uint64_t offset, const char *name, size_t size)
{
	return offset < strings->d_size && size <= strings->d_size - offset &&
	       memcmp((const char *)strings->d_buf + offset, name, size) == 0;
}

static int find_named(struct sdw_elf *elf, uint32_t type, const char *name,
		      struct sdw_elf_symbol *found)
{
	size_t size = strlen(name) + 1;
	struct symbol_table table;
	int err = open_table(elf, type, &table);

	if (err)
		return err;
	for (size_t i = 1; i < table.count; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(table.symbols, (int)i, &symbol) ||
		    !is_named(table.strings, symbol.st_name, name, size) ||
		    symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) > STT_FUNC)
			continue;
		*found = (struct sdw_elf_symbol){
			.vaddr = symbol.st_value,
			.size = symbol.st_size,
			.name = (const char *)table.strings->d_buf + symbol.st_name,
		};
		return 0;
	}
	return -ENOENT;
}

int sdw_elf_own_symbol_named(struct sdw_elf *elf, const char *name, struct sdw_elf_symbol *symbol)
{
	if (find_named(elf, SHT_DYNSYM, name, symbol) == 0)
		return 0;
	return find_named(elf, SHT_SYMTAB, name, symbol);
}

int sdw_elf_symbol_named(struct sdw_elf *elf, const char *name, struct sdw_elf_symbol *symbol)
{
	struct sdw_elf *debug;

	if (sdw_elf_own_symbol_named(elf, name, symbol) == 0)
		return 0;
	debug = sdw_elf_debug_file(elf);
	return debug ? find_named(debug, SHT_SYMTAB, name, symbol) : -ENOENT;
}

/* The host's own file of this build id, or -1. Never waits on what is no regular file. */
static int open_debug_file(const struct sdw_elf *elf)
{
	char path[DEBUG_PATH_BYTES], again[32];
	struct stat status;
	size_t used;
	int handle, fd = -1;

	if (elf->build_id_size < 2 || elf->build_id_size > 64)
		return -1;
	used = (size_t)snprintf(path, sizeof(path), DEBUG_DIRECTORY "%02x/", elf->build_id[0]);
	for (size_t i = 1; i < elf->build_id_size; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%02x",
					 elf->build_id[i]);
	snprintf(path + used, sizeof(path) - used, ".debug");
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -1;
	if (fstat(handle, &status) == 0 && S_ISREG(status.st_mode)) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", handle);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	close(handle);
	return fd;
}

struct sdw_elf *sdw_elf_debug_file(struct sdw_elf *elf)
{
	struct sdw_elf *debug;
	int fd;

	if (elf->debug_tried)
		return elf->debug;
	elf->debug_tried = true;
	fd = open_debug_file(elf);
	if (fd < 0)
		return NULL;
	if (sdw_elf_open(fd, &debug) == 0) {
		/* a debug file has no debug file */
		debug->debug_tried = true;
		if (debug->build_id_size == elf->build_id_size &&
		    memcmp(debug->build_id, elf->build_id, elf->build_id_size) == 0)
			elf->debug = debug;
		else
			sdw_elf_unref(debug);
	}
	close(fd);
	return elf->debug;
}
