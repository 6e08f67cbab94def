// SPDX-License-Identifier: MIT
/*
 * python_file.c - which CPython an ELF file holds.
 *
 * In:  the symbols and bytes of a file, which may be forged.
 * Out: struct sdw_python_file: where _PyRuntime and PyCode_Type are, the exact version, the layout.
 *
 * The version, best source first: _Py_DebugOffsets at the start of _PyRuntime (3.13 and later), the
 * constant Py_Version (3.11 and later), the text that Py_GetVersion's instructions refer to, and
 * last, in a file without those symbols, the only version text among the constants.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/python_file.h"

#define MAX_RUNTIME_BYTES   (16u << 20)
#define MAX_FUNCTION_BYTES  512u	/* Py_GetVersion has 49 to 91 */
#define MAX_CONSTANTS_BYTES (64u << 20) /* of .rodata that are searched */
#define DEBUG_OFFSETS_ROOM  1024u	/* 3.13's take 584 bytes, 3.15's 888 */
#define SUPPORTED	    "2.7 and 3.6 to 3.15 are"

struct python_version {
	unsigned int major, minor, micro;
	char suffix[8]; /* "rc1", "a2", "+" or "" */
};

static bool take_number(const char **text, unsigned int *number)
{
	const char *start = *text;

	for (*number = 0; **text >= '0' && **text <= '9' && *text - start < 3; (*text)++)
		*number = *number * 10 + (unsigned int)(**text - '0');
	return *text != start;
}

/* True for the whole of a text like "3.8.18", "3.13.0rc1", "3.9.2+". */
static bool parse_version(const char *text, struct python_version *version)
{
	if (!take_number(&text, &version->major) || *text++ != '.' ||
	    !take_number(&text, &version->minor) || *text++ != '.' ||
	    !take_number(&text, &version->micro))
		return false;
	if (version->major < 2 || version->major > 3 || strlen(text) >= sizeof(version->suffix) ||
	    text[strspn(text, "abcrc0123456789+")] != '\0')
		return false;
	memcpy(version->suffix, text, strlen(text) + 1);
	return true;
}

/* PY_VERSION_HEX: major, minor, micro, and a nibble each of level (a, b, c, f) and serial. */
static void version_of_hex(uint64_t hex, struct python_version *version)
{
	unsigned int level = hex >> 4 & 0xf, serial = hex & 0xf;

	version->major = hex >> 24 & 0xff;
	version->minor = hex >> 16 & 0xff;
	version->micro = hex >> 8 & 0xff;
	version->suffix[0] = '\0';
	if (level >= 0xa && level <= 0xc)
		snprintf(version->suffix, sizeof(version->suffix), "%s%u",
			 (const char *[]){"a", "b", "rc"}[level - 0xa], serial);
}

static bool version_at(const struct sdw_elf *elf, uint64_t vaddr, struct python_version *version)
{
	char text[24] = "";

	/* near the end of a segment there may be less to read, but not less than a version */
	for (size_t size = sizeof(text) - 1; size >= 6; size--) {
		if (sdw_elf_read(elf, vaddr, text, size) == 0)
			return memchr(text, '\0', size) && parse_version(text, version);
	}
	return false;
}

/*
 * Py_GetVersion formats PY_VERSION: some instruction of it refers to the text. Instructions are not
 * decoded: every four bytes are taken as a distance from their end or as an address, and only a
 * text that is a version and nothing else counts. (Compilers merge it with longer texts that end
 * alike, so it cannot be found by searching for the text.)
 */
static bool version_of_function(struct sdw_elf *elf, struct python_version *version)
{
	uint8_t code[MAX_FUNCTION_BYTES];
	struct sdw_elf_symbol function;
	size_t size;

	if (sdw_elf_symbol_named(elf, "Py_GetVersion", &function))
		return false;
	size = function.size < sizeof(code) ? function.size : sizeof(code);
	if (size < 4 || sdw_elf_read(elf, function.vaddr, code, size))
		return false;
	for (size_t at = 0; at + 4 <= size; at++) {
		int32_t distance;

		memcpy(&distance, code + at, sizeof(distance));
		if (version_at(elf, function.vaddr + at + 4 + (uint64_t)(int64_t)distance,
			       version) ||
		    version_at(elf, (uint32_t)distance, version))
			return true;
	}
	return false;
}

/* The one CPython version that stands alone among the constants; false if there are none or more.
 */
