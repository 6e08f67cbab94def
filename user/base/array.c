// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

int sdw_array_reserve_bytes(void **items, size_t *room, size_t count, size_t more, size_t size)
{
	size_t want = *room ? *room : 16;
	void *larger;

	if (more > SIZE_MAX / 2 / size || count > SIZE_MAX / 2 / size)
		return -ENOMEM;
	if (count + more <= *room)
		return 0;
	while (want < count + more)
		want *= 2;
	larger = realloc(*items, want * size);
	if (!larger)
		return -ENOMEM;
	*items = larger;
	*room = want;
	return 0;
}
