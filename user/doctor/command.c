// SPDX-License-Identifier: MIT
/* command.c - a command's interpreter, by its files alone. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/target.h"
#include "target/python_file.h"

#define MAX_SCRIPTS 4 /* a script's interpreter may be one; the kernel allows five */

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* As execvp(): a name without a slash is looked for in PATH. */
static int find_program(const char *name, char *path, size_t size)
{
	const char *at = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";

	if (strchr(name, '/')) {
		if (snprintf(path, size, "%s", name) >= (int)size)
			return -ENAMETOOLONG;
		return is_program(path) ? 0 : access(path, F_OK) ? -ENOENT : -EACCES;
	}
	while (*at) {
		int length = (int)strcspn(at, ":");

		if (length && snprintf(path, size, "%.*s/%s", length, at, name) < (int)size &&
		    is_program(path))
			return 0;
		at += length;
		at += *at == ':';
	}
	return -ENOENT;
}

/* "#!/usr/bin/env python3" or "#!/usr/bin/python3 -u". Returns 1: a script, 0: none, or -errno. */
static int read_script(const char *path, char *name, size_t size)
{
	char line[256] = "", *word, *save = NULL;
	FILE *file = fopen(path, "re");
	size_t got;

	if (!file)
		return -errno;
	got = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[got] = '\0';
	if (line[0] != '#' || line[1] != '!')
		return 0;
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	/* env takes options and assignments before the name */
	if (word && strrchr(word, '/') && !strcmp(strrchr(word, '/'), "/env"))
		do
			word = strtok_r(NULL, " \t", &save);
		while (word && (*word == '-' || strchr(word, '=')));
	if (!word)
		return -ENOEXEC;
	snprintf(name, size, "%s", word);
	return 1;
}

int sdw_command_interpreter(const char *command, char *path, size_t size)
{
	char name[256];
	int err, script;

	if (strlen(command) >= sizeof(name))
		return -ENAMETOOLONG;
	snprintf(name, sizeof(name), "%s", command);
	for (int i = 0; i <= MAX_SCRIPTS; i++) {
		err = find_program(name, path, size);
		script = err ? err : read_script(path, name, sizeof(name));
		if (script <= 0)
			return script;
	}
	return -ELOOP;
}

struct search {
	struct sdw_findings *findings;
	bool walkable, has_libc;
};

static struct sdw_elf *open_elf(const char *path)
{
	struct sdw_elf *elf = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	if (sdw_elf_open(fd, &elf))
		elf = NULL;
	close(fd);
	return elf;
}

/* True if the file holds a CPython, which is told then. */
static bool look_into(struct search *search, struct sdw_elf *elf, const char *path)
{
	const struct sdw_python_file *file = sdw_python_file_of(elf);

	if (!file || !file->is_python)
		return false;
	sdw_doctor_file(elf, path, false, search->findings);
	search->walkable = !file->problem[0];
	return true;
}

static bool look_at_library(void *context, const char *path)
{
	struct sdw_elf *elf = open_elf(path);
	bool found = elf && look_into(context, elf, path);

	sdw_elf_unref(elf);
	return found;
}

static bool look_at_libc(void *context, const char *path)
{
	struct search *search = context;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	bool glibc = !strncmp(name, "libc.so.6", 9), musl = !strncmp(name, "libc.musl-", 10);

	if (!glibc && !musl)
		return false;
	search->has_libc = true;
	sdw_findings_add(search->findings, "libc", SDW_LEVEL_OK, NULL, "%s, %s",
			 glibc ? "glibc" : "musl", path);
	return true;
}

static void look(struct sdw_elf *elf, const char *path, const struct sdw_works *machine,
		 struct sdw_doctor_target *target)
{
	struct search search = {.findings = &target->findings};
	struct stat status;
	bool privileged = !stat(path, &status) && status.st_mode & (S_ISUID | S_ISGID);

	sdw_findings_add(&target->findings, "program", SDW_LEVEL_OK, NULL, "%s", path);
	if (!look_into(&search, elf, path) &&
	    !sdw_needed_libraries(elf, path, look_at_library, &search)) {
		sdw_findings_add(&target->findings, "python", SDW_LEVEL_WARNING, NULL,
				 "none in %s, nor in a library that it needs: one that it loads or "
				 "starts is found when it runs",
				 path);
		search.walkable = true; /* whatever that will be */
	}
	if (!sdw_needed_libraries(elf, path, look_at_libc, &search))
		sdw_findings_add(&target->findings, "libc", SDW_LEVEL_NOTE, NULL,
				 "no shared one: nothing can be preloaded, so no signal path");
	if (privileged)
		sdw_findings_add(&target->findings, "setuid", SDW_LEVEL_NOTE, NULL,
				 "runs with other rights than the caller's: nothing can be "
				 "preloaded, so no signal path");
	target->works.bpf = machine->bpf && search.walkable;
	target->works.signal = machine->signal && search.walkable && search.has_libc && !privileged;
	target->works.dump = machine->dump;
}

int sdw_doctor_command(const struct sdw_works *machine, const char *command,
		       struct sdw_doctor_target *target)
{
	char path[4096];
	struct sdw_elf *elf;
	int err;

	*target = (struct sdw_doctor_target){0};
	snprintf(target->name, sizeof(target->name), "%s", command);
	err = sdw_command_interpreter(command, path, sizeof(path));
	if (err) {
		sdw_findings_add(&target->findings, "program", SDW_LEVEL_FAULT, NULL, "%s",
				 err == -ENOENT ? "not found" : strerror(-err));
		return err == -ENOMEM ? err : 0;
	}
	elf = open_elf(path);
	if (elf) {
		target->found = true;
		look(elf, path, machine, target);
	} else {
		sdw_findings_add(&target->findings, "program", SDW_LEVEL_FAULT, NULL,
				 "%s is not an ELF program for this machine", path);
	}
	sdw_elf_unref(elf);
	return 0;
}
