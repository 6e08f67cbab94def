// SPDX-License-Identifier: MIT
/*
 * needed.c - the libraries that a program asks the dynamic loader for: DT_NEEDED, searched for in
 * DT_RPATH or DT_RUNPATH, LD_LIBRARY_PATH, and the usual directories (ld.so(8)).
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/target.h"

#define MAX_DYNAMIC 128
#define MAX_NAME    256

static const char usual[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
			    "/lib:/usr/lib:/usr/local/lib";

struct dynamic {
	Elf64_Dyn entries[MAX_DYNAMIC];
	size_t count;
	uint64_t strings; /* vaddr of the string table */
};

static int read_dynamic(struct sdw_elf *elf, struct dynamic *dynamic)
{
	uint64_t vaddr, size;

	*dynamic = (struct dynamic){0};
	if (sdw_elf_section_address(elf, ".dynamic", &vaddr, &size))
		return -ENOENT;
	if (size > sizeof(dynamic->entries))
		size = sizeof(dynamic->entries);
	if (sdw_elf_read(elf, vaddr, dynamic->entries, size))
		return -ENOENT;
	for (size_t i = 0; i < size / sizeof(dynamic->entries[0]); i++) {
		if (dynamic->entries[i].d_tag == DT_NULL)
			break;
		if (dynamic->entries[i].d_tag == DT_STRTAB)
			dynamic->strings = dynamic->entries[i].d_un.d_ptr;
		dynamic->count++;
	}
	return dynamic->strings ? 0 : -ENOENT;
}

/* A string of the table, byte by byte: it may end where the segment ends. */
static bool read_string(const struct sdw_elf *elf, const struct dynamic *dynamic, uint64_t offset,
			char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (sdw_elf_read(elf, dynamic->strings + offset + i, text + i, 1))
			return false;
		if (!text[i])
			return i > 0;
	}
	return false;
}

/* Puts the program's directory where $ORIGIN stands at the beginning. */
static bool expand(const char *directory, size_t length, const char *program, char *to, size_t size)
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		size_t prefix = strlen(origins[i]);

		if (length >= prefix && !strncmp(directory, origins[i], prefix) && slash)
			return snprintf(to, size, "%.*s%.*s", (int)(slash - program), program,
					(int)(length - prefix), directory + prefix) < (int)size;
	}
	return length && snprintf(to, size, "%.*s", (int)length, directory) < (int)size;
}

/* The library in one of the directories of a list that ':' separates. */
static bool find_in(const char *list, const char *name, const char *program, char *path,
		    size_t size)
{
	char directory[2048];

	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (expand(list, length, program, directory, sizeof(directory)) &&
		    snprintf(path, size, "%s/%s", directory, name) < (int)size &&
		    !access(path, R_OK))
			return true;
		list += length;
		list += *list == ':';
	}
	return false;
}

bool sdw_needed_libraries(struct sdw_elf *elf, const char *program,
			  bool (*found)(void *context, const char *path), void *context)
{
	char real[4096], run_path[2048] = "", name[MAX_NAME], path[4096];
	struct dynamic dynamic;

	if (read_dynamic(elf, &dynamic))
		return false;
	if (realpath(program, real))
		program = real;
	for (size_t i = 0; i < dynamic.count; i++)
		if ((dynamic.entries[i].d_tag == DT_RPATH ||
		     dynamic.entries[i].d_tag == DT_RUNPATH) &&
		    !read_string(elf, &dynamic, dynamic.entries[i].d_un.d_val, run_path,
				 sizeof(run_path)))
			run_path[0] = '\0';
	for (size_t i = 0; i < dynamic.count; i++) {
		if (dynamic.entries[i].d_tag != DT_NEEDED ||
		    !read_string(elf, &dynamic, dynamic.entries[i].d_un.d_val, name, sizeof(name)))
			continue;
		if ((find_in(run_path, name, program, path, sizeof(path)) ||
		     find_in(getenv("LD_LIBRARY_PATH"), name, program, path, sizeof(path)) ||
		     find_in(usual, name, program, path, sizeof(path))) &&
		    found(context, path))
			return true;
	}
	return false;
}
