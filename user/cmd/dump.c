// SPDX-License-Identifier: MIT
/* dump.c - "sidewinder dump": the stack of every thread of processes, as it is now. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/number_file.h"
#include "capture/cgroup_target.h"
#include "cmd/commands.h"
#include "cmd/pid_option.h"
#include "cmd/show.h"
#include "dump/print.h"
#include "target/cgroup.h"
#include "view/escape.h"

struct dump_command {
	struct sdw_pid_list pids;
	const char *container, *cgroup; /* NULL: none */
	bool children, locals, json;
	bool colour;
	struct json_object *list; /* with json */
};

static int take_pids(void *target, const char *value)
{
	return sdw_pid_option_take("dump", value, &((struct dump_command *)target)->pids);
}

#define FIELD(member) SDW_OPTION_FIELD(struct dump_command, member)

static const struct sdw_option options[] = {
	{SDW_OPTION_CALL, 'p', "pid", "PID", .call = take_pids,
	 .help = "another process; may be given again, or a list as 12,13"},
	{SDW_OPTION_STRING, 0, "container", "NAME", FIELD(container),
	 .help = "the processes of a container, by its name or the beginning of its id"},
	{SDW_OPTION_STRING, 0, "cgroup", "PATH", FIELD(cgroup),
	 .help = "the processes of a control group and of those below it"},
	{SDW_OPTION_FLAG, 0, "children", NULL, FIELD(children),
	 .help = "also the processes that these made, and theirs"},
	{SDW_OPTION_FLAG, 'l', "locals", NULL, FIELD(locals),
	 .help = "the variables of Python functions: numbers, strings, and small containers of "
		 "these as repr() has them, of everything else the type"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(json), .help = "one JSON object, for programs"},
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder dump 4711",
	"what every thread of a service is doing now",
	"sidewinder dump --locals 4711",
	"with the values of local variables",
	"sidewinder dump --children --json -p 4711",
	"a prefork server and its workers, for programs",
	"sidewinder dump --container web",
	"every process of a container",
	NULL,
};

const struct sdw_usage sdw_usage_dump = {
	.verb = "dump",
	.arguments = "[OPTION]... PID...\n"
		     "       sidewinder dump [OPTION]... --container NAME | --cgroup PATH",
	.summary = "Prints the stack of every thread of a process as it is now, Python and native, "
		   "also of those that sleep; who holds the GIL and who waits for it. The process "
		   "is neither stopped nor signalled.",
	.options = options,
	.examples = examples,
};

