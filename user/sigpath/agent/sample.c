// SPDX-License-Identifier: MIT
/*
 * sample.c - what the handler does: as bpf/sample.bpf.c, in the interrupted thread itself.
 *
 * In:  the registers of the signal frame, and what the kernel said of the overflow.
 * Out: a record in the ring, before it the stack and the code objects that it names.
 */
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "agent.h"
#include "handler_events.h"
#include "sink.h"
#include "maps.bpf.h"
#include "walk.bpf.h"

#define ABANDONED_NS  10000000000u /* a full ring that nobody has read for so long */
#define NAME_CHECK_NS 100000000u   /* how long a thread's name is taken to be the same */

/* The part of the record that lies behind struct sdw_record_sample, in front of the stacks. */
struct tail {
	uint64_t overflow_ns;
	uint32_t merged;
	uint16_t native_frames;
	uint8_t native_end, delivery;
};
_Static_assert(sizeof(struct sdw_record_sample) + sizeof(struct tail) ==
		       sizeof(struct sdw_record_signal_sample),
	       "as in sigpath.h");

/* Announces the thread, unless this scratch has, or its name is another now. */
static void take_thread(uint32_t at, struct sdw_scratch *scratch)
{
	uint32_t key = at * SDW_THREAD_SLOTS + (scratch->tid & (SDW_THREAD_SLOTS - 1));
	struct sdw_thread_slot *slot = bpf_map_lookup_elem(&threads, &key);
	struct sdw_record_life life = {.what = SDW_LIFE_THREAD_SEEN, .tid = scratch->tid};
	uint64_t comm[2] = {0, 0};

	if (slot->tid == scratch->tid && slot->epoch == scratch->epoch &&
	    scratch->now_ns - slot->named_ns < NAME_CHECK_NS)
		return;
	sdw_agent_syscall(SYS_prctl, PR_GET_NAME, (long)comm, 0, 0, 0, 0);
	if (slot->tid != scratch->tid || slot->epoch != scratch->epoch)
		*slot = (struct sdw_thread_slot){.tid = scratch->tid, .epoch = scratch->epoch};
	slot->named_ns = scratch->now_ns;
	if (sdw_agent.setup.paired || (slot->comm[0] == comm[0] && slot->comm[1] == comm[1]))
		return; /* the BPF side tells names */
	slot->comm[0] = comm[0];
	slot->comm[1] = comm[1];
	fill_record(&life.record, SDW_RECORD_LIFE, sizeof(life), scratch);
	__builtin_memcpy(life.comm, comm, sizeof(comm));
	(void)sdw_agent_ring_put(&life, sizeof(life)); /* it is told again when the name changes */
}

static void keep_registers(struct sdw_registers *to, const ucontext_t *context)
{
	const greg_t *from = context->uc_mcontext.gregs;

	*to = (struct sdw_registers){
		.ip = (uint64_t)from[REG_RIP],
		.sp = (uint64_t)from[REG_RSP],
		.bp = (uint64_t)from[REG_RBP],
		.bx = (uint64_t)from[REG_RBX],
		.r12 = (uint64_t)from[REG_R12],
		.r13 = (uint64_t)from[REG_R13],
		.r14 = (uint64_t)from[REG_R14],
		.r15 = (uint64_t)from[REG_R15],
	};
}

/* Sends the Python stack unless this scratch has sent it before. Returns 0, or -1: no room. */
static int send_stack(uint32_t at, struct sdw_scratch *scratch, __u64 *id)
{
	struct sdw_walk *walk = &scratch->walk;
	size_t size = sizeof(walk->stack) + walk->count * sizeof(walk->frames[0]);
	uint64_t *sent;
	uint32_t key;

	*id = 0;
	if (!walk->count || walk->count > SDW_MAX_FRAMES)
		return 0;
	*id = sdw_walk_id(walk);
	key = at * SDW_STACK_SLOTS + ((uint32_t)*id & (SDW_STACK_SLOTS - 1));
	sent = bpf_map_lookup_elem(&stacks, &key);
	if (*sent == *id)
		return 0;
	walk->stack.id = *id;
	walk->stack.frames = walk->count;
	walk->stack.status = walk->status;
	fill_record(&walk->stack.record, SDW_RECORD_STACK, (uint32_t)size, scratch);
	if (sdw_agent_ring_put(&walk->stack, size))
		return -1;
	*sent = *id;
	return 0;
}

