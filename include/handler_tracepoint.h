/* SPDX-License-Identifier: MIT */
/*
 * handler_tracepoint.h - the LTTng-UST provider "sidewinder" in a sampled process: the events of
 * handler_events.h, where their fields are told. Beyond those: `recorder`, as in tracepoint.h.
 *
 * LTTng-UST includes this file several times, to make other things of it each time.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sidewinder

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "../include/handler_tracepoint.h"

#if !defined(SDW_HANDLER_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SDW_HANDLER_TRACEPOINT_H

/* clang-format off */
#include <lttng/tracepoint.h>
#include <stdint.h>

#include "counters.h"
#include "handler_events.h"
#include "sigpath.h"

#ifndef SDW_HANDLER_VALUES
#define SDW_HANDLER_VALUES
#define SDW_HANDLER_STATUS(name, text, meaning) lttng_ust_field_enum_value(text, SDW_STATUS_##name)
/* readers take the text of an event before for an empty one: "-" is none, as in tracepoint.h */
#define SDW_HANDLER_TEXT(text) (*(text) ? (text) : "-")
/*
 * Fields are read once a session that records has an event, and at no other time: an event may be
 * enabled in one that does not, or not yet (a probe asks session->active before all else).
 */
#define SDW_HANDLER_TAKEN(event, field) ((event)->taken = true, (event)->field)
#endif

LTTNG_UST_TRACEPOINT_ENUM(sidewinder, handler_status_t,
	LTTNG_UST_TP_ENUM_VALUES(SDW_STATUS_LIST(SDW_HANDLER_STATUS)))

LTTNG_UST_TRACEPOINT_ENUM(sidewinder, native_end_t,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("complete", SDW_SIGNAL_NATIVE_COMPLETE)
		lttng_ust_field_enum_value("stopped", SDW_SIGNAL_NATIVE_STOPPED)
		lttng_ust_field_enum_value("limit", SDW_SIGNAL_NATIVE_LIMIT)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, handler_process,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, struct sdw_handler_process *, process),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, SDW_HANDLER_TAKEN(process, pid))))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, handler_sample,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, struct sdw_handler_sample *, sample),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, SDW_HANDLER_TAKEN(sample, pid))
		lttng_ust_field_integer(uint32_t, tid, sample->tid)
		lttng_ust_field_integer(uint16_t, cpu, sample->cpu)
		lttng_ust_field_enum(sidewinder, handler_status_t, uint8_t, status, sample->status)
		lttng_ust_field_integer(uint8_t, flags, sample->flags)
		lttng_ust_field_integer(uint8_t, delivery, sample->delivery)
		lttng_ust_field_integer(uint32_t, merged, sample->merged)
		lttng_ust_field_integer(uint64_t, overflow_ns, sample->overflow_ns)
		lttng_ust_field_integer(uint64_t, handler_ns, sample->handler_ns)
		lttng_ust_field_integer(uint64_t, period, sample->period)
		lttng_ust_field_sequence_hex(uint64_t, code, sample->code, uint16_t, sample->frames)
		lttng_ust_field_sequence(int32_t, instruction, sample->instruction, uint16_t,
					 sample->frames)
		lttng_ust_field_sequence(uint8_t, entries, sample->entries, uint16_t,
					 sample->frames)
		lttng_ust_field_enum(sidewinder, native_end_t, uint8_t, native_end,
				     sample->native_end)
		lttng_ust_field_sequence_hex(uint64_t, address, sample->address, uint16_t,
					     sample->addresses)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, handler_code,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, struct sdw_handler_code *, code),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, SDW_HANDLER_TAKEN(code, pid))
		lttng_ust_field_integer_hex(uint64_t, id, code->id)
		lttng_ust_field_integer_hex(uint64_t, object, code->object)
		lttng_ust_field_integer(int32_t, first_line, code->first_line)
		lttng_ust_field_string(name, SDW_HANDLER_TEXT(code->name))
		lttng_ust_field_string(qualname, SDW_HANDLER_TEXT(code->qualname))
		lttng_ust_field_string(file, SDW_HANDLER_TEXT(code->file))))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
