// SPDX-License-Identifier: MIT
/* ctf_format.c - the fields of every event, in the order in which they lie in the stream. */
#include "sink/ctf_format.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct sdw_ctf_field process_fields[] = {
	{"id", SDW_CTF_U32},
	{"parent", SDW_CTF_U32},
	{"pid", SDW_CTF_U32},
	{"inner_pid", SDW_CTF_U32},
	{"comm", SDW_CTF_TEXT},
	{"container", SDW_CTF_LATER_TEXT},
	{"container_name", SDW_CTF_LATER_TEXT},
	{"pod", SDW_CTF_LATER_TEXT},
};

static const struct sdw_ctf_field thread_fields[] = {
	{"id", SDW_CTF_U32},	    {"process", SDW_CTF_U32}, {"tid", SDW_CTF_U32},
	{"inner_tid", SDW_CTF_U32}, {"name", SDW_CTF_TEXT},
};

static const struct sdw_ctf_field code_fields[] = {
	{"id", SDW_CTF_U32},	{"kind", SDW_CTF_KIND_ENUM}, {"first_line", SDW_CTF_U32},
	{"name", SDW_CTF_TEXT}, {"file", SDW_CTF_TEXT},
};

static const struct sdw_ctf_field frame_fields[] = {
	{"id", SDW_CTF_U32},
	{"code", SDW_CTF_U32},
	{"line", SDW_CTF_U32},
	{"column", SDW_CTF_LATER_U16},
	{"end_column", SDW_CTF_LATER_U16},
	{"end_line", SDW_CTF_LATER_U32},
};

static const struct sdw_ctf_field stack_fields[] = {
	{"id", SDW_CTF_U32},
	{"parent", SDW_CTF_U32},
	{"frame", SDW_CTF_U32},
};

/* weight and pair come last: a plain sample is a weighted one without its end, and so on */
static const struct sdw_ctf_field sample_fields[] = {
	{"pid", SDW_CTF_U32},	{"tid", SDW_CTF_U32},	 {"thread", SDW_CTF_U32},
	{"stack", SDW_CTF_U32}, {"cpu", SDW_CTF_U16},	 {"status", SDW_CTF_STATUS_ENUM},
	{"flags", SDW_CTF_U8},	{"weight", SDW_CTF_U64}, {"pair", SDW_CTF_U64},
};

static const struct sdw_ctf_field signal_sample_fields[] = {
	{"pid", SDW_CTF_U32},	      {"tid", SDW_CTF_U32},	   {"thread", SDW_CTF_U32},
	{"stack", SDW_CTF_U32},	      {"cpu", SDW_CTF_U16},	   {"status", SDW_CTF_STATUS_ENUM},
	{"flags", SDW_CTF_U8},	      {"delivery", SDW_CTF_U8},	   {"merged", SDW_CTF_U32},
	{"overflow_ns", SDW_CTF_U64}, {"handler_ns", SDW_CTF_U64}, {"pair", SDW_CTF_U64},
	{"weight", SDW_CTF_U64},
};

static const struct sdw_ctf_field lost_fields[] = {
	{"begin_ns", SDW_CTF_U64},
	{"end_ns", SDW_CTF_U64},
	{"count", SDW_CTF_U64},
	{"reason", SDW_CTF_LOST_ENUM},
};

static const struct sdw_ctf_field totals_fields[] = {{"duration_ns", SDW_CTF_U64},
						     {"overflows", SDW_CTF_U64},
						     {"processes", SDW_CTF_U32},
						     {"threads", SDW_CTF_U32},
						     {"complete", SDW_CTF_U8},
						     {"signal_samples", SDW_CTF_LATER_U64},
						     {"signal_merged", SDW_CTF_LATER_U64},
						     {"signal_lost", SDW_CTF_LATER_U64},
#define STATUS_FIELD(name, text, meaning) {"status_" text, SDW_CTF_U64},
						     SDW_STATUS_LIST(STATUS_FIELD)
#undef STATUS_FIELD
#define LOST_FIELD(name, text, meaning) {"lost_" text, SDW_CTF_U64},
							     SDW_LOST_LIST(LOST_FIELD)
#undef LOST_FIELD
};
_Static_assert(LENGTH(totals_fields) == SDW_CTF_MAX_FIELDS, "the largest event");

const struct sdw_ctf_event_type sdw_ctf_event_types[SDW_CTF_EVENT_COUNT] = {
	[SDW_CTF_PROCESS] = {"process", LENGTH(process_fields), process_fields},
	[SDW_CTF_THREAD] = {"thread", LENGTH(thread_fields), thread_fields},
	[SDW_CTF_CODE] = {"code", LENGTH(code_fields), code_fields},
	[SDW_CTF_FRAME] = {"frame", LENGTH(frame_fields), frame_fields},
	[SDW_CTF_STACK] = {"stack", LENGTH(stack_fields), stack_fields},
	[SDW_CTF_SAMPLE] = {"sample", LENGTH(sample_fields) - 2, sample_fields},
	[SDW_CTF_SAMPLE_WEIGHTED] = {"sample_weighted", LENGTH(sample_fields) - 1, sample_fields},
	[SDW_CTF_LOST] = {"lost", LENGTH(lost_fields), lost_fields},
	[SDW_CTF_TOTALS] = {"totals", LENGTH(totals_fields), totals_fields},
	[SDW_CTF_SAMPLE_PAIRED] = {"sample_paired", LENGTH(sample_fields), sample_fields},
	[SDW_CTF_SIGNAL_SAMPLE] = {"signal_sample", LENGTH(signal_sample_fields),
				   signal_sample_fields},
};
