/* SPDX-License-Identifier: MIT */
/*
 * line_shares.h - the samples of a profile added up by Python source file and line.
 *
 * Self: samples whose innermost Python frame it is, so what native code took counts for the line
 * that called it. Total: samples in whose stack it is, once each. Amounts are weights where the
 * event has weights (frame_text.h), else numbers of samples.
 */
#ifndef SDW_LINE_SHARES_H
#define SDW_LINE_SHARES_H

#include "view/profile.h"

struct sdw_line_share {
	uint32_t file; /* its place in files, before they were sorted */
	uint32_t line;
	uint64_t self, total;
	size_t last_seen; /* private: 1 + the bucket that was added last */
};

/* An expression, where the recording has columns; several may lie in one another. */
struct sdw_span_share {
	uint32_t file, line, end_line;
	uint16_t column, end_column; /* bytes, from 1; the end is behind the last */
	uint64_t self, total;
	size_t last_seen; /* private */
};

struct sdw_file_shares {
	const char *path;
	uint64_t self, total;
	size_t first, count;	       /* its lines, in order, in line_shares.lines */
	size_t first_span, span_count; /* and in line_shares.spans */
	size_t last_seen;	       /* private */
};

struct sdw_line_shares {
	SDW_PROFILE_ARRAY(struct sdw_file_shares) files; /* hottest first, by self then total */
	SDW_PROFILE_ARRAY(struct sdw_line_share) lines;
	SDW_PROFILE_ARRAY(struct sdw_span_share) spans;
	uint64_t all; /* the amount of all samples */
};

/* Returns 0 or -ENOMEM; to be freed in either case. */
int sdw_line_shares_make(struct sdw_line_shares *shares, const struct sdw_profile *profile);
void sdw_line_shares_free(struct sdw_line_shares *shares);

#endif
