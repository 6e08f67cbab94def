// SPDX-License-Identifier: MIT
/*
 * lttng.c - the handler's own events through LTTng-UST (handler_events.h), where the recorder wants
 * them.
 *
 * liblttng-ust is loaded when the program starts, never in a handler; why its tracepoints may be
 * used there is told in user/lttng/handler.c. It makes threads and connects to session daemons. Of
 * these the program must not wait: the library's constructor is told not to wait at all, and the
 * agent waits a bounded time for the recorder's session, which has answered a moment ago.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "agent.h"
#include "handler_events.h"
#include "maps.bpf.h"
#include "symbol/pycode.h"

#define SCRATCHES    16u /* tables.c */
#define TEXT_BYTES   (SDW_MAX_NAME_BYTES * SDW_TEXT_GROWTH + SDW_TEXT_EXTRA)
#define TIMEOUT	     "LTTNG_UST_REGISTER_TIMEOUT"
#define NO_STATEDUMP "LTTNG_UST_WITHOUT_BADDR_STATEDUMP"
#define NO_WAIT	     "0"
#define ANSWER_MS    "3000" /* for each of a daemon's answers to the library's own thread */
#define SESSION_MS   1000   /* that a program waits at its start for the session to take it */
#define FORK_LIBRARY "liblttng-ust-fork.so.1"

/* What an event points to, one for each scratch. */
struct event_room {
	uint64_t code[SDW_MAX_FRAMES];
	int32_t instruction[SDW_MAX_FRAMES];
	uint8_t entries[SDW_MAX_FRAMES];
	char name[TEXT_BYTES], qualname[TEXT_BYTES], file[TEXT_BYTES];
	bool lacks_codes; /* some were announced in the ring, but not as events */
};

static const struct sdw_handler_provider *provider; /* NULL: not loaded */
static struct event_room *rooms;
static volatile bool ended; /* the process exits */
static bool forks;	    /* nobody else in this process tells liblttng-ust of forks */
static sigset_t fork_mask;

/*
 * The library keeps the address of its variable's value for good (2.13, getenv.c), and reads it for
 * its constructor's wait and for each answer's. So it is kept here, and changed between the two.
 */
static char timeout[] = TIMEOUT "=" ANSWER_MS;

/*
 * Its thread would read all files that are mapped, in every process, under the dynamic linker's
 * lock, and wait there for a lock of its own that an interrupted thread may hold.
 */
static char no_statedump[] = NO_STATEDUMP "=1";

static void set_timeout(const char *ms)
{
	memcpy(timeout + sizeof(TIMEOUT), ms, strlen(ms) + 1);
}

bool sdw_agent_lttng_makes_thread(void)
{
	if (!sdw_agent_thread.in_lttng)
		return false;
	set_timeout(ANSWER_MS); /* the constructor has read its own, the thread has not yet */
	return true;
}

/* Does a session record this process? */
static bool is_taken(void)
{
	struct sdw_handler_process process = {.pid = sdw_agent.setup.pid};

	if (provider->enabled())
		provider->process(sdw_agent.setup.recorder, &process);
	return process.taken;
}

static void wait_for_session(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int waited = 0; waited < SESSION_MS && !is_taken(); waited++)
		nanosleep(&pause, NULL);
}

static void restore(const char *name, const char *was)
{
	if (was)
		(void)setenv(name, was, 1);
	else
		(void)unsetenv(name);
}

/* Opens the library with its variables as we want them, and leaves the environment as it was. */
static void *open_library(void)
{
	const char *timeout_was = getenv(TIMEOUT), *statedump_was = getenv(NO_STATEDUMP);
	void *library = NULL;

	set_timeout(NO_WAIT);
	sdw_agent_thread.in_lttng = true;
	if (!putenv(timeout) && !putenv(no_statedump))
		library = dlopen("$ORIGIN/" SDW_HANDLER_FILE, RTLD_NOW | RTLD_LOCAL);
	sdw_agent_thread.in_lttng = false;
	set_timeout(ANSWER_MS);
	restore(TIMEOUT, timeout_was);
	restore(NO_STATEDUMP, statedump_was);
	return library;
}

static void end_all(void)
{
	ended = true;
}

