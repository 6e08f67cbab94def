// SPDX-License-Identifier: MIT
/* compare_frame.c - a frame as text, as a comparison shows it. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/compare_report.h"
#include "view/frame_text.h"

char *sdw_compare_frame_text(const struct sdw_profile *profile, uint32_t frame)
{
	const struct sdw_profile_code *code = sdw_frame_code(profile, frame);
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	bool failed;

	if (!file)
		return NULL;
	fputs(sdw_text_or_unknown(code->name), file);
	if (code->kind == SDW_CODE_PYTHON)
		fprintf(file, " (%s:%" PRIu32 ")", sdw_base_name(sdw_text_or_unknown(code->file)),
			sdw_frame_line(profile, frame));
	else if (code->kind == SDW_CODE_NATIVE)
		fprintf(file, " (%s)", sdw_base_name(sdw_text_or_unknown(code->file)));
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
