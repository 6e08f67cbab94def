// SPDX-License-Identifier: MIT
/*
 * interpreter.c - finds the CPython of a process, and proves on the living process that it fits.
 *
 * In:  the mappings of a process, what python_file.c found in their files, and the process's
 * memory, read while it runs: a pointer may be stale by the time it is followed. Out: struct
 * sdw_found_interpreter, with the addresses and the layout that the walk needs.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pywalk_state.h"
#include "target/python_file.h"

#define MAX_ATTEMPTS	 20  /* of the check, since the process runs on meanwhile */
#define MAX_DYNAMIC	 128 /* entries of .dynamic; names of needed libraries come first */
#define MAX_INTERPRETERS 4
#define MAX_THREADS	 64
#define MAX_FRAMES	 16 /* looked at for one with a code object: shim frames have none */

enum proof { PROOF_NONE, PROOF_FOUND, PROOF_AGAINST };

struct check {
	uint32_t pid;
	const struct sdw_pylayout *layout;
	uint64_t code_type; /* by the file's symbol; afterwards what code objects really have */
	int err;	    /* of the last read that failed */
};

static bool read_word(struct check *check, uint64_t address, uint64_t *word)
{
	check->err = sdw_remote_read(check->pid, address, word, sizeof(*word));
	return check->err == 0;
}

/*
 * True if `code` is a code object. Its type is &PyCode_Type of the file, or (where a program has
 * its own copy of that variable, as a copy relocation makes) another type by the name of "code".
 */
static bool is_code(struct check *check, uint64_t code)
{
	/* PyTypeObject.tp_name, the first field after PyVarObject, as a bytes object has one */
	const uint64_t tp_name = check->layout->bytes_size + sizeof(uint64_t);
	uint64_t type, name;
	char text[5];

	if (!read_word(check, code + check->layout->object_type, &type))
		return false;
	if (type == check->code_type && type)
		return true;
	if (!read_word(check, type + tp_name, &name) ||
	    sdw_remote_read(check->pid, name, text, sizeof(text)) ||
	    memcmp(text, "code", sizeof(text)) != 0)
		return false;
	check->code_type = type;
	return true;
}

static bool is_shim(struct check *check, uint64_t frame)
{
	const struct sdw_pylayout *layout = check->layout;
	uint8_t owner;

	if (layout->frame_kind < SDW_FRAMES_SHIM)
		return false;
	check->err =
		sdw_remote_read(check->pid, frame + layout->frame_owner, &owner, sizeof(owner));
	return !check->err && owner >= SDW_FRAME_OWNER_SHIM;
}

static enum proof check_thread(struct check *check, uint64_t thread)
{
	const struct sdw_pylayout *layout = check->layout;
	uint64_t frame, code;

	if (!read_word(check, thread + layout->thread_frame, &frame))
		return PROOF_AGAINST;
	if (layout->cframe_current_frame != SDW_NO_OFFSET && frame &&
	    !read_word(check, frame + layout->cframe_current_frame, &frame))
		return PROOF_AGAINST;
	for (int i = 0; i < MAX_FRAMES && frame; i++) {
		if (!read_word(check, frame + layout->frame_code, &code))
			return PROOF_AGAINST;
		code &= ~(uint64_t)layout->frame_code_tags;
		if (is_code(check, code))
			return PROOF_FOUND;
		if (!is_shim(check, frame) ||
		    !read_word(check, frame + layout->frame_previous, &frame))
			return PROOF_AGAINST;
	}
	return frame ? PROOF_AGAINST : PROOF_NONE;
}

static enum proof check_interpreter(struct check *check, uint64_t interpreter)
{
	const struct sdw_pylayout *layout = check->layout;
	uint64_t thread, owner;

	if (!read_word(check, interpreter + layout->interpreter_threads_head, &thread))
		return PROOF_AGAINST;
	for (int i = 0; i < MAX_THREADS && thread; i++) {
		enum proof proof;

		if (!read_word(check, thread + layout->thread_interpreter, &owner) ||
		    owner != interpreter)
			return PROOF_AGAINST;
		proof = check_thread(check, thread);
		if (proof != PROOF_NONE)
			return proof;
		if (!read_word(check, thread + layout->thread_next, &thread))
			return PROOF_AGAINST;
	}
	return PROOF_NONE;
}

/* Returns 0 and *proof, or -EAGAIN: no interpreter runs yet, or -errno: memory cannot be read. */
static int check_runtime(struct check *check, uint64_t runtime, enum proof *proof)
{
	const struct sdw_pylayout *layout = check->layout;
	uint64_t interpreter;

	*proof = PROOF_NONE;
	if (!read_word(check, runtime + layout->runtime_interpreters_head, &interpreter))
		return check->err == -ETIMEDOUT ? -EAGAIN : check->err;
	if (!interpreter)
		return -EAGAIN;
	for (int i = 0; i < MAX_INTERPRETERS && interpreter; i++) {
		*proof = check_interpreter(check, interpreter);
		if (*proof != PROOF_NONE)
			return 0;
		if (!read_word(check, interpreter + layout->interpreter_next, &interpreter)) {
			*proof = PROOF_AGAINST;
			return 0;
		}
	}
	return 0;
}

