// SPDX-License-Identifier: MIT
/* roff.c - see roff.h. */
#include <ctype.h>
#include <string.h>

#include "cmd/roff.h"

#define WIDTH 78 /* of lines of the source, as people read that too */

void sdw_roff_print(FILE *to, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\')
			fputs("\\e", to);
		else if (text[i] == '-')
			fputs("\\-", to);
		else if (text[i] == '\'')
			fputs("\\(aq", to); /* else it becomes a closing quotation mark */
		else if (text[i] == '`')
			fputs("\\(ga", to);
		else if (text[i] == '~')
			fputs("\\(ti", to);
		else if (text[i] == '^')
			fputs("\\(ha", to);
		else
			fputc(text[i], to);
	}
}

/* An option, -x or --long, with or without a value. */
static bool is_option(const char *word, size_t size)
{
	return size >= 2 && word[0] == '-' &&
	       (isalpha((unsigned char)word[1]) || (size >= 4 && word[1] == '-'));
}

/* A manual page: name(1). */
static bool is_page(const char *word, size_t size)
{
	return size > 3 && word[size - 3] == '(' && isdigit((unsigned char)word[size - 2]) &&
	       word[size - 1] == ')';
}

static size_t trim_punctuation(const char *word, size_t size)
{
	while (size && strchr(",.;:", word[size - 1]))
		size--;
	return size;
}

static void print_word(FILE *to, const char *word, size_t size)
{
	size_t open = size && word[0] == '(', bold;

	bold = trim_punctuation(word + open, size - open);
	if (is_page(word + open, bold))
		bold -= 3;
	else if (is_option(word + open, bold))
		bold = strcspn(word + open, "=") < bold ? strcspn(word + open, "=") : bold;
	else
		bold = 0;
	if (bold && word[open + bold - 1] == ')' && is_option(word + open, bold))
		bold--;
	sdw_roff_print(to, word, open);
	if (bold) {
		fputs("\\fB", to);
		sdw_roff_print(to, word + open, bold);
		fputs("\\fR", to);
	}
	sdw_roff_print(to, word + open + bold, size - open - bold);
}

/* Bytes that a word takes in the source, at most. */
static size_t printed_size(const char *word, size_t size)
{
	size_t result = 0;

	if (*word == '-' || *word == '(' || word[size - 1] == ')')
		result += strlen("\\fB\\fR"); /* it may be bold */
	for (size_t i = 0; i < size; i++)
		result += word[i] == '-' || word[i] == '\\' ? 2 : strchr("'`~^", word[i]) ? 5 : 1;
	return result;
}

void sdw_roff_print_text(FILE *to, size_t column, const char *text)
{
	text += strspn(text, " ");
	while (*text) {
		size_t size = strcspn(text, " "), printed = printed_size(text, size);

		if (column && column + 1 + printed > WIDTH) {
			fputc('\n', to);
			column = 0;
		} else if (column) {
			fputc(' ', to);
			column++;
		}
		if (!column && (*text == '.' || *text == '\''))
			fputs("\\&", to); /* else the line is a request */
		print_word(to, text, size);
		column += printed;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}
