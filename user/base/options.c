// SPDX-License-Identifier: MIT
/* options.c - parses the arguments of a sub-command by its table, and says what is wrong with them.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/options.h"

#define MAX_OPTIONS 64
#define MAX_WORDS   32	/* of an option, among which a slip of the finger is looked for */
#define LONG_BASE   256 /* above every character: getopt's value of table entry i is this + i */

/* The table in the form that getopt_long takes. */
struct getopt_tables {
	struct option longs[MAX_OPTIONS + 2];
	char shorts[2 + 3 * MAX_OPTIONS + 3];
	const char *names[MAX_OPTIONS + 1];
	size_t count;
};

static int wrong(const struct sdw_usage *usage, const struct sdw_option *option, const char *value,
		 const char *expected)
{
	sdw_error("%s: --%s: '%s' is not %s", usage->verb, option->name, value, expected);
	return -EINVAL;
}

static int check_range(const struct sdw_usage *usage, const struct sdw_option *option,
		       const char *value, double number)
{
	if (number < option->min) {
		sdw_error("%s: --%s: %s is too small, the least is %.15g", usage->verb,
			  option->name, value, option->min);
		return -ERANGE;
	}
	if (option->max > 0 && number > option->max) {
		sdw_error("%s: --%s: %s is too large, the most is %.15g", usage->verb, option->name,
			  value, option->max);
		return -ERANGE;
	}
	return 0;
}

/* How many bytes the suffix stands for, as a shift; -1: it is none. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMG";
	const char *letter;

	if (!*suffix)
		return 0;
	letter = strchr(letters, *suffix >= 'a' ? *suffix - 'a' + 'A' : *suffix);
	if (!letter || !*letter || suffix[1])
		return -1;
	return 10 * (int)(letter - letters + 1);
}

static int store_number(const struct sdw_usage *usage, const struct sdw_option *option,
			const char *value, void *field)
{
	uint64_t limit = option->size == 4 ? UINT32_MAX : UINT64_MAX;
	bool is_size = option->type == SDW_OPTION_SIZE;
	unsigned long long number;
	int shift = 0, err;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (is_size)
		shift = suffix_shift(end);
	/* strtoull takes signs and blanks, and turns -1 into 2^64 - 1 */
	if (*value < '0' || *value > '9' || shift < 0 || (!is_size && *end))
		return wrong(usage, option, value,
			     is_size ? "a size, e.g. 65536, 64K or 4M" : "a number");
	if (errno == ERANGE || number > limit >> shift) {
		sdw_error("%s: --%s: %s is too large", usage->verb, option->name, value);
		return -ERANGE;
	}
	number <<= shift;
	err = check_range(usage, option, value, (double)number);
	if (err)
		return err;
	if (option->size == 4)
		*(uint32_t *)field = (uint32_t)number;
	else
		*(uint64_t *)field = number;
	return 0;
}

static int store_double(const struct sdw_usage *usage, const struct sdw_option *option,
			const char *value, double *field)
{
	double number;
	char *end;
	int err;

	number = strtod(value, &end);
	if (end == value || *end || !isfinite(number))
		return wrong(usage, option, value, "a number");
	err = check_range(usage, option, value, number);
	if (!err)
		*field = number;
	return err;
}

static int store_word(const struct sdw_usage *usage, const struct sdw_option *option,
		      const char *value, int *field)
{
	const struct sdw_option_word *word;
	const char *words[MAX_WORDS], *nearest;
	char list[256] = "one of";
	size_t used = strlen(list), count = 0;

	for (word = option->words; word->word; word++) {
		int n;

		if (!strcmp(word->word, value)) {
			*field = word->value;
			return 0;
		}
		n = snprintf(list + used, sizeof(list) - used, " %s", word->word);
		if (n > 0 && (size_t)n < sizeof(list) - used)
			used += (size_t)n;
		if (count < MAX_WORDS)
			words[count++] = word->word;
	}
	nearest = sdw_nearest_word(value, words, count);
	if (nearest)
		snprintf(list + used, sizeof(list) - used, ": did you mean '%s'?", nearest);
	return wrong(usage, option, value, list);
}