static int prove(struct check *check, uint64_t runtime, const struct sdw_python_file *file,
		 struct sdw_found_interpreter *found)
{
	enum proof proof = PROOF_NONE;

	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		int err = check_runtime(check, runtime, &proof);

		if (err)
			return err;
		if (proof == PROOF_FOUND)
			return 1;
		if (check->err == -ESRCH || check->err == -EPERM)
			return check->err;
		if (check->err == -ETIMEDOUT)
			return -EAGAIN;
		if (proof == PROOF_NONE)
			return file->is_guess ? -EAGAIN : 1;
	}
	snprintf(found->problem, sizeof(found->problem),
		 "the layout of CPython %s does not fit this process", file->version);
	/* one that starts, and lost its processor amid a change, looks the same each time */
	found->may_pass = true;
	return -ENOTSUP;
}

static void copy_path(struct sdw_found_interpreter *found, const char *path)
{
	size_t size = strlen(path);

	if (size >= sizeof(found->path))
		path += size - (sizeof(found->path) - 1);
	snprintf(found->path, sizeof(found->path), "%s", path);
}

/* Returns 1, -ENOTSUP or another -errno, as sdw_interpreter_find does. */
static int examine(struct sdw_maps *maps, const struct sdw_mapping *mapping,
		   const struct sdw_python_file *file, struct sdw_found_interpreter *found)
{
	struct check check = {.pid = maps->pid, .layout = &file->layout};
	uint64_t bias;
	int result;

	*found = (struct sdw_found_interpreter){.layout = file->layout};
	snprintf(found->version, sizeof(found->version), "%s", file->version);
	snprintf(found->problem, sizeof(found->problem), "%s", file->problem);
	copy_path(found, mapping->path);
	if (file->problem[0])
		return -ENOTSUP;
	if (sdw_mapping_bias(mapping, &bias))
		return -ENOENT;
	found->runtime_addr = file->runtime_vaddr + bias;
	if (file->code_type_vaddr)
		check.code_type = file->code_type_vaddr + bias;
	result = prove(&check, found->runtime_addr, file, found);
	found->code_type_addr = check.code_type;
	return result;
}

/* A process may map several: one that runs is better than one that starts or cannot be walked. */
static bool is_better(int result, int than)
{
	if (than == 0)
		return true;
	return result == -EAGAIN && than != -EAGAIN;
}

/* How many libraries the file names as needed. */
static size_t count_needed(struct sdw_elf *elf)
{
	Elf64_Dyn entries[MAX_DYNAMIC];
	uint64_t vaddr, size;
	size_t needed = 0;

	if (sdw_elf_section_address(elf, ".dynamic", &vaddr, &size))
		return 0;
	if (size > sizeof(entries))
		size = sizeof(entries);
	if (sdw_elf_read(elf, vaddr, entries, size))
		return 0;
	for (size_t i = 0; i < size / sizeof(entries[0]) && entries[i].d_tag != DT_NULL; i++)
		needed += entries[i].d_tag == DT_NEEDED;
	return needed;
}

/*
 * True while the dynamic loader still has to map libraries that the program (the lowest of the
 * files) needs: one of them may hold the interpreter.
 */
static bool is_loading(struct sdw_maps *maps)
{
	const struct sdw_mapping *program = NULL, *last = NULL;
	size_t needed = 0, others = 0;

	for (size_t i = 0; i < maps->count; i++) {
		const struct sdw_mapping *mapping = &maps->items[i];

		if (!mapping->executable || !mapping->inode)
			continue;
		if (!program) {
			program = mapping;
			needed = mapping->elf ? count_needed(mapping->elf) : 0;
		} else if (mapping->inode != last->inode) {
			others++;
		}
		last = mapping;
	}
	return others < needed;
}

bool sdw_interpreter_is_in(struct sdw_maps *maps, struct sdw_mapping *mapping)
{
	struct sdw_elf *elf = sdw_mapping_elf(maps, mapping);
	const struct sdw_python_file *file = elf ? sdw_python_file_of(elf) : NULL;

	return file && file->is_python;
}

int sdw_interpreter_find(struct sdw_maps *maps, struct sdw_found_interpreter *found)
{
	int result = 0;

	*found = (struct sdw_found_interpreter){0};
	for (size_t i = 0; i < maps->count; i++) {
		struct sdw_mapping *mapping = &maps->items[i];
		struct sdw_found_interpreter candidate;
		const struct sdw_python_file *file;
		struct sdw_elf *elf;
		int one;

		if (!mapping->executable || !(elf = sdw_mapping_elf(maps, mapping)))
			continue;
		file = sdw_python_file_of(elf);
		if (!file)
			return -ENOMEM;
		if (!file->is_python)
			continue;
		one = examine(maps, mapping, file, &candidate);
		if (one == 1 || is_better(one, result)) {
			*found = candidate;
			result = one;
		}
		if (one == 1)
			break;
	}
	return result == 0 && is_loading(maps) ? -EAGAIN : result;
}
