/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options of a sub-command as one table: from it come the parsing (getopt_long),
 * the text of --help, the messages about what is wrong, the manual, and the completion of shells.
 *
 *	static const struct sdw_option options[] = {
 *		{ SDW_OPTION_HEADING, .help = "What to show:" },
 *		{ SDW_OPTION_WORD, 'b', "by", "WHAT", SDW_OPTION_FIELD(struct config, by),
 *		  .words = by_words, .help = "one row per function, line or file" },
 *		{ SDW_OPTION_FLAG, 0, "json", NULL, SDW_OPTION_FIELD(struct config, json),
 *		  .help = "print one JSON object" },
 *		{ 0 },
 *	};
 *	static const struct sdw_usage usage = { .verb = "report", .options = options, ... };
 *
 *	status = sdw_options_parse(&usage, argc, argv, &config, &first);
 *	if (status != SDW_OPTIONS_GO_ON)
 *		return status == SDW_OPTIONS_HELP ? 0 : SDW_EXIT_USAGE;
 */
#ifndef SDW_OPTIONS_H
#define SDW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses of every sub-command (record: or that of the command it ran). */
enum sdw_exit {
	SDW_EXIT_OK = 0,
	SDW_EXIT_FAULT = 1, /* it did not work */
	SDW_EXIT_USAGE = 2, /* it was asked for the wrong way */
	SDW_EXIT_LOSS = 3,  /* the output is there, but more was lost than --max-loss allows */
};

enum sdw_option_type {
	SDW_OPTION_END = 0, /* ends the table */
	SDW_OPTION_HEADING, /* a line of the help text; only .help counts */
	SDW_OPTION_FLAG,    /* bool field becomes true; no value */
	SDW_OPTION_NO_FLAG, /* bool field becomes false; no value */
	SDW_OPTION_STRING,  /* char * field points into argv */
	SDW_OPTION_NUMBER,  /* uint32_t or uint64_t field, decimal */
	SDW_OPTION_SIZE,    /* the same with a suffix K, M or G (1024, its square and cube) */
	SDW_OPTION_DOUBLE,  /* double field, with a decimal point whatever the locale */
	SDW_OPTION_WORD,    /* enum or int field, one of .words */
	SDW_OPTION_CALL,    /* .call is called with the value each time; no field */
};

struct sdw_option_word {
	const char *word; /* NULL ends the list */
	int value;
};

struct sdw_option {
	enum sdw_option_type type;
	char letter;	  /* short form; 0: none */
	const char *name; /* long form */
	/*
	 * Name of the value in the help text, e.g. "HZ"; NULL: takes none. For PID, EVENT, FILE
	 * and DIR shells offer what there is.
	 */
	const char *value;
	size_t offset; /* of the field in the target; these two by SDW_OPTION_FIELD */
	size_t size;
	const char *help;    /* broken into lines by itself */
	bool value_optional; /* STRING and CALL: --name alone gives the value "" */
	double min, max;     /* of a number; max 0: no limit. SIZE, NUMBER: up to 2^53 exact */
	const struct sdw_option_word *words;
	/* Takes one value; returns 0, or -errno after saying what is wrong with it. */
	int (*call)(void *target, const char *value);
};

#define SDW_OPTION_FIELD(type, member) offsetof(type, member), sizeof(((type *)0)->member)

struct sdw_usage {
	const char *verb; /* of the sub-command, e.g. "record" */
	/* After the verb: "[OPTION]... [TRACE]". For TRACE and VERB shells offer what there is. */
	const char *arguments;
	const char *summary; /* what it does, one or two sentences */
	const struct sdw_option *options;
	const char *const *examples; /* pairs (command line, what it does), NULL at the end */
	bool command_follows; /* what follows the first argument that is no option are not options
			       */
};

enum sdw_options_result {
	SDW_OPTIONS_GO_ON,
	SDW_OPTIONS_HELP,  /* -h or --help: the text was printed on stdout */
	SDW_OPTIONS_WRONG, /* what is wrong was said on stderr */
	SDW_OPTIONS_FAULT, /* never by the parser: for what is asked rightly, but cannot be had here
			    */
};

/*
 * Parses argv[1..]; argv[0] is the verb. Fills the fields of `target`, which holds the defaults,
 * and puts the index of the first argument that is no option into *first. argv may be reordered,
 * and must outlive the target's strings.
 */
enum sdw_options_result sdw_options_parse(const struct sdw_usage *usage, int argc, char **argv,
					  void *target, int *first);

/*
 * Checks a value of an option by its type and bounds, without keeping it; one that is a call's own
 * affair is not looked at. `place` stands first in the message. Returns 0 or -errno, told.
 */
int sdw_option_check(const struct sdw_option *option, const char *place, const char *value);

/* -h, --help: every sub-command has it, none has it in its table. */
extern const struct sdw_option sdw_option_help;

/* One option as the help text shows it. */
void sdw_option_print(const struct sdw_option *option, FILE *to);

void sdw_options_print_help(const struct sdw_usage *usage, FILE *to);

/* Prints `text` from the current column `column` on, wrapped at 80 columns, and a newline. */
void sdw_options_print_wrapped(FILE *to, int column, int indent, const char *text);

#endif
