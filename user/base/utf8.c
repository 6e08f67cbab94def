// SPDX-License-Identifier: MIT
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define ESCAPED_BYTES 4 /* \xNN */

size_t sdw_utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	/* the second byte's range is what excludes overlong forms, surrogates and too large values
	 */
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (at[0] < 0x80)
		return at[0] ? 1 : 0;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

size_t sdw_utf8_valid_prefix(const char *text)
{
	size_t used = 0, length;

	while ((length = sdw_utf8_length(text + used)))
		used += length;
	return used;
}

char *sdw_utf8_repair(const char *text)
{
	size_t size = strlen(text), used = 0;
	char *copy;

	if (size > SIZE_MAX / ESCAPED_BYTES - 1)
		return NULL;
	copy = malloc(size * ESCAPED_BYTES + 1);
	if (!copy)
		return NULL;
	while (*text) {
		size_t length = sdw_utf8_length(text);

		if (length) {
			memcpy(copy + used, text, length);
			used += length;
			text += length;
		} else {
			used += (size_t)snprintf(copy + used, ESCAPED_BYTES + 1, "\\x%02x",
						 (unsigned char)*text++);
		}
	}
	copy[used] = '\0';
	return copy;
}
