/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.h - the LTTng-UST provider "sidewinder": the events of sink.h as tracepoints.
 *
 * Names, order and meaning of fields are those of sink.h and of a CTF trace. Beyond these:
 *
 * recorder   in every event, 1 byte: which recorder wrote it, where several write into one session.
 *            It is chosen at the event `recording`, from which on it means that recording.
 * recording  the `env` of a CTF trace as an event: once, before all others of this recorder, and
 *            again at each state dump.
 * time_ns    CLOCK_MONOTONIC of what the event tells of. The event's own time, of the same clock,
 *            is when it was written: up to some tenths of a second later.
 * time_low   in `sample`: the low 32 bits of time_ns; the rest is that of the event's own time, or
 *            one less where that makes a time after it.
 *
 * `sample` has no thread: it is of the thread with this tid that was defined last. What is of
 * another one, or was written more than four seconds late, or stands for another weight than the
 * period, is a `sample_weighted`, which has all of it; in a snapshot every sample is. (LTTng-UST
 * puts 6 bytes in front of each event.)
 *
 * And one event more:
 *
 * state      what was defined so far is told again, with the ids that it has: begins (1) and ends
 *            (0). In a snapshot and for whoever joins a live session, definitions come after what
 *            refers to them.
 *
 * LTTng-UST includes this file several times, to make other things of it each time.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sidewinder

#undef LTTNG_UST_TRACEPOINT_INCLUDE
/* this way, since LTTng has a tracepoint.h of its own beside the header that includes it */
#define LTTNG_UST_TRACEPOINT_INCLUDE "../include/tracepoint.h"

#if !defined(SDW_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SDW_TRACEPOINT_H

/* clang-format off */
#include <lttng/tracepoint.h>
#include <stdint.h>

#include "sink.h"

#ifndef SDW_TRACEPOINT_VALUES
#define SDW_TRACEPOINT_VALUES
#define SDW_STATUS_VALUE(name, text, meaning) lttng_ust_field_enum_value(text, SDW_STATUS_##name)
#define SDW_LOST_VALUE(name, text, meaning) lttng_ust_field_enum_value(text, SDW_LOST_##name)
/* readers take the text of an event before for an empty one: "-" is none, as in a CTF trace */
#define SDW_TRACEPOINT_TEXT(text) ((text) && *(text) ? (text) : "-")
/* a new status or reason needs its field in `totals` below */
_Static_assert(SDW_STATUS_COUNT == 9, "totals has every status");
_Static_assert(SDW_LOST_COUNT == 9, "totals has every reason");
#endif

LTTNG_UST_TRACEPOINT_ENUM(sidewinder, status_t,
	LTTNG_UST_TP_ENUM_VALUES(SDW_STATUS_LIST(SDW_STATUS_VALUE)))

LTTNG_UST_TRACEPOINT_ENUM(sidewinder, lost_t,
	LTTNG_UST_TP_ENUM_VALUES(SDW_LOST_LIST(SDW_LOST_VALUE)))