static int store(const struct sdw_usage *usage, const struct sdw_option *option, const char *value,
		 void *target)
{
	void *field = (char *)target + option->offset;

	switch (option->type) {
	case SDW_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case SDW_OPTION_NO_FLAG:
		*(bool *)field = false;
		return 0;
	case SDW_OPTION_STRING:
		*(const char **)field = value;
		return 0;
	case SDW_OPTION_NUMBER:
	case SDW_OPTION_SIZE:
		return store_number(usage, option, value, field);
	case SDW_OPTION_DOUBLE:
		return store_double(usage, option, value, field);
	case SDW_OPTION_WORD:
		return store_word(usage, option, value, field);
	case SDW_OPTION_CALL:
		return option->call(target, value);
	default:
		return -EINVAL;
	}
}

int sdw_option_check(const struct sdw_option *option, const char *place, const char *value)
{
	const struct sdw_usage usage = {.verb = place};
	uint64_t scratch = 0; /* as large as any field of these types */
	struct sdw_option alone = *option;

	alone.offset = 0;
	if (option->type == SDW_OPTION_CALL || option->size > sizeof(scratch))
		return 0;
	return store(&usage, &alone, value, &scratch);
}

static void fill_tables(const struct sdw_usage *usage, struct getopt_tables *tables)
{
	const struct sdw_option *option;
	struct option *next = tables->longs;
	char *letter = tables->shorts;
	size_t index;

	if (usage->command_follows)
		*letter++ = '+'; /* stop at the first argument that is no option */
	*letter++ = ':';	 /* tell a missing value from an unknown option */
	*letter++ = 'h';
	for (index = 0; index < MAX_OPTIONS && usage->options[index].type; index++) {
		option = &usage->options[index];
		if (option->type == SDW_OPTION_HEADING)
			continue;
		next->name = option->name;
		next->has_arg = !option->value		 ? no_argument
				: option->value_optional ? optional_argument
							 : required_argument;
		next->val = LONG_BASE + (int)index;
		tables->names[tables->count++] = option->name;
		next++;
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		if (option->value)
			*letter++ = ':';
		if (option->value && option->value_optional)
			*letter++ = ':';
	}
	*next = (struct option){.name = "help", .val = 'h'};
	tables->names[tables->count++] = "help";
}

static const struct sdw_option *find_option(const struct sdw_usage *usage, int value)
{
	const struct sdw_option *option;

	if (value >= LONG_BASE)
		return &usage->options[value - LONG_BASE];
	for (option = usage->options; option->type; option++)
		if (option->letter == value && option->letter)
			return option;
	return NULL;
}

/* `argument` is what getopt stumbled over, `letter` the short option if it was one. */
static void say_unknown(const struct sdw_usage *usage, const struct getopt_tables *tables,
			const char *argument, int letter)
{
	const char *nearest;
	char name[64];

	if (letter && letter < LONG_BASE) {
		sdw_error("%s: unknown option '-%c'; 'sidewinder %s --help' lists all", usage->verb,
			  letter, usage->verb);
		return;
	}
	if (letter) {
		sdw_error("%s: --%s takes no value", usage->verb, find_option(usage, letter)->name);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
	nearest = sdw_nearest_word(name, tables->names, tables->count);
	if (nearest)
		sdw_error("%s: unknown option '--%s': did you mean '--%s'?", usage->verb, name,
			  nearest);
	else
		sdw_error("%s: unknown option '--%s'; 'sidewinder %s --help' lists all",
			  usage->verb, name, usage->verb);
}

static void say_value_missing(const struct sdw_usage *usage, const struct sdw_option *option)
{
	sdw_error("%s: --%s needs a value: --%s %s", usage->verb, option->name, option->name,
		  option->value);
}

enum sdw_options_result sdw_options_parse(const struct sdw_usage *usage, int argc, char **argv,
					  void *target, int *first)
{
	struct getopt_tables tables = {0};
	int value;

	fill_tables(usage, &tables);
	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while ((value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		const struct sdw_option *option;

		if (value == 'h') {
			sdw_options_print_help(usage, stdout);
			return SDW_OPTIONS_HELP;
		}
		if (value == '?') {
			say_unknown(usage, &tables, argv[optind - 1], optopt);
			return SDW_OPTIONS_WRONG;
		}
		option = find_option(usage, value == ':' ? optopt : value);
		if (!option)
			return SDW_OPTIONS_WRONG;
		if (value == ':') {
			say_value_missing(usage, option);
			return SDW_OPTIONS_WRONG;
		}
		if (store(usage, option, optarg ? optarg : "", target))
			return SDW_OPTIONS_WRONG;
	}
	*first = optind;
	return SDW_OPTIONS_GO_ON;
}