static bool version_of_constants(struct sdw_elf *elf, struct python_version *version)
{
	struct sdw_elf_section constants;
	struct python_version found;
	const char *at, *end;
	bool any = false;

	if (sdw_elf_section(elf, ".rodata", &constants) || constants.size > MAX_CONSTANTS_BYTES)
		return false;
	at = (const char *)constants.data;
	end = at + constants.size;
	while ((at = memchr(at, '\0', (size_t)(end - at))) != NULL && ++at < end) {
		if (end - at < 6 || at[0] != '3' || at[1] != '.')
			continue;
		if (!memchr(at, '\0', (size_t)(end - at)) || !parse_version(at, &found) ||
		    found.minor < 7)
			continue;
		if (any && found.minor != version->minor)
			return false;
		*version = found;
		any = true;
	}
	return any;
}

static void refuse(struct sdw_python_file *file, const char *why)
{
	snprintf(file->problem, sizeof(file->problem), "CPython %s%s", file->version, why);
}

static void set_version(struct sdw_python_file *file, const struct python_version *version)
{
	snprintf(file->version, sizeof(file->version), "%u.%u.%u%s", version->major, version->minor,
		 version->micro, version->suffix);
}

/* 3.13 and later: fills version and layout from what the file has at _PyRuntime. */
static bool read_debug_offsets(struct sdw_elf *elf, struct sdw_python_file *file,
			       struct python_version *version)
{
	uint8_t bytes[DEBUG_OFFSETS_ROOM];
	uint64_t hex;

	if (sdw_elf_read(elf, file->runtime_vaddr, bytes, sizeof(bytes)) ||
	    memcmp(bytes, "xdebugpy", 8) != 0)
		return false;
	memcpy(&hex, bytes + 8, sizeof(hex));
	version_of_hex(hex, version);
	set_version(file, version);
	switch (sdw_layout_from_debug_offsets(bytes, sizeof(bytes), &file->layout)) {
	case 0:
		break;
	case -ENOTSUP:
		refuse(file, version->minor > 15 ? " is not supported yet (" SUPPORTED ")"
						 : " is not supported (" SUPPORTED ")");
		break;
	default:
		refuse(file, " describes its own layout wrongly");
	}
	return true;
}

/* Where Py_Version is there too, it must say the same. */
static bool agrees_with_constant(struct sdw_elf *elf, const struct python_version *version)
{
	struct python_version constant;
	struct sdw_elf_symbol symbol;
	uint64_t hex;

	if (sdw_elf_symbol_named(elf, "Py_Version", &symbol) ||
	    sdw_elf_read(elf, symbol.vaddr, &hex, sizeof(hex)))
		return true;
	version_of_hex(hex, &constant);
	return constant.major == version->major && constant.minor == version->minor;
}

/* 3.12 and before. */
static bool find_version(struct sdw_elf *elf, struct sdw_python_file *file,
			 struct python_version *version)
{
	struct sdw_elf_symbol symbol;
	uint64_t hex;

	if (sdw_elf_symbol_named(elf, "Py_Version", &symbol) == 0 &&
	    sdw_elf_read(elf, symbol.vaddr, &hex, sizeof(hex)) == 0) {
		version_of_hex(hex, version);
		return true;
	}
	if (version_of_function(elf, version))
		return true;
	file->is_guess = true;
	return version_of_constants(elf, version);
}

static void find_layout(struct sdw_elf *elf, struct sdw_python_file *file)
{
	struct python_version version;

	if (read_debug_offsets(elf, file, &version)) {
		if (!file->problem[0] && !agrees_with_constant(elf, &version))
			refuse(file, " gives two versions of itself");
	} else if (!find_version(elf, file, &version)) {
		snprintf(file->problem, sizeof(file->problem),
			 "a CPython whose version cannot be told (stripped?)");
		return;
	} else {
		set_version(file, &version);
		if (version.major != 3 || version.minor < 7 ||
		    sdw_layout_for_version(version.major << 8 | version.minor, &file->layout))
			refuse(file, version.major == 3 && version.minor > 15
					     ? " is not supported yet (" SUPPORTED ")"
					     : " is not supported (" SUPPORTED ")");
	}
	/* 3.7.4 moved fields in the middle of the runtime: the interpreters are before them, the
	   holder of the GIL and the collector behind; both are only for flags, which then are
	   missing */
	if (file->layout.version == 0x0307 && version.micro < 4) {
		file->layout.runtime_tstate_current = SDW_NO_OFFSET;
		file->layout.runtime_gc_collecting = SDW_NO_OFFSET;
	}
	if (!file->problem[0] && (version.suffix[0] == 'a' || version.suffix[0] == 'b'))
		refuse(file, ", a pre-release, is not supported");
}

/* Py_REF_DEBUG, which Py_DEBUG and Py_TRACE_REFS bring along, exports this function (2.7 to
 * 3.12). */
