// SPDX-License-Identifier: MIT
/* config_file.c - see config_file.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cmd/config_file.h"
#include "cmd/help.h"

#define MAX_BYTES (64u << 10)
#define MAX_NAMES 64

/* One line, taken apart in place. */
struct line {
	unsigned int number;
	char *verb, *option, *value;
};

struct reading {
	struct sdw_config_file *config;
	const struct sdw_command *commands, *command;
	const char *path;
};

char *sdw_config_file_path(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n = -1;

	if (folder && *folder == '/') /* others are to be ignored, says the specification */
		n = asprintf(&path, "%s/sidewinder/config", folder);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.config/sidewinder/config", home);
	return n < 0 ? NULL : path;
}

static int wrong(const struct reading *reading, const struct line *line, const char *what)
{
	sdw_error("%s:%u: %s", reading->path, line->number, what);
	return -EINVAL;
}

/* The whole file, with a NUL. Returns 0 and text (NULL: there is no file), or -errno, told. */
static int read_text(const char *path, char **text)
{
	struct stat status;
	ssize_t bytes = 0;
	int fd, err = 0;

	*text = NULL;
	/* not a pipe that nobody writes to */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = -EINVAL;
	else if (status.st_size > MAX_BYTES)
		err = -EFBIG;
	if (!err)
		*text = calloc(1, MAX_BYTES + 1);
	if (!err && !*text)
		err = -ENOMEM;
	if (!err)
		bytes = read(fd, *text, MAX_BYTES);
	if (bytes < 0)
		err = -errno;
	else if (*text && memchr(*text, '\0', (size_t)bytes))
		err = -EILSEQ;
	if (fd >= 0)
		close(fd);
	if (err)
		sdw_error("cannot read %s: %s", path,
			  err == -EINVAL   ? "it is not a file"
			  : err == -EILSEQ ? "it is not a text"
			  : err == -EFBIG  ? "it has more than 64 KiB"
					   : strerror(-err));
	return err;
}

static char *trimmed(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Returns 0, 1 if the line says nothing, or -EINVAL, told. */
static int take_apart(const struct reading *reading, char *text, struct line *line)
{
	char *equals, *dot;

	text = trimmed(text);
	if (!*text || *text == '#')
		return 1;
	equals = strchr(text, '=');
	dot = strchr(text, '.');
	if (!equals || !dot || dot > equals)
		return wrong(reading, line, "not of the form 'verb.option = value'");
	*equals = *dot = '\0';
	line->verb = trimmed(text);
	line->option = trimmed(dot + 1);
	line->value = trimmed(equals + 1);
	return 0;
}

static int find_verb(const struct reading *reading, const struct line *line,
		     const struct sdw_command **found)
{
	const char *names[MAX_NAMES], *nearest;
	size_t count = 0;

	*found = sdw_command_find(reading->commands, line->verb);
	if (*found)
		return 0;
	for (const struct sdw_command *at = reading->commands; at->name && count < MAX_NAMES; at++)
		names[count++] = at->name;
	nearest = sdw_nearest_word(line->verb, names, count);
	sdw_error("%s:%u: no verb '%s'%s%s%s", reading->path, line->number, line->verb,
		  nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return -EINVAL;
}

static int find_option(const struct reading *reading, const struct line *line,
		       const struct sdw_usage *usage, const struct sdw_option **found)
{
	const char *names[MAX_NAMES], *nearest;
	size_t count = 0;

	for (*found = usage->options; (*found)->type; (*found)++) {
		if ((*found)->type == SDW_OPTION_HEADING)
			continue;
		if (strcmp((*found)->name, line->option) == 0)
			return 0;
		if (count < MAX_NAMES)
			names[count++] = (*found)->name;
	}
	nearest = sdw_nearest_word(line->option, names, count);
	sdw_error("%s:%u: %s has no option '%s'%s%s%s", reading->path, line->number, line->verb,
		  line->option, nearest ? ": did you mean '" : "", nearest ? nearest : "",
		  nearest ? "'?" : "");
	return -EINVAL;
}

/* Returns 0, or -EINVAL after saying what is wrong with the value, and where it stands. */
static int check_value(const struct reading *reading, const struct line *line,
		       const struct sdw_option *option)
{
	char *place = NULL;
	int err;

	if (!option->value) {
		if (!strcmp(line->value, "yes") || !strcmp(line->value, "no"))
			return 0;
		return wrong(reading, line, "an option without a value is 'yes' or 'no'");
	}
	if (!*line->value && !option->value_optional)
		return wrong(reading, line, "the value is missing");
	if (asprintf(&place, "%s:%u: %s", reading->path, line->number, line->verb) < 0)
		return -ENOMEM;
	err = sdw_option_check(option, place, line->value);
	free(place);
	return err;
}

static int keep(struct sdw_config_file *config, const struct sdw_option *option, const char *value)
{
	struct {
		char **items;
		size_t count, room;
	} list = {config->values, config->count, config->room};
	char *text = NULL;
	int n;

	if (sdw_array_reserve(&list, 1))
		return -ENOMEM;
	config->values = list.items;
	config->room = list.room;
	if (!option->value)
		n = asprintf(&text, "--%s", option->name);
	else
		n = asprintf(&text, "--%s=%s", option->name, value);
	if (n < 0)
		return -ENOMEM;
	config->values[config->count++] = text;
	return 0;
}

static int take_line(const struct reading *reading, char *text, unsigned int number)
{
	struct line line = {.number = number};
	const struct sdw_command *command;
	const struct sdw_option *option;
	int err = take_apart(reading, text, &line);

	if (err)
		return err < 0 ? err : 0;
	err = find_verb(reading, &line, &command);
	if (!err)
		err = find_option(reading, &line, command->usage, &option);
	if (!err)
		err = check_value(reading, &line, option);
	if (err || command != reading->command)
		return err;
	if (!option->value && strcmp(line.value, "no") == 0)
		return 0;
	return keep(reading->config, option, line.value);
}

static int take_lines(const struct reading *reading, char *text)
{
	unsigned int number = 0;
	int err = 0;

	while (text && !err) {
		char *end = strchr(text, '\n');

		if (end)
			*end = '\0';
		err = take_line(reading, text, ++number);
		text = end ? end + 1 : NULL;
	}
	return err;
}

static int join(struct sdw_config_file *config, int argc, char **argv)
{
	size_t at = 0;

	config->argv = calloc((size_t)argc + config->count + 2, sizeof(*config->argv));
	if (!config->argv)
		return -ENOMEM;
	config->argv[at++] = argv[0];
	for (size_t i = 0; i < config->count; i++)
		config->argv[at++] = config->values[i];
	for (int i = 1; i < argc; i++)
		config->argv[at++] = argv[i];
	config->argc = (int)at;
	return 0;
}

int sdw_config_file_read(struct sdw_config_file *config, const char *path,
			 const struct sdw_command *commands, const struct sdw_command *command,
			 int argc, char **argv)
{
	struct reading reading = {config, commands, command, path};
	char *text = NULL;
	int err = 0;

	*config = (struct sdw_config_file){0};
	if (path)
		err = read_text(path, &text);
	if (!err && text)
		err = take_lines(&reading, text);
	if (!err)
		err = join(config, argc, argv);
	if (err == -ENOMEM)
		sdw_error("out of memory");
	free(text);
	return err;
}

void sdw_config_file_free(struct sdw_config_file *config)
{
	for (size_t i = 0; i < config->count; i++)
		free(config->values[i]);
	free(config->values);
	free(config->argv);
	*config = (struct sdw_config_file){0};
}
