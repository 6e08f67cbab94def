// SPDX-License-Identifier: MIT
/* page.c - see page.h. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "view/escape.h"
#include "view/page.h"

#define NONCE "@NONCE@"

void sdw_page_write_string(FILE *file, const char *text)
{
	fputc('"', file);
	sdw_escape_write(file, text ? text : "", SDW_ESCAPE_SCRIPT);
	fputc('"', file);
}

/* Writes what the word at `at` stands for. Returns the bytes of the word, or 0 if it is none. */
static size_t write_word(const char *at, const struct sdw_page_word *words, const void *context,
			 const char *nonce, FILE *file)
{
	if (strncmp(at, NONCE, strlen(NONCE)) == 0) {
		fputs(nonce, file);
		return strlen(NONCE);
	}
	for (; words->word; words++) {
		size_t bytes = strlen(words->word);

		if (strncmp(at, words->word, bytes) != 0)
			continue;
		words->write(context, file);
		return bytes;
	}
	return 0;
}

int sdw_page_write(const char *page, const struct sdw_page_word *words, const void *context,
		   FILE *file)
{
	const char *at;
	uint64_t random[2];
	char nonce[33];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	while ((at = strchr(page, '@'))) {
		size_t bytes;

		fwrite(page, 1, (size_t)(at - page), file);
		bytes = write_word(at, words, context, nonce, file);
		if (!bytes)
			fputc('@', file);
		page = at + (bytes ? bytes : 1);
	}
	fputs(page, file);
	return 0;
}
