// SPDX-License-Identifier: MIT
/*
 * fuzz_pywalk.c - the walker of the BPF program over a memory image and a layout that may be lies.
 *
 * Input: version (0: the layout itself follows), thread state, memory image. Every read must go to
 * where the walker has room for it.
 */
#include "fuzz/input.h"
#include "target/interpreter.h"

#define BASE	    0x10000000ull
#define IMAGE_BYTES 65536u

static struct sdw_walk *state;
static uint8_t image[IMAGE_BYTES];
static size_t image_size;
static size_t reads;

static int image_read(uint8_t *to, size_t size, uint64_t address);
static uint64_t image_code(uint64_t address);

#define SDW_WALK_READ(to, size, address) image_read((uint8_t *)(to), (size), (address))
#define SDW_WALK_CODE(walk, address)	 image_code(address)
#define SDW_WALK_HIDE(value)		 (value)
#include "pywalk.h"

static int image_read(uint8_t *to, size_t size, uint64_t address)
{
	uint8_t *start = (uint8_t *)state, *room = state->bytes;
	uint8_t *outer = (uint8_t *)&state->outer_current;
	uint64_t at = address - BASE;

	reads++;
	/* the compiler's sanitizer does not see what overruns one member into the next */
	if (to >= start && to < start + sizeof(*state) && !(to == outer && size == 8))
		fuzz_assert(to >= room && to + size <= room + sizeof(state->bytes));
	if (at >= image_size || size > image_size - at)
		return -1;
	memcpy(to, image + at, size);
	return 0;
}

/* One in four addresses holds no code object. */
static uint64_t image_code(uint64_t address)
{
	return address & 3 ? address : 0;
}

static void check_heads(struct input *input)
{
	uint8_t code[256 + 8], name[128];

	input_copy(input, code, sizeof(code));
	input_copy(input, name, sizeof(name));
	(void)sdw_code_fingerprint(&state->layout, code, sizeof(code), name, sizeof(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	unsigned int version = (unsigned int)input_number(&input, 1), steps = 0;

	state = calloc(1, sizeof(*state));
	if (!state)
		abort();
	if (sdw_layout_for_version(0x0300 | version, &state->layout))
		input_copy(&input, &state->layout, sizeof(state->layout));
	input_copy(&input, state->thread, sizeof(state->thread));
	image_size = input.left < IMAGE_BYTES ? input.left : IMAGE_BYTES;
	input_copy(&input, image, image_size);
	reads = 0;
	sdw_walk_begin(state);
	while (!sdw_walk_step(state))
		fuzz_assert(++steps <= 4 * SDW_MAX_FRAMES + 4);
	fuzz_assert(state->count <= SDW_MAX_FRAMES && state->status < SDW_STATUS_COUNT);
	fuzz_assert(reads <= steps + 4);
	fuzz_assert(sdw_walk_id(state));
	input = (struct input){image, image_size};
	check_heads(&input);
	free(state);
	return 0;
}
