// SPDX-License-Identifier: MIT
/*
 * demangle.c - libiberty's demangler, kept within bounds.
 *
 * Names come from a target's files. Substitutions may refer to each other, so that the readable
 * form doubles with every few bytes: the demangler is left as soon as its output no longer fits.
 * Its callback interface allocates nothing, therefore it may be left by a jump.
 */
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "symbol/demangle.h"

#define MAX_MANGLED_BYTES 2048u

struct output {
	char *to;
	size_t used, room;
	jmp_buf full;
};

static void take(const char *text, size_t size, void *context)
{
	struct output *out = context;

	if (!size)
		return;
	if (size >= out->room - out->used)
		longjmp(out->full, 1);
	memcpy(out->to + out->used, text, size);
	out->used += size;
}

int sdw_demangle(const char *name, char *to, size_t room)
{
	struct output out = {.to = to, .room = room};
	size_t size = strnlen(name, MAX_MANGLED_BYTES);
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (name[0] != '_' || size == MAX_MANGLED_BYTES || !room)
		return -ENOENT;
	if (setjmp(out.full))
		return -ENOENT;
	/* Rust's older names look like C++ ones, with a hash at the end */
	if (!rust_demangle_callback(name, options, take, &out)) {
		out.used = 0;
		if (name[1] != 'Z' || !cplus_demangle_v3_callback(name, options, take, &out))
			return -ENOENT;
	}
	if (!out.used)
		return -ENOENT;
	to[out.used] = '\0';
	return 0;
}