/* libunwind from the interrupted instruction on. Returns the number of addresses. */
static uint16_t unwind(const ucontext_t *context, uint64_t *addresses, uint32_t max, uint8_t *end)
{
	unw_cursor_t cursor;
	uint16_t count = 0;
	unw_word_t ip;
	int step;

	*end = SDW_SIGNAL_NATIVE_STOPPED;
	if (!sdw_agent_objects_ready())
		return 0;
	if (unw_init_local2(&cursor, (unw_context_t *)(uintptr_t)context, UNW_INIT_SIGNAL_FRAME))
		return 0;
	while (count < max) {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip)
			break;
		addresses[count++] = ip;
		step = unw_step(&cursor);
		if (step <= 0) {
			if (!step)
				*end = SDW_SIGNAL_NATIVE_COMPLETE;
			return count;
		}
	}
	if (count == max)
		*end = SDW_SIGNAL_NATIVE_LIMIT;
	else
		*end = SDW_SIGNAL_NATIVE_COMPLETE; /* the outermost frame's return address is 0 */
	return count;
}

/* Native stack behind the tail. Returns the bytes of the whole record. */
static uint32_t add_native(uint32_t at, struct sdw_scratch *scratch, const ucontext_t *context,
			   struct tail *tail)
{
	struct sdw_record_sample *sample = &scratch->sample.record;
	uint32_t used = sizeof(*tail);

	sample->kernel_frames = 0;
	sample->stack_bytes = 0;
	if (sdw_agent.setup.unwind == SDW_SIGPATH_UNWIND_ONLINE) {
		tail->native_frames =
			unwind(context, (uint64_t *)(void *)(scratch->sample.bytes + used),
			       sdw_agent.setup.unwind_depth, &tail->native_end);
		used += tail->native_frames * 8u;
	} else if (sdw_agent.setup.unwind == SDW_SIGPATH_UNWIND_OFFLINE) {
		sample->stack_bytes = (uint32_t)sdw_copy_stack(at, used);
		used += sample->stack_bytes;
	}
	return (uint32_t)sizeof(*sample) + used;
}

/* The same as the record in the ring, as an event. */
static void trace_sample(uint32_t at, const struct sdw_scratch *scratch, const struct tail *tail)
{
	const struct sdw_record_sample *record = &scratch->sample.record;
	struct sdw_handler_sample sample = {
		.pid = scratch->pid,
		.tid = scratch->tid,
		.overflow_ns = tail->overflow_ns,
		.handler_ns = scratch->now_ns,
		.period = record->period,
		.merged = tail->merged,
		.cpu = record->cpu,
		.status = record->status,
		.flags = record->flags,
		.delivery = tail->delivery,
		.native_end = tail->native_end,
		.addresses = tail->native_frames,
		.address = (const uint64_t *)(const void *)(scratch->sample.bytes + sizeof(*tail)),
	};

	sdw_agent_lttng_sample(at, &sample);
}

