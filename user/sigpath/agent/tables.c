// SPDX-License-Identifier: MIT
/*
 * tables.c - the buffers and tables of bpf/maps.bpf.h, in the process's own memory.
 *
 * Where BPF has one set for each processor, the agent has one for each handler that runs at the
 * same time: whoever has taken a scratch has its tables to itself. Untouched pages cost nothing.
 */
#include <errno.h>
#include <sys/mman.h>
#include <string.h>

#include "agent.h"
#include "maps.bpf.h"

#define SCRATCHES 16u

/* What a scratch knows of the interpreter, as the recorder said it last. */
struct known_interpreter {
	uint32_t sequence;
	uint32_t found;
	uint32_t epoch;
	struct sdw_interpreter interpreter;
	struct sdw_pylayout layout;
};

struct tables {
	struct sdw_scratch scratches[SCRATCHES];
	struct known_interpreter known[SCRATCHES];
	struct sdw_cpu_counters counters[SCRATCHES];
	struct sdw_thread_slot threads[SCRATCHES * SDW_THREAD_SLOTS];
	struct sdw_code_slot codes[SCRATCHES * SDW_CODE_SLOTS];
	uint64_t stacks[SCRATCHES * SDW_STACK_SLOTS];
};

static struct tables *tables;
static uint32_t in_use; /* a bit for each scratch */

/* The maps of bpf/ are only names here: sdw_agent_table() knows them by their addresses. */
struct sdw_map_scratch scratches;
struct sdw_map_counters counters;
struct sdw_map_threads threads;
struct sdw_map_codes codes;
struct sdw_map_stacks stacks;
struct sdw_map_interpreters interpreters;
struct sdw_map_layouts layouts;
struct sdw_map_rings rings;

int sdw_agent_tables_create(void)
{
	void *memory = mmap(NULL, sizeof(*tables), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	tables = memory;
	return 0;
}

int sdw_agent_scratch_take(void)
{
	uint32_t used = __atomic_load_n(&in_use, __ATOMIC_RELAXED), bit;

	do {
		bit = ~used & (used + 1); /* the lowest that is free */
		if (!bit || bit >= 1u << SCRATCHES)
			return -1;
	} while (!__atomic_compare_exchange_n(&in_use, &used, used | bit, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return __builtin_ctz(bit);
}

void sdw_agent_scratch_give(uint32_t scratch)
{
	__atomic_fetch_and(&in_use, ~(1u << scratch), __ATOMIC_RELEASE);
}

void sdw_agent_scratch_reset(void)
{
	in_use = 0;
	for (size_t i = 0; i < SCRATCHES; i++)
		tables->known[i].sequence = UINT32_MAX; /* of another segment: nobody's */
}

void sdw_agent_take_interpreter(uint32_t scratch)
{
	const struct sdw_sigpath_interpreter *told = &sdw_agent.segment->interpreter;
	struct known_interpreter *known = &tables->known[scratch], fresh;
	uint32_t sequence = __atomic_load_n(&told->sequence, __ATOMIC_ACQUIRE);

	if (sequence == known->sequence || sequence & 1)
		return; /* being written: the next sample has it */
	fresh.found = told->found;
	fresh.epoch = told->epoch;
	fresh.interpreter = (struct sdw_interpreter){
		.runtime_addr = told->runtime_addr,
		.code_type_addr = told->code_type_addr,
		.supported = told->found == SDW_SIGPATH_PYTHON,
	};
	memcpy(&fresh.layout, &told->layout, sizeof(fresh.layout));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&told->sequence, __ATOMIC_RELAXED) != sequence)
		return;
	fresh.sequence = sequence;
	*known = fresh;
	tables->scratches[scratch].layout = 0; /* to be copied again */
	tables->scratches[scratch].epoch = fresh.epoch;
}

void sdw_agent_forget_codes(uint32_t scratch)
{
	memset(&tables->codes[scratch * SDW_CODE_SLOTS], 0,
	       SDW_CODE_SLOTS * sizeof(tables->codes[0]));
}

void *sdw_agent_table(const void *map, const void *key)
{
	uint32_t scratch = sdw_agent_thread.scratch;

	if (map == &scratches)
		return &tables->scratches[scratch];
	if (map == &threads)
		return &tables->threads[*(const uint32_t *)key % (SCRATCHES * SDW_THREAD_SLOTS)];
	if (map == &codes)
		return &tables->codes[*(const uint32_t *)key % (SCRATCHES * SDW_CODE_SLOTS)];
	if (map == &stacks)
		return &tables->stacks[*(const uint32_t *)key % (SCRATCHES * SDW_STACK_SLOTS)];
	if (map == &counters)
		return &tables->counters[scratch];
	if (map == &interpreters)
		return tables->known[scratch].found == SDW_SIGPATH_NOT_LOOKED
			       ? NULL
			       : &tables->known[scratch].interpreter;
	if (map == &layouts)
		return &tables->known[scratch].layout;
	return map == &rings ? tables : NULL; /* the one ring needs no look-up */
}