static bool is_debug_build(struct sdw_elf *elf)
{
	struct sdw_elf_symbol symbol;

	return sdw_elf_symbol_named(elf, "_Py_NegativeRefcount", &symbol) == 0;
}

/*
 * The variable that PyInterpreterState_Head returns; it has no name in a stripped file. The
 * function is a load and a return, with an endbr64 before them where the compiler was told so.
 */
static bool interpreter_list(struct sdw_elf *elf, uint64_t *vaddr)
{
#ifdef __x86_64__
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, load[] = {0x48, 0x8b, 0x05};
	struct sdw_elf_symbol function;
	uint8_t code[12];
	size_t at = 0;
	int32_t distance;

	if (sdw_elf_own_symbol_named(elf, "PyInterpreterState_Head", &function) ||
	    sdw_elf_read(elf, function.vaddr, code, sizeof(code)))
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (memcmp(code + at, load, sizeof(load)) != 0 || code[at + 7] != 0xc3)
		return false;
	memcpy(&distance, code + at + 3, sizeof(distance));
	*vaddr = function.vaddr + at + 7 + (uint64_t)(int64_t)distance;
	return true;
#else
	(void)elf, (void)vaddr;
	return false;
#endif
}

/*
 * 2.7 and 3.6: the list of interpreters and the holder of the GIL are variables of their own. They
 * are treated as fields of a runtime object that begins at the lower one.
 */
static void look_into_old(struct sdw_elf *elf, struct sdw_python_file *file)
{
	struct python_version version;
	struct sdw_elf_symbol holder, symbol;
	uint64_t list;

	if (sdw_elf_own_symbol_named(elf, "_PyThreadState_Current", &holder) ||
	    !version_of_function(elf, &version))
		return;
	file->is_python = true;
	set_version(file, &version);
	if (sdw_layout_for_version(version.major << 8 | version.minor, &file->layout) ||
	    file->layout.version >= 0x0307) {
		refuse(file, " is not supported (" SUPPORTED ")");
		return;
	}
	if (is_debug_build(elf)) {
		refuse(file, ", a debug build, is not supported");
		return;
	}
	if (!interpreter_list(elf, &list) &&
	    (sdw_elf_symbol_named(elf, "interp_head", &symbol) || !(list = symbol.vaddr))) {
		refuse(file, " does not say where its interpreters are");
		return;
	}
	file->runtime_vaddr = list < holder.vaddr ? list : holder.vaddr;
	if (list - file->runtime_vaddr > UINT32_MAX / 2 ||
	    holder.vaddr - file->runtime_vaddr > UINT32_MAX / 2) {
		refuse(file, " has its variables in impossible places");
		return;
	}
	file->layout.runtime_interpreters_head = (uint32_t)(list - file->runtime_vaddr);
	file->layout.runtime_tstate_current = (uint32_t)(holder.vaddr - file->runtime_vaddr);
	if (sdw_elf_symbol_named(elf, "PyCode_Type", &symbol) == 0)
		file->code_type_vaddr = symbol.vaddr;
}

static void look_into(struct sdw_elf *elf, struct sdw_python_file *file)
{
	struct sdw_elf_symbol symbol;
	uint64_t size = 0;
	bool is_debug;

	if (sdw_elf_own_symbol_named(elf, "_PyRuntime", &symbol) == 0) {
		file->runtime_vaddr = symbol.vaddr;
		size = symbol.size;
	} else if (sdw_elf_section_address(elf, ".PyRuntime", &file->runtime_vaddr, &size)) {
		look_into_old(elf, file);
		return;
	}
	file->is_python = true;
	find_layout(elf, file);
	if (file->problem[0])
		return;
	/*
	 * From 3.8 on Py_DEBUG moves nothing that is read here, but Py_TRACE_REFS does: the process
	 * has to prove it. From 3.13 on the file's own offsets are those of the build, whatever its
	 * options.
	 */
	is_debug = file->layout.version < 0x030d && is_debug_build(elf);
	file->is_guess |= is_debug;
	if (is_debug && file->layout.version < 0x0308)
		refuse(file, ", a debug build, is not supported");
	else if (size > MAX_RUNTIME_BYTES ||
		 (size && size < file->layout.runtime_interpreters_head + 8))
		refuse(file, " has a _PyRuntime of an impossible size");
	if (sdw_elf_symbol_named(elf, "PyCode_Type", &symbol) == 0)
		file->code_type_vaddr = symbol.vaddr;
}

const struct sdw_python_file *sdw_python_file_of(struct sdw_elf *elf)
{
	struct sdw_python_file *file = sdw_elf_note(elf);

	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	look_into(elf, file);
	sdw_elf_set_note(elf, file, free);
	return file;
}