static int make_sample(uint32_t at, const ucontext_t *context, uint64_t entry_ns, bool blocked,
		       const struct sdw_agent_overflows *overflows)
{
	struct sdw_scratch *scratch = scratch_of(at);
	struct sdw_record_sample *sample = &scratch->sample.record;
	struct tail tail = {.overflow_ns = overflows->first_ns ? overflows->first_ns : entry_ns,
			    .merged = (uint32_t)(overflows->count - 1)};
	struct sdw_agent_overflows late;
	unsigned int cpu = 0;
	uint32_t size;
	int err;

	scratch->now_ns = entry_ns;
	scratch->pid = sdw_agent.setup.pid;
	scratch->tid = (uint32_t)sdw_agent_thread.tid;
	sdw_agent_take_interpreter(at);
	take_thread(at, scratch);
	scratch->thread_pointer = (uint64_t)__builtin_thread_pointer();
	scratch->stack_end = sdw_agent_thread.tid == sdw_agent.pid ? sdw_agent.stack_end
								   : scratch->thread_pointer;
	(void)getcpu(&cpu, NULL);
	sample->tid = scratch->tid;
	sample->cpu = (uint16_t)cpu;
	sample->flags = overflows->kernel ? SDW_SAMPLE_KERNEL_MODE : 0;
	sample->period = overflows->period;
	keep_registers(&sample->registers, context);
	scratch->walk.count = 0;
	if (sdw_agent.setup.lttng)
		sdw_agent_lttng_prepare(at);
	sample->status = (uint8_t)sdw_walk_python(at);
	err = send_stack(at, scratch, &sample->python_stack);
	tail.delivery = (uint8_t)((overflows->kernel ? SDW_SIGNAL_AFTER_KERNEL : 0) |
				  (blocked ? SDW_SIGNAL_BLOCKED : 0) |
				  (overflows->tid != scratch->tid ? SDW_SIGNAL_WRONG_THREAD : 0) |
				  (overflows->first_ns ? 0 : SDW_SIGNAL_NO_TIME));
	size = add_native(at, scratch, context, &tail);
	/*
	 * Overflows of the handler itself are told with this one; their signal waits, and finds
	 * nothing to do. Else a handler longer than a period would let the program stand still.
	 */
	if (sdw_agent_thread.page) {
		sdw_agent_event_read(&late);
		tail.merged += (uint32_t)late.count;
		sdw_agent_count(&sdw_agent.segment->counters.merged, late.count);
	}
	if (sdw_agent.setup.lttng)
		trace_sample(at, scratch, &tail);
	if (err)
		return err;
	__builtin_memcpy(scratch->sample.bytes, &tail, sizeof(tail));
	fill_record(&sample->record, SDW_RECORD_SIGNAL_SAMPLE, size, scratch);
	return (int)sdw_agent_ring_put(&scratch->sample, size);
}

/*
 * Nobody has read the ring for long: the recorder is gone, and the program need not pay for what
 * nobody wants. The event of this thread stops.
 */
static void on_full(uint64_t now_ns)
{
	uint64_t tail = __atomic_load_n(&sdw_agent.segment->ring.tail, __ATOMIC_RELAXED);

	if (tail != sdw_agent.full_tail || !sdw_agent.full_ns) {
		sdw_agent.full_tail = tail;
		sdw_agent.full_ns = now_ns;
	} else if (now_ns > sdw_agent.full_ns && now_ns - sdw_agent.full_ns > ABANDONED_NS) {
		sdw_agent_syscall(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0, 0);
	}
}

void sdw_agent_sample(const ucontext_t *context, uint64_t entry_ns, bool blocked,
		      const struct sdw_agent_overflows *overflows)
{
	struct sdw_sigpath_counters *count = &sdw_agent.segment->counters;
	int scratch;

	sdw_agent_count(&count->handlers, 1);
	sdw_agent_count(&count->merged, overflows->count - 1);
	scratch = sdw_agent_scratch_take();
	if (scratch < 0) {
		sdw_agent_count(&count->no_scratch, 1);
		return;
	}
	sdw_agent_thread.scratch = (uint32_t)scratch;
	if (make_sample((uint32_t)scratch, context, entry_ns, blocked, overflows)) {
		sdw_agent_count(&count->ring_full, 1);
		on_full(entry_ns);
	}
	sdw_agent_scratch_give((uint32_t)scratch);
}