LTTNG_UST_TRACEPOINT_ENUM(sidewinder, kind_t,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("python", SDW_CODE_PYTHON)
		lttng_ust_field_enum_value("native", SDW_CODE_NATIVE)
		lttng_ust_field_enum_value("kernel", SDW_CODE_KERNEL)
		lttng_ust_field_enum_value("marker", SDW_CODE_MARKER)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, recording,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint32_t, format, uint8_t, snapshot,
			  const struct sdw_recording *, recording),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, trace_format, format)
		lttng_ust_field_string(version, recording->version)
		lttng_ust_field_string(hostname, recording->hostname)
		lttng_ust_field_string(command, recording->command)
		lttng_ust_field_string(event_name, recording->event)
		lttng_ust_field_string(unit, recording->unit)
		lttng_ust_field_integer(uint64_t, period, recording->period)
		lttng_ust_field_integer(uint64_t, frequency, recording->frequency)
		lttng_ust_field_integer(uint64_t, start_ns, recording->start_ns)
		lttng_ust_field_integer(uint64_t, start_unix_ns, recording->start_unix_ns)
		lttng_ust_field_integer(uint8_t, native, recording->native)
		lttng_ust_field_integer(uint8_t, kernel, recording->kernel)
		lttng_ust_field_integer(uint8_t, path, recording->path)
		lttng_ust_field_integer(uint8_t, snapshot, snapshot)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, process,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_process_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, id, event->id)
		lttng_ust_field_integer(uint32_t, parent, event->parent)
		lttng_ust_field_integer(uint32_t, pid, event->pid)
		lttng_ust_field_integer(uint32_t, inner_pid, event->inner_pid)
		lttng_ust_field_string(comm, event->comm)
		lttng_ust_field_string(container, SDW_TRACEPOINT_TEXT(event->container))
		lttng_ust_field_string(container_name,
				       SDW_TRACEPOINT_TEXT(event->container_name))
		lttng_ust_field_string(pod, SDW_TRACEPOINT_TEXT(event->pod))
		lttng_ust_field_integer(uint64_t, time_ns, event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, thread,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_thread_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, id, event->id)
		lttng_ust_field_integer(uint32_t, process, event->process)
		lttng_ust_field_integer(uint32_t, tid, event->tid)
		lttng_ust_field_integer(uint32_t, inner_tid, event->inner_tid)
		lttng_ust_field_string(name, event->name)
		lttng_ust_field_integer(uint64_t, time_ns, event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, code,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_code_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, id, event->id)
		lttng_ust_field_enum(sidewinder, kind_t, uint8_t, kind, event->kind)
		lttng_ust_field_integer(uint32_t, first_line, event->first_line)
		lttng_ust_field_string(name, event->name)
		lttng_ust_field_string(file, event->file)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, frame,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_frame_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, id, event->id)
		lttng_ust_field_integer(uint32_t, code, event->code)
		lttng_ust_field_integer(uint32_t, line, event->line)
		lttng_ust_field_integer(uint16_t, column, event->column)
		lttng_ust_field_integer(uint16_t, end_column, event->end_column)
		lttng_ust_field_integer(uint32_t, end_line, event->end_line)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, stack,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_stack_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, id, event->id)
		lttng_ust_field_integer(uint32_t, parent, event->parent)
		lttng_ust_field_integer(uint32_t, frame, event->frame)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, sample,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint32_t, pid, uint32_t, tid,
			  const struct sdw_sample_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, pid)
		lttng_ust_field_integer(uint32_t, tid, tid)
		lttng_ust_field_integer(uint32_t, stack, event->stack)
		lttng_ust_field_integer(uint16_t, cpu, event->cpu)
		lttng_ust_field_enum(sidewinder, status_t, uint8_t, status, event->status)
		lttng_ust_field_integer(uint8_t, flags, event->flags)
		lttng_ust_field_integer(uint32_t, time_low, (uint32_t)event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, sample_weighted,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint32_t, pid, uint32_t, tid,
			  const struct sdw_sample_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, pid)
		lttng_ust_field_integer(uint32_t, tid, tid)
		lttng_ust_field_integer(uint32_t, thread, event->thread)
		lttng_ust_field_integer(uint32_t, stack, event->stack)
		lttng_ust_field_integer(uint16_t, cpu, event->cpu)
		lttng_ust_field_enum(sidewinder, status_t, uint8_t, status, event->status)
		lttng_ust_field_integer(uint8_t, flags, event->flags)
		lttng_ust_field_integer(uint64_t, weight, event->weight)
		lttng_ust_field_integer(uint64_t, time_ns, event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, sample_paired,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint32_t, pid, uint32_t, tid,
			  const struct sdw_sample_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, pid)
		lttng_ust_field_integer(uint32_t, tid, tid)
		lttng_ust_field_integer(uint32_t, thread, event->thread)
		lttng_ust_field_integer(uint32_t, stack, event->stack)
		lttng_ust_field_integer(uint16_t, cpu, event->cpu)
		lttng_ust_field_enum(sidewinder, status_t, uint8_t, status, event->status)
		lttng_ust_field_integer(uint8_t, flags, event->flags)
		lttng_ust_field_integer(uint64_t, weight, event->weight)
		lttng_ust_field_integer(uint64_t, pair, event->pair)
		lttng_ust_field_integer(uint64_t, time_ns, event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, signal_sample,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint32_t, pid, uint32_t, tid,
			  const struct sdw_signal_sample_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint32_t, pid, pid)
		lttng_ust_field_integer(uint32_t, tid, tid)
		lttng_ust_field_integer(uint32_t, thread, event->thread)
		lttng_ust_field_integer(uint32_t, stack, event->stack)
		lttng_ust_field_integer(uint16_t, cpu, event->cpu)
		lttng_ust_field_enum(sidewinder, status_t, uint8_t, status, event->status)
		lttng_ust_field_integer(uint8_t, flags, event->flags)
		lttng_ust_field_integer(uint8_t, delivery, event->delivery)
		lttng_ust_field_integer(uint32_t, merged, event->merged)
		lttng_ust_field_integer(uint64_t, overflow_ns, event->overflow_ns)
		lttng_ust_field_integer(uint64_t, handler_ns, event->handler_ns)
		lttng_ust_field_integer(uint64_t, pair, event->pair)
		lttng_ust_field_integer(uint64_t, weight, event->weight)
		lttng_ust_field_integer(uint64_t, time_ns, event->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, lost,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_lost_event *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint64_t, begin_ns, event->begin_ns)
		lttng_ust_field_integer(uint64_t, end_ns, event->time_ns)
		lttng_ust_field_integer(uint64_t, count, event->count)
		lttng_ust_field_enum(sidewinder, lost_t, uint8_t, reason, event->reason)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, totals,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, const struct sdw_totals *, totals),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint64_t, duration_ns, totals->duration_ns)
		lttng_ust_field_integer(uint64_t, overflows, totals->overflows)
		lttng_ust_field_integer(uint32_t, processes, totals->processes)
		lttng_ust_field_integer(uint32_t, threads, totals->threads)
		lttng_ust_field_integer(uint8_t, complete, totals->complete)
		lttng_ust_field_integer(uint64_t, signal_samples, totals->signal_samples)
		lttng_ust_field_integer(uint64_t, signal_merged, totals->signal_merged)
		lttng_ust_field_integer(uint64_t, signal_lost, totals->signal_lost)
		lttng_ust_field_integer(uint64_t, status_complete,
					totals->status[SDW_STATUS_COMPLETE])
		lttng_ust_field_integer(uint64_t, status_no_python,
					totals->status[SDW_STATUS_NO_PYTHON])
		lttng_ust_field_integer(uint64_t, status_pending,
					totals->status[SDW_STATUS_PENDING])
		lttng_ust_field_integer(uint64_t, status_no_thread_state,
					totals->status[SDW_STATUS_NO_THREAD_STATE])
		lttng_ust_field_integer(uint64_t, status_no_frame,
					totals->status[SDW_STATUS_NO_FRAME])
		lttng_ust_field_integer(uint64_t, status_truncated,
					totals->status[SDW_STATUS_TRUNCATED])
		lttng_ust_field_integer(uint64_t, status_unreadable,
					totals->status[SDW_STATUS_UNREADABLE])
		lttng_ust_field_integer(uint64_t, status_broken,
					totals->status[SDW_STATUS_BROKEN])
		lttng_ust_field_integer(uint64_t, status_kernel_thread,
					totals->status[SDW_STATUS_KERNEL_THREAD])
		lttng_ust_field_integer(uint64_t, lost_ring_full,
					totals->lost[SDW_LOST_RING_FULL])
		lttng_ust_field_integer(uint64_t, lost_not_delivered,
					totals->lost[SDW_LOST_NOT_DELIVERED])
		lttng_ust_field_integer(uint64_t, lost_no_scratch,
					totals->lost[SDW_LOST_NO_SCRATCH])
		lttng_ust_field_integer(uint64_t, lost_outside_target,
					totals->lost[SDW_LOST_OUTSIDE_TARGET])
		lttng_ust_field_integer(uint64_t, lost_outside_namespace,
					totals->lost[SDW_LOST_OUTSIDE_NAMESPACE])
		lttng_ust_field_integer(uint64_t, lost_consumer,
					totals->lost[SDW_LOST_CONSUMER])
		lttng_ust_field_integer(uint64_t, lost_merged,
					totals->lost[SDW_LOST_MERGED])
		lttng_ust_field_integer(uint64_t, lost_cut,
					totals->lost[SDW_LOST_CUT])
		lttng_ust_field_integer(uint64_t, lost_lttng,
					totals->lost[SDW_LOST_LTTNG])
		lttng_ust_field_integer(uint64_t, time_ns, totals->time_ns)))

LTTNG_UST_TRACEPOINT_EVENT(sidewinder, state,
	LTTNG_UST_TP_ARGS(uint8_t, recorder, uint8_t, begins),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, recorder, recorder)
		lttng_ust_field_integer(uint8_t, begins, begins)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
