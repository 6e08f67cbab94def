// SPDX-License-Identifier: MIT
/*
 * running.c - stacks of threads that run.
 *
 * Memory that is read from outside while a thread works on it may be torn. The recorder's BPF
 * programs look at a thread from within an interrupt of it: a recording of a few milliseconds into
 * memory gives each thread that ran in it a stack that belongs together.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "capture/event_spec.h"
#include "capture/privilege.h"
#include "capture/session.h"
#include "capture/target_threads.h"
#include "dump/locals.h"
#include "dump/process.h"

#define DURATION_S  0.05
#define FREQUENCY   997 /* overflows a second of each thread */
#define RING_BYTES  (1u << 20)
#define MAX_MEMORY  (256ull << 20)
#define STACK_BYTES SDW_MAX_STACK_BYTES

static bool ran(const struct sdw_dump_thread *thread)
{
	return thread->certainty == SDW_DUMP_MOVING || thread->certainty == SDW_DUMP_TORN;
}

static int list_busy(const struct sdw_dump_process *processes, size_t count,
		     struct sdw_pid_list *pids)
{
	for (size_t i = 0; i < count; i++) {
		const struct sdw_dump_process *process = &processes[i];
		bool busy = false;

		for (size_t j = 0; j < process->threads.count; j++)
			busy |= ran(&process->threads.items[j]);
		if (!busy)
			continue;
		if (sdw_array_reserve(pids, 1))
			return -ENOMEM;
		pids->items[pids->count++] = process->pid;
	}
	return 0;
}

/* Without a word: what cannot be sampled is shown as it was read. */
static bool may_record(const struct sdw_config *config)
{
	struct sdw_privilege_facts facts;
	char message[512];

	sdw_privilege_gather(config, &facts);
	return sdw_privilege_judge(&facts, message, sizeof(message));
}

static int record(const struct sdw_config *config, struct sdw_profile *profile)
{
	enum sdw_log_level level = sdw_log_level();
	struct sdw_session *session = NULL;
	int err;

	sdw_log_set_level(SDW_LOG_ERROR);
	err = sdw_session_create(config, &profile->sink, &session);
	err = err ?: sdw_session_run(session, NULL, NULL);
	sdw_session_free(session);
	sdw_log_set_level(level);
	return err;
}

static struct sdw_dump_thread *find_thread(struct sdw_dump_process *processes, size_t count,
					   uint32_t tid)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < processes[i].threads.count; j++)
			if ((uint32_t)processes[i].threads.items[j].task.tid == tid)
				return &processes[i].threads.items[j];
	return NULL;
}

static bool is_same(const struct sdw_dump_frame *one, const struct sdw_dump_frame *other)
{
	return !strcmp(one->name, other->name) && !strcmp(one->file, other->file);
}

/* The next Python frame from *at on, or NULL. */
static struct sdw_dump_frame *next_python(struct sdw_dump_thread *thread, size_t *at)
{
	while (*at < thread->frames.count) {
		struct sdw_dump_frame *frame = &thread->frames.items[(*at)++];

		if (frame->kind == SDW_CODE_PYTHON)
			return frame;
	}
	return NULL;
}

/* Variables that were read before stay with functions that are still running. */
static void move_locals(struct sdw_dump_thread *from, struct sdw_dump_thread *to)
{
	size_t from_at = 0, to_at = 0;

	for (;;) {
		struct sdw_dump_frame *old = next_python(from, &from_at);
		struct sdw_dump_frame *new = next_python(to, &to_at);

		if (!old || !new || !is_same(old, new))
			return;
		new->locals = old->locals;
		old->locals = (struct sdw_dump_locals){0};
	}
}

static int take_sample(const struct sdw_profile *profile, const struct sdw_sample_event *sample,
		       struct sdw_dump_thread *thread)
{
	struct sdw_dump_thread before = *thread;
	int err;

	thread->frames.items = NULL;
	thread->frames.count = thread->frames.room = 0;
	err = sdw_dump_thread_set_frames(thread, profile, sample->stack);
	move_locals(&before, thread);
	before.python_name = NULL; /* is the thread's still */
	sdw_dump_thread_free(&before);
	thread->certainty = SDW_DUMP_SAMPLED;
	thread->python_status = sample->status;
	thread->native_known = true;
	return err;
}

/* The last sample of each thread that ran; the first ones may be from before Python was found. */
static int take_samples(const struct sdw_profile *profile, struct sdw_dump_process *processes,
			size_t count)
{
	int err = 0;

	for (size_t i = profile->samples.count; !err && i > 0; i--) {
		const struct sdw_sample_event *sample = &profile->samples.items[i - 1];
		struct sdw_dump_thread *thread;

		if (!sample->stack || sample->status == SDW_STATUS_PENDING)
			continue;
		thread = find_thread(processes, count, profile->threads.items[sample->thread].tid);
		if (thread && ran(thread))
			err = take_sample(profile, sample, thread);
	}
	return err;
}

int sdw_dump_running_sample(struct sdw_dumper *dumper, struct sdw_dump_process *processes,
			    size_t count)
{
	struct sdw_config config = {
		.frequency = FREQUENCY,
		.duration_s = DURATION_S,
		.native = SDW_NATIVE_DWARF,
		.stack_bytes = STACK_BYTES,
		.templates = true,
		.ring_bytes = RING_BYTES,
		.max_memory = MAX_MEMORY,
		.quiet = true,
	};
	struct sdw_pid_list pids = {0};
	int err = list_busy(processes, count, &pids);

	config.pids = pids.items;
	config.pid_count = pids.count;
	if (!err && pids.count && !dumper->has_sampled && may_record(&config) &&
	    !sdw_event_spec_parse("cpu-clock", &config.event)) {
		err = sdw_profile_init(&dumper->sampled, true);
		dumper->has_sampled = !err;
		if (!err && !record(&config, &dumper->sampled))
			err = take_samples(&dumper->sampled, processes, count);
	}
	sdw_pid_list_free(&pids);
	return err;
}
