/* SPDX-License-Identifier: MIT */
/* array.h - an array that grows: `struct { T *items; size_t count, room; }` and these. */
#ifndef SDW_ARRAY_H
#define SDW_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `more` further items of `size` bytes. Returns 0, or -ENOMEM (the array is
 * unchanged).
 */
int sdw_array_reserve_bytes(void **items, size_t *room, size_t count, size_t more, size_t size);

#define sdw_array_reserve(array, more)                                                            \
	sdw_array_reserve_bytes((void **)&(array)->items, &(array)->room, (array)->count, (more), \
				sizeof(*(array)->items))

#endif
