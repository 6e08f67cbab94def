// SPDX-License-Identifier: MIT
/*
 * fuzz_merge.c - merging of Python and native frames. Input: flags, and a byte per frame.
 *
 * However the two stacks disagree, no Python frame and no native frame may be lost or doubled, and
 * each keeps its place among its own kind; only evaluation frames may be left out, and the native
 * frames outside of a greenlet, for which a marker stands.
 */
#include "fuzz/input.h"
#include "unwind/merge.h"

#define MAX_FRAMES 512

static bool is_evaluation(const struct sdw_merge_input *merge, size_t native)
{
	return merge->native_kind[native] == SDW_NATIVE_FRAME_EVALUATION ||
	       merge->native_kind[native] == SDW_NATIVE_FRAME_ENTRY;
}

static void check(const struct sdw_merge_input *merge, const struct sdw_merged_frame *out,
		  size_t count)
{
	size_t python = 0, native = 0;

	for (size_t i = 0; i < count; i++) {
		if (out[i].kind == SDW_MERGED_MARKER) {
			fuzz_assert(out[i].index < SDW_MARKER_COUNT);
		} else if (out[i].kind == SDW_MERGED_PYTHON) {
			fuzz_assert(out[i].index == python++);
		} else {
			fuzz_assert(out[i].kind == SDW_MERGED_NATIVE);
			while (native < out[i].index)
				fuzz_assert(is_evaluation(merge, native++));
			fuzz_assert(native++ == out[i].index);
		}
	}
	if (count && out[count - 1].kind == SDW_MERGED_MARKER &&
	    out[count - 1].index == SDW_MARKER_GREENLET)
		native = merge->native_count;
	while (native < merge->native_count)
		fuzz_assert(is_evaluation(merge, native++));
	fuzz_assert(python == merge->python_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint32_t flags = (uint32_t)input_number(&input, 1),
		 marker = (uint32_t)input_number(&input, 1);
	size_t python_count = input_number(&input, 2) % MAX_FRAMES, native_count, count;
	uint8_t *entries = input_block(&input, &python_count), *kinds;
	struct sdw_merge_input merge = {.python_entry = entries, .python_count = python_count};
	struct sdw_merged_frame *out;

	native_count = input.left < MAX_FRAMES ? input.left : MAX_FRAMES;
	kinds = input_block(&input, &native_count);
	for (size_t i = 0; i < native_count; i++)
		kinds[i] %= SDW_NATIVE_FRAME_GREENLET + 1;
	merge.native_kind = kinds;
	merge.native_count = native_count;
	merge.python_complete = flags & 1;
	merge.native_complete = flags & 2;
	merge.native_cut = flags & 4;
	merge.keep_evaluations = flags & 8;
	merge.python_marker = marker % SDW_MARKER_GREENLET;
	out = calloc(python_count + native_count + 4, sizeof(*out));
	if (!out)
		abort();
	(void)sdw_merge(&merge, out, python_count + native_count + 4, &count);
	fuzz_assert(count <= python_count + native_count + 4);
	check(&merge, out, count);
	free(out);
	free(entries);
	free(kinds);
	return 0;
}
