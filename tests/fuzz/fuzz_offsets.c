// SPDX-License-Identifier: MIT
/* fuzz_offsets.c - a forged _Py_DebugOffsets. Input: its bytes. A layout made of it stays in
 * bounds. */
#include "fuzz/input.h"
#include "pywalk_state.h"
#include "target/interpreter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	size_t bytes_size = size;
	uint8_t *bytes = input_block(&input, &bytes_size);
	struct sdw_pylayout layout = {0};

	if (sdw_layout_from_debug_offsets(bytes, bytes_size, &layout) == 0) {
		fuzz_assert(layout.version >= 0x030d && layout.version <= 0x030f &&
			    layout.frame_kind >= SDW_FRAMES_SHIM);
		fuzz_assert(layout.frame_span <= SDW_SPAN_BYTES && layout.frame_span >= 8);
		fuzz_assert(layout.frame_previous + 8 <= layout.frame_span);
		fuzz_assert(layout.frame_code + 8 <= layout.frame_span);
		fuzz_assert(layout.frame_instruction + 8 <= layout.frame_span);
		fuzz_assert(layout.frame_owner < layout.frame_span);
		fuzz_assert(layout.code_span <= 256);
		fuzz_assert(layout.code_name + 8 <= layout.code_span);
		fuzz_assert(layout.code_linetable + 8 <= layout.code_span);
		fuzz_assert(layout.thread_frame <= SDW_THREAD_SPAN - 8);
		fuzz_assert(layout.thread_next <= SDW_THREAD_SPAN - 8);
	}
	free(bytes);
	return 0;
}
