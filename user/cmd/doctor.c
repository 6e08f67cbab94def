// SPDX-License-Identifier: MIT
/* doctor.c - "sidewinder doctor": what works here, what does not, and what mends it. */
#include <babeltrace2/babeltrace.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libunwind.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/pid_option.h"
#include "cmd/show.h"
#include "doctor/machine.h"
#include "doctor/print.h"
#include "doctor/target.h"

struct doctor_command {
	struct sdw_pid_list pids;
	const char *program; /* NULL: none */
	bool json;
	bool colour;
	struct sdw_works works; /* of this machine */
	struct json_object *targets;
	bool well; /* nothing was found that does not work */
};

static int take_pids(void *target, const char *value)
{
	return sdw_pid_option_take("doctor", value, &((struct doctor_command *)target)->pids);
}

#define FIELD(member) SDW_OPTION_FIELD(struct doctor_command, member)

static const struct sdw_option options[] = {
	{SDW_OPTION_CALL, 'p', "pid", "PID", .call = take_pids,
	 .help = "look at a process that runs, too; may be given again, or a list as 12,13"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(json), .help = "one JSON object, for programs"},
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder doctor",
	"what works on this machine with these rights",
	"sidewinder doctor -p 4711",
	"what can be seen of that process",
	"sidewinder doctor python3 app.py",
	"what could be seen of that command; it is not run",
	NULL,
};

const struct sdw_usage sdw_usage_doctor = {
	.verb = "doctor",
	.arguments = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.summary =
		"Says what works here, what does not, and the command that mends it: kernel, rights, "
		"limits, and of a process or command its Python. Exit status 1 if something does not "
		"work.",
	.options = options,
	.examples = examples,
	.command_follows = true,
};

static bool has_fault(const struct sdw_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].level == SDW_LEVEL_FAULT)
			return true;
	return findings->out_of_memory;
}

/* Why the signal path is out of question, or NULL. */
static const char *no_signal(bool running)
{
	const struct sdw_option *option = sdw_usage_record.options;

	while (option->type && !(option->name && !strcmp(option->name, "path")))
		option++;
	if (!option->type)
		return "this version has none";
	return running ? "only for commands that sidewinder starts" : NULL;
}

static void add_libraries(struct sdw_findings *findings)
{
	sdw_findings_add(findings, "libraries", SDW_LEVEL_OK, NULL,
			 "sidewinder %s, libbpf %u.%u, libunwind %d.%d, babeltrace2 %u.%u.%u",
			 SDW_VERSION, libbpf_major_version(), libbpf_minor_version(),
			 UNW_VERSION_MAJOR, UNW_VERSION_MINOR, bt_version_get_major(),
			 bt_version_get_minor(), bt_version_get_patch());
}

static void look_at_machine(struct doctor_command *command, struct json_object *all)
{
	struct sdw_machine_facts facts;
	struct sdw_findings findings = {0};

	sdw_machine_gather(&facts);
	sdw_machine_judge(&facts, &findings, &command->works);
	command->works.signal &= !no_signal(false);
	add_libraries(&findings);
	if (has_fault(&findings) || !command->works.bpf)
		command->well = false;
	if (command->json) {
		json_object_object_add(all, "works", sdw_works_json(&command->works));
		json_object_object_add(all, "machine", sdw_findings_json(&findings));
	} else {
		sdw_findings_print("This machine", &findings, command->colour, stdout);
		sdw_works_print(&command->works, no_signal(false), command->colour, stdout);
	}
	sdw_findings_free(&findings);
}

static void show_target(struct doctor_command *command, struct sdw_doctor_target *target,
			bool running)
{
	struct json_object *object;

	if (has_fault(&target->findings) || !target->works.bpf)
		command->well = false;
	if (command->json) {
		object = json_object_new_object();
		json_object_object_add(object, "target", json_object_new_string(target->name));
		json_object_object_add(object, "works", sdw_works_json(&target->works));
		json_object_object_add(object, "findings", sdw_findings_json(&target->findings));
		json_object_array_add(command->targets, object);
	} else {
		putchar('\n');
		sdw_findings_print(target->name, &target->findings, command->colour, stdout);
		if (target->found)
			sdw_works_print(&target->works, no_signal(running), command->colour,
					stdout);
	}
	sdw_findings_free(&target->findings);
}

static int look_at_processes(struct doctor_command *command)
{
	struct sdw_doctor_target target;
	struct sdw_dumper dumper;
	int err = sdw_dumper_init(&dumper);

	for (size_t i = 0; !err && i < command->pids.count; i++) {
		err = sdw_doctor_process(&dumper, &command->works, command->pids.items[i], &target);
		show_target(command, &target, true);
	}
	sdw_dumper_free(&dumper);
	return err;
}

static int doctor(struct doctor_command *command)
{
	struct json_object *all = json_object_new_object();
	struct sdw_doctor_target target;
	int err = 0;

	command->well = true;
	command->targets = json_object_new_array();
	if (!all || !command->targets)
		err = -ENOMEM;
	if (!err) {
		look_at_machine(command, all);
		json_object_object_add(all, "targets", command->targets);
		command->targets = NULL;
		json_object_object_get_ex(all, "targets", &command->targets);
		err = command->pids.count ? look_at_processes(command) : 0;
	}
	if (!err && command->program) {
		err = sdw_doctor_command(&command->works, command->program, &target);
		show_target(command, &target, false);
	}
	if (!err && command->json) {
		json_object_object_add(all, "well", json_object_new_boolean(command->well));
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(all);
	return err;
}

int sdw_command_doctor(int argc, char **argv)
{
	struct doctor_command command = {0};
	struct sdw_terminal terminal;
	enum sdw_options_result parsed;
	int first = argc, err = 0;

	sdw_terminal_look(&terminal);
	command.colour = terminal.colour;
	parsed = sdw_options_parse(&sdw_usage_doctor, argc, argv, &command, &first);
	if (parsed == SDW_OPTIONS_GO_ON) {
		command.program = first < argc ? argv[first] : NULL;
		err = doctor(&command);
		if (err)
			sdw_error("doctor: %s", strerror(-err));
	}
	sdw_pid_list_free(&command.pids);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	return err || !command.well ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}