void sdw_agent_lttng_load(void)
{
	void *library, *memory;

	if (!sdw_agent.setup.lttng)
		return;
	memory = mmap(NULL, SCRATCHES * sizeof(*rooms), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return;
	library = open_library();
	provider = library ? dlsym(library, SDW_HANDLER_SYMBOL) : NULL;
	if (!provider) {
		munmap(memory, SCRATCHES * sizeof(*rooms));
		return;
	}
	rooms = memory;
	forks = !dlopen(FORK_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	sdw_agent_close_by(provider->close);
	/* before the library's own destructor, in which events would be dropped without a count */
	(void)atexit(end_all);
	wait_for_session();
}

void sdw_agent_lttng_begin_thread(void)
{
	if (!provider)
		return;
	provider->init_thread();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sdw_agent_thread.traces = true;
}

/* The library forgets the thread next: its tracepoints would take a lock to make themselves known.
 */
void sdw_agent_lttng_end_thread(void)
{
	sdw_agent_thread.traces = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void sdw_agent_lttng_before_fork(void)
{
	if (provider && forks)
		provider->before_fork(&fork_mask);
}

/* In a child the library connects anew; what comes until its session has taken it is counted. */
void sdw_agent_lttng_after_fork(bool child)
{
	if (!provider || !forks)
		return;
	if (!child) {
		provider->after_fork_parent(&fork_mask);
		return;
	}
	sdw_agent_thread.in_lttng = true;
	set_timeout(NO_WAIT);
	provider->after_fork_child(&fork_mask);
	set_timeout(ANSWER_MS);
	sdw_agent_thread.in_lttng = false;
}

/* ---- in the handler ---- */

static bool traces(void)
{
	return provider && !ended && sdw_agent_thread.traces && provider->enabled();
}

/* Decodes a text of a record, whose bytes are at *from, and moves on. */
static const char *text_of(const struct sdw_text *text, bool is_path, const uint8_t **from,
			   char *room)
{
	static const uint8_t widths[] = {[SDW_TEXT_UCS2] = 2, [SDW_TEXT_UCS4] = 4};
	uint32_t bytes = text->bytes < SDW_MAX_NAME_BYTES ? text->bytes : SDW_MAX_NAME_BYTES;
	uint8_t width = text->kind < sizeof(widths) && widths[text->kind] ? widths[text->kind] : 1;
	bool cut = text->kind != SDW_TEXT_NONE && text->length * width > bytes;

	(void)sdw_text_write(room, text->kind, *from, bytes, cut && is_path, cut && !is_path);
	*from += bytes;
	return room;
}

static bool write_code(const struct sdw_record_code *record)
{
	struct event_room *room = &rooms[sdw_agent_thread.scratch];
	const uint8_t *bytes = (const uint8_t *)(record + 1);
	struct sdw_handler_code code = {
		.pid = record->record.pid,
		.id = record->id,
		.object = record->addr,
		.first_line = record->first_line,
		.name = text_of(&record->name, false, &bytes, room->name),
	};

	code.qualname = text_of(&record->qualname, false, &bytes, room->qualname);
	code.file = text_of(&record->filename, true, &bytes, room->file);
	provider->code(sdw_agent.setup.recorder, &code);
	return code.taken;
}

long sdw_agent_announce(const void *bytes, __u64 size)
{
	if (provider && !(traces() && write_code(bytes)))
		rooms[sdw_agent_thread.scratch].lacks_codes = true;
	return sdw_agent_ring_put(bytes, size);
}

void sdw_agent_lttng_prepare(uint32_t at)
{
	if (!traces() || !rooms[at].lacks_codes || !is_taken())
		return;
	rooms[at].lacks_codes = false;
	sdw_agent_forget_codes(at);
}

void sdw_agent_lttng_sample(uint32_t at, struct sdw_handler_sample *sample)
{
	struct sdw_sigpath_counters *count = &sdw_agent.segment->counters;
	const struct sdw_scratch *scratch = scratch_of(at);
	const struct sdw_walk *walk = &scratch->walk;
	struct event_room *room;

	/* without its code objects it would tell nothing: they come with the next */
	if (!traces() || rooms[at].lacks_codes) {
		sdw_agent_count(&count->lttng_off, 1);
		return;
	}
	room = &rooms[at];
	sample->frames = (uint16_t)(walk->count < SDW_MAX_FRAMES ? walk->count : SDW_MAX_FRAMES);
	for (uint32_t i = 0; i < sample->frames; i++) {
		const struct sdw_python_frame *frame = &walk->frames[i];

		room->code[i] = frame->code;
		room->instruction[i] = frame->instruction;
		room->entries[i] =
			(uint8_t)(frame->entries < UINT8_MAX ? frame->entries : UINT8_MAX);
	}
	sample->code = room->code;
	sample->instruction = room->instruction;
	sample->entries = room->entries;
	provider->sample(sdw_agent.setup.recorder, sample);
	sdw_agent_count(sample->taken ? &count->lttng_written : &count->lttng_off, 1);
}
