/* SPDX-License-Identifier: MIT */
/*
 * input.h - takes numbers and bytes out of what the fuzzer made up; what is past its end is 0.
 */
#ifndef SDW_FUZZ_INPUT_H
#define SDW_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer calls; declared here since no header of it does. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

/* A property that must hold whatever the input is. */
#define fuzz_assert(condition)            \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

static inline void input_copy(struct input *input, void *to, size_t size)
{
	size_t n = size < input->left ? size : input->left;

	memset(to, 0, size);
	if (n)
		memcpy(to, input->at, n);
	input->at += n;
	input->left -= n;
}

static inline uint64_t input_number(struct input *input, size_t bytes)
{
	uint64_t value = 0;
	uint8_t raw[8];

	input_copy(input, raw, sizeof(raw) < bytes ? sizeof(raw) : bytes);
	memcpy(&value, raw, sizeof(raw) < bytes ? sizeof(raw) : bytes);
	return value;
}

/*
 * The next `size` bytes, or what is left, in a block of exactly that size, so that a read past its
 * end is noticed. To be freed by the caller.
 */
static inline uint8_t *input_block(struct input *input, size_t *size)
{
	uint8_t *block;

	if (*size > input->left)
		*size = input->left;
	block = malloc(*size ? *size : 1);
	if (!block)
		abort();
	input_copy(input, block, *size);
	return block;
}

#endif
