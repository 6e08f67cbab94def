// SPDX-License-Identifier: MIT
/* candidates.c - see candidates.h. What is not allowed or just gone is passed over. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/event_spec.h"
#include "cmd/candidates.h"
#include "target/container_find.h"
#include "target/container_state.h"

#define MAX_COMMAND_LINE 60
#define MAX_MAPPINGS	 4096 /* lines of /proc/PID/maps that are looked at */

static FILE *open_in(int dir, const char *pid, const char *name)
{
	char path[64];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", pid, name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static bool is_python_path(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0;
}

static bool maps_python(int proc, const char *pid)
{
	FILE *maps = open_in(proc, pid, "maps");
	bool found = false;
	char *line = NULL;
	size_t room = 0;
	int count = 0;

	if (!maps)
		return false;
	while (!found && count++ < MAX_MAPPINGS && getline(&line, &room, maps) > 0)
		found = strchr(line, '/') && is_python_path(line);
	free(line);
	fclose(maps);
	return found;
}

/* The beginning of the command line, blanks between its words; "" of a kernel thread. */
static void read_command_line(int proc, const char *pid, char *text, size_t size)
{
	FILE *file = open_in(proc, pid, "cmdline");
	size_t used = 0;

	if (file) {
		used = fread(text, 1, size - 1, file);
		fclose(file);
	}
	while (used && !text[used - 1])
		used--;
	text[used] = '\0';
}

/* A line of others' words, which goes to this user's terminal. */
static void print_plain(const char *text, FILE *to)
{
	for (; *text; text++)
		fputc(isprint((unsigned char)*text) || *text == '\t' ? *text : '?', to);
	fputc('\n', to);
}

static void print_process(int proc, const char *pid, FILE *to)
{
	char text[MAX_COMMAND_LINE + 1] = "";
	size_t used;

	read_command_line(proc, pid, text, sizeof(text));
	/* the first word, as far as it is one string: the program as it was called */
	if (!is_python_path(text) && !maps_python(proc, pid))
		return;
	for (used = sizeof(text) - 1; used && !text[used - 1];)
		used--;
	/* another user's words go to this one's terminal */
	for (size_t i = 0; i < used; i++)
		if (!isprint((unsigned char)text[i]))
			text[i] = text[i] ? '?' : ' ';
	fprintf(to, "%s\t%s\n", pid, text);
}

void sdw_candidates_print_pids(const char *proc, FILE *to)
{
	DIR *dir = opendir(proc);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");

		if (digits && !entry->d_name[digits])
			print_process(dirfd(dir), entry->d_name, to);
	}
	closedir(dir);
}

void sdw_candidates_print_events(const char *tracefs, FILE *to)
{
	char pattern[256];
	glob_t found = {0};
	const char *name;

	for (size_t i = 0; (name = sdw_event_spec_name(i)); i++)
		fprintf(to, "%s\n", name);
	snprintf(pattern, sizeof(pattern), "%s/events/*/*/id", tracefs);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *system =
				found.gl_pathv[i] + strlen(tracefs) + strlen("/events/");
			int size = (int)strcspn(system, "/");

			name = system + size + 1;
			fprintf(to, "%.*s:%.*s\ttracepoint\n", size, system,
				(int)strcspn(name, "/"), name);
		}
	}
	globfree(&found);
}

/* The names of those that run, with pod and id; the id where the name is not known. */
static void print_containers(FILE *to)
{
	struct sdw_found_containers found;
	struct sdw_containers *containers;

	if (sdw_containers_create(sdw_container_state_root(), &containers))
		return;
	if (sdw_containers_list(containers, &found) == 0) {
		for (size_t i = 0; i < found.count; i++) {
			const struct sdw_container *one = found.items[i].container;
			char *text = NULL;

			if (asprintf(&text, "%s\t%s%s%s", *one->name ? one->name : one->id,
				     one->pod, *one->pod ? " " : "", *one->name ? one->id : "") < 0)
				break;
			print_plain(text, to);
			free(text);
		}
		sdw_found_containers_free(&found);
	}
	sdw_containers_free(containers);
}

void sdw_candidates_print(const struct sdw_command *commands, enum sdw_candidates what, FILE *to)
{
	switch (what) {
	case SDW_CANDIDATES_VERBS:
		for (; commands->name; commands++)
			fprintf(to, "%s\t%s\n", commands->name, commands->summary);
		break;
	case SDW_CANDIDATES_EVENTS:
		sdw_candidates_print_events("/sys/kernel/tracing", to);
		break;
	case SDW_CANDIDATES_PIDS:
		sdw_candidates_print_pids("/proc", to);
		break;
	case SDW_CANDIDATES_CONTAINERS:
		print_containers(to);
		break;
	default:
		break;
	}
}
