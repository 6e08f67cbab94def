/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - one ELF file on disk, opened once and shared by all processes that map it.
 *
 * In:  file descriptors (never paths of a target), whose contents are hostile: every size is
 *      checked, what is read is bounded, nothing is mmapped that can shrink under us.
 * Out: symbols by address and name, unwind sections, build id, segments.
 * Addresses here are "vaddr": as the file's program headers have them, before relocation.
 */
#ifndef SDW_ELF_FILE_H
#define SDW_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdw_elf_segment {
	uint64_t vaddr, offset, file_size, memory_size;
	uint32_t flags; /* PF_X ... */
};

struct sdw_elf_symbol {
	uint64_t vaddr, size; /* size 0: not known */
	const char *name;     /* owned by the file */
};

struct sdw_elf_section {
	const uint8_t *data; /* owned by the file; NULL: not there */
	size_t size;
	uint64_t vaddr;
};

struct sdw_elf;

/*
 * Reads the ELF file behind `fd` (a regular file; the caller keeps the descriptor and may close it
 * after the call). Returns 0 and a file with one reference, or -errno (-ENOEXEC: not an ELF file
 * that can be used here).
 */
int sdw_elf_open(int fd, struct sdw_elf **elf);
/* The same over bytes in memory, copied: for the vDSO and for tests. */
int sdw_elf_open_memory(const void *bytes, size_t size, struct sdw_elf **elf);

struct sdw_elf *sdw_elf_ref(struct sdw_elf *elf);
void sdw_elf_unref(struct sdw_elf *elf); /* NULL is allowed */

const struct sdw_elf_segment *sdw_elf_segments(const struct sdw_elf *elf, size_t *count);

/* The vaddr of a byte of the file that lies in a loaded segment. Returns 0 or -ENOENT. */
int sdw_elf_offset_to_vaddr(const struct sdw_elf *elf, uint64_t offset, uint64_t *vaddr);

/* Build id as bytes; NULL and 0 when there is none. */
const uint8_t *sdw_elf_build_id(const struct sdw_elf *elf, size_t *size);

/* Copies bytes of the loaded image (file contents only). Returns 0 or -EFAULT. */
int sdw_elf_read(const struct sdw_elf *elf, uint64_t vaddr, void *to, size_t size);

/*
 * ".eh_frame", ".eh_frame_hdr", ".debug_frame" (also of the debug file) ...; reads it at first use.
 * Returns 0, -ENOENT (no such section, or one without contents), -ENOEXEC (broken, too large).
 */
int sdw_elf_section(struct sdw_elf *elf, const char *name, struct sdw_elf_section *section);

/* Where a section lies, without reading it (".PyRuntime", ".bss"). Returns 0 or -ENOENT. */
int sdw_elf_section_address(struct sdw_elf *elf, const char *name, uint64_t *vaddr, uint64_t *size);

/*
 * The function that holds vaddr: of .symtab, the debug file (found by build id under
 * /usr/lib/debug/.build-id), or .dynsym. A symbol with a size must cover the address; one without
 * is taken only if no other function starts in between. Never a far-away neighbour: returns
 * -ENOENT.
 */
int sdw_elf_symbol_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol);

/*
 * The stub at vaddr through which the file calls a function of another one: that function's name,
 * the stub's address and size. Returns 0, or -ENOENT where no stub is, or none that can be read.
 */
int sdw_elf_stub_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol);

/* A symbol (function or object, any of the tables) by its exact name. Returns 0 or -ENOENT. */
int sdw_elf_symbol_named(struct sdw_elf *elf, const char *name, struct sdw_elf_symbol *symbol);

/* The same without the debug file: cheap for what is not there, and is asked of every file. */
int sdw_elf_own_symbol_named(struct sdw_elf *elf, const char *name, struct sdw_elf_symbol *symbol);

/*
 * True if vaddr lies in the interpreter's evaluation function: _PyEval_EvalFrameDefault and the
 * parts that compilers split off (NAME.cold, NAME.part.0, NAME.constprop.0, NAME.lto_priv.0.cold
 * ...). Cached per file.
 */
bool sdw_elf_is_evaluation(struct sdw_elf *elf, uint64_t vaddr);

/*
 * True if vaddr lies in one of the interpreter's instructions, in a build where these are functions
 * of their own (CPython 3.14 and later, --with-tail-call-interp): an evaluation has one frame in
 * one of them then, and one in the evaluation function only where that was not inlined. Cached per
 * file.
 */
bool sdw_elf_is_instruction(struct sdw_elf *elf, uint64_t vaddr);

/* Is it the evaluation function's name, or that of a part of it? */
bool sdw_is_evaluation_name(const char *name);

/* The part of it, or the instruction, that vaddr lies in, by the function's name. Returns 0 or
 * -ENOENT. */
int sdw_elf_evaluation_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol);

/*
 * One thing that another stage learned from this file alone (user/target/interpreter.c: which
 * CPython it holds), kept as long as the file. The file owns it after the call and releases it with
 * `release`.
 */
void sdw_elf_set_note(struct sdw_elf *elf, void *note, void (*release)(void *note));
void *sdw_elf_note(const struct sdw_elf *elf);

/* True if others than the caller have a reference: the file cache drops only unused files. */
bool sdw_elf_is_shared(const struct sdw_elf *elf);

#endif
