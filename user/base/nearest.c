// SPDX-License-Identifier: MIT
/* nearest.c - edit distance with transpositions (optimal string alignment), for "did you mean". */
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"

#define MAX_WORD 63

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t sdw_word_distance(const char *a, const char *b)
{
	/* the last three rows of the table: row i holds the costs of a's first i characters */
	size_t rows[3][MAX_WORD + 1], a_size = strlen(a), b_size = strlen(b), i, j;

	if (a_size > MAX_WORD || b_size > MAX_WORD)
		return SIZE_MAX;
	for (j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (i = 1; i <= a_size; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3],
		       *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= b_size; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1);
			row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[a_size % 3][b_size];
}

const char *sdw_nearest_word(const char *word, const char *const *words, size_t count)
{
	size_t limit = strlen(word) / 3, best, i;
	const char *nearest = NULL;

	for (i = 0; i < count && *word; i++)
		if (words[i] && !strncmp(words[i], word, strlen(word)))
			return words[i];
	best = limit < 2 ? 3 : limit + 1; /* the first distance that is too far */
	for (i = 0; i < count; i++) {
		size_t distance = words[i] ? sdw_word_distance(word, words[i]) : SIZE_MAX;

		if (distance < best) {
			best = distance;
			nearest = words[i];
		}
	}
	return nearest;
}