static int say_why(pid_t pid, int err)
{
	int64_t scope = 0;

	sdw_number_file_read(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", &scope);
	if (err == -ESRCH)
		sdw_error("pid %d: No such process", pid);
	else if (err == -ECHILD)
		sdw_error("pid %d has ended: its parent has not waited for it yet", pid);
	else if (err == -ENOEXEC)
		sdw_error("pid %d is a kernel thread: it has no stack that could be read", pid);
	else if (err == -EACCES && geteuid() && scope > 0)
		sdw_error("pid %d: not permitted to read its memory (kernel.yama.ptrace_scope is "
			  "%lld); run it as root: sudo sidewinder dump %d",
			  pid, (long long)scope, pid);
	else if (err == -EACCES && geteuid())
		sdw_error("pid %d: not permitted to read its memory: it is of another user, or may "
			  "not be dumped; run it as root: sudo sidewinder dump %d",
			  pid, pid);
	else if (err == -EACCES)
		sdw_error("pid %d: not permitted to read its memory: CAP_SYS_PTRACE is missing; in "
			  "a container, start it with: docker run --cap-add=SYS_PTRACE",
			  pid);
	else
		sdw_error("pid %d: cannot be read: %s", pid, strerror(-err));
	return err;
}

/* Says what is wrong with a process that was asked for by name. */
static int check(pid_t pid)
{
	pid_t process;
	int err = sdw_target_check(pid, &process);

	if (err == -EINVAL)
		sdw_error("%d is a thread of process %d: give that", pid, process);
	else if (err)
		say_why(pid, err);
	return err;
}

static int show(struct dump_command *command, const struct sdw_dump_process *process)
{
	struct json_object *object;

	if (!command->json) {
		sdw_dump_print(process, command->locals, command->colour, stdout);
		return 0;
	}
	object = sdw_dump_json(process, command->locals);
	return object ? json_object_array_add(command->list, object) : -ENOMEM;
}

static void print_json(const struct dump_command *command)
{
	struct json_object *all = json_object_new_object();

	json_object_object_add(all, "processes", json_object_get(command->list));
	sdw_escape_json_line(
		stdout, json_object_to_json_string_ext(
				all, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
}

/* Reads and shows the processes that can be read. Returns 0, or the last -errno of the others. */
static int dump_all(struct dump_command *command, struct sdw_dumper *dumper,
		    const struct sdw_pid_list *pids)
{
	struct sdw_dump_process *processes = calloc(pids->count + 1, sizeof(*processes));
	size_t count = 0;
	int err = processes ? 0 : -ENOMEM, one, result = 0;
	pid_t group;

	for (size_t i = 0; !err && i < pids->count; i++) {
		if (sdw_target_check(pids->items[i], &group))
			continue; /* was said, or ended meanwhile */
		one = sdw_dump_process_read(dumper, pids->items[i], &processes[count]);
		if (one) {
			result = say_why(pids->items[i], one);
			sdw_dump_process_free(&processes[count]);
		} else {
			count++;
		}
	}
	err = err ?: sdw_dump_running_sample(dumper, processes, count);
	for (size_t i = 0; i < count; i++) {
		if (i && !command->json)
			putchar('\n');
		err = err ?: show(command, &processes[i]);
		sdw_dump_process_free(&processes[i]);
	}
	free(processes);
	return err ?: result;
}

static int take_member(void *context, uint32_t pid)
{
	struct sdw_pid_list *pids = context;

	if (!pid)
		return 0; /* not in our pid namespace */
	if (sdw_array_reserve(pids, 1))
		return -ENOMEM;
	pids->items[pids->count++] = (pid_t)pid;
	return 0;
}

/* Adds the processes of container and control group. Says what is wrong. */
static int add_members(struct dump_command *command)
{
	char *container = (char *)command->container, *cgroup = (char *)command->cgroup;
	struct sdw_config config = {.containers = &container,
				    .container_count = container != NULL,
				    .cgroups = &cgroup,
				    .cgroup_count = cgroup != NULL};
	size_t before = command->pids.count;
	int err = sdw_cgroup_targets_find(&config);

	if (err || !config.groups) {
		sdw_cgroup_targets_free(config.groups);
		return err;
	}
	for (size_t i = 0; !err && i < config.groups->count; i++)
		err = sdw_cgroup_each_process(config.groups->items[i].directory, take_member,
					      &command->pids);
	sdw_cgroup_targets_free(config.groups);
	if (err)
		sdw_error("dump: cannot list the processes: %s", strerror(-err));
	else if (command->pids.count == before)
		sdw_error("dump: there is no process in %s", container ? container : cgroup);
	return err ?: command->pids.count == before ? -ESRCH : 0;
}

static int dump(struct dump_command *command)
{
	struct sdw_pid_list found = {0};
	struct sdw_dumper dumper;
	int err, one, result = 0;

	for (size_t i = 0; i < command->pids.count; i++)
		if ((one = check(command->pids.items[i])))
			result = one;
	err = add_members(command);
	if (err)
		return err;
	err = sdw_dumper_init(&dumper);
	dumper.locals = command->locals;
	err = err
		      ?: sdw_target_processes_list(command->pids.items, command->pids.count,
						   command->children, &found);
	if (err)
		sdw_error("dump: %s", strerror(-err));
	else
		err = dump_all(command, &dumper, &found);
	sdw_pid_list_free(&found);
	sdw_dumper_free(&dumper);
	return err ?: result;
}

int sdw_command_dump(int argc, char **argv)
{
	struct dump_command command = {0};
	struct sdw_terminal terminal;
	enum sdw_options_result parsed;
	int first = argc, err = 0;

	sdw_terminal_look(&terminal);
	command.colour = terminal.colour;
	parsed = sdw_options_parse(&sdw_usage_dump, argc, argv, &command, &first);
	for (; parsed == SDW_OPTIONS_GO_ON && first < argc; first++)
		if (take_pids(&command, argv[first]))
			parsed = SDW_OPTIONS_WRONG;
	if (parsed == SDW_OPTIONS_GO_ON && !command.pids.count && !command.container &&
	    !command.cgroup) {
		sdw_error("dump: of which process? e.g. 'sidewinder dump 4711'; 'sidewinder help "
			  "--list=pids' lists those with Python");
		parsed = SDW_OPTIONS_WRONG;
	}
	if (parsed == SDW_OPTIONS_GO_ON) {
		command.list = json_object_new_array();
		err = command.list ? dump(&command) : -ENOMEM;
		if (command.json && command.list)
			print_json(&command);
		json_object_put(command.list);
	}
	sdw_pid_list_free(&command.pids);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	return err ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}
