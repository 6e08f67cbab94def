// SPDX-License-Identifier: MIT
/*
 * unwind.c - unwinds the native stack of one sample.
 *
 * In:  registers and stack bytes as the BPF side copied them. Out: program counters, innermost
 * first, and why they end. Steps come from templates where there are any, otherwise from libunwind.
 */
#include <errno.h>
#include <stdlib.h>

#include "unwind/template.h"
#include "unwind/trampoline.h"
#include "unwind/unwind.h"

struct sdw_unwinder {
	struct sdw_maps *maps;
	struct sdw_library *library;
	struct sdw_templates templates;
	struct sdw_unwind_statistics *statistics;
	bool use_templates;
	uint64_t *other; /* verify mode: program counters of the other way */
};

/* Where a walk has come to. */
struct walk {
	struct sdw_memory *memory;
	struct sdw_frame frame;
	uint64_t *pcs;
	size_t max, count;
};

int sdw_unwinder_create(struct sdw_maps *maps, bool templates, bool verify,
			struct sdw_unwind_statistics *statistics, struct sdw_unwinder **created)
{
	struct sdw_unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	unwinder->maps = maps;
	unwinder->statistics = statistics;
	unwinder->use_templates = templates;
	err = sdw_library_create(maps, &unwinder->library);
	if (!err && templates && verify) {
		unwinder->other = calloc(SDW_MAX_NATIVE_FRAMES, sizeof(*unwinder->other));
		err = unwinder->other ? 0 : -ENOMEM;
	}
	if (err) {
		sdw_unwinder_free(unwinder);
		return err;
	}
	*created = unwinder;
	return 0;
}

void sdw_unwinder_free(struct sdw_unwinder *unwinder)
{
	if (!unwinder)
		return;
	sdw_templates_free(&unwinder->templates);
	sdw_library_free(unwinder->library);
	free(unwinder->other);
	free(unwinder);
}

static bool is_executable(struct sdw_maps *maps, uint64_t address)
{
	const struct sdw_mapping *mapping = sdw_maps_find(maps, address);

	return mapping && mapping->executable;
}

/*
 * A step out of code that was made at run time: it has no tables, but most of it keeps a frame
 * pointer. Taken only where that leads to a place that can be a caller; what the code did with the
 * other registers is not known.
 */
static enum sdw_step step_by_frame_pointer(struct sdw_maps *maps, const struct sdw_memory *memory,
					   struct sdw_frame *frame)
{
	const struct sdw_mapping *mapping = sdw_maps_find(maps, sdw_frame_lookup(frame));
	uint64_t bp = frame->registers[SDW_REGISTER_BP], caller_bp, pc;

	if (!mapping || !mapping->executable || mapping->inode || mapping->elf ||
	    !(frame->known & 1u << SDW_REGISTER_BP) || bp % sizeof(bp) ||
	    bp < frame->registers[SDW_REGISTER_SP] ||
	    !sdw_memory_read_stack(memory, bp, &caller_bp) ||
	    !sdw_memory_read_stack(memory, bp + sizeof(bp), &pc) || !is_executable(maps, pc))
		return SDW_STEP_NO_TABLES;
	*frame = (struct sdw_frame){.pc = pc, .caller = true};
	frame->registers[SDW_REGISTER_SP] = bp + 2 * sizeof(bp);
	frame->registers[SDW_REGISTER_BP] = caller_bp;
	frame->known = 1u << SDW_REGISTER_SP | 1u << SDW_REGISTER_BP;
	return SDW_STEP_MOVED;
}

static enum sdw_unwind_end end_of(enum sdw_step step)
{
	switch (step) {
	case SDW_STEP_MOVED:
		return SDW_UNWIND_TOO_DEEP;
	case SDW_STEP_END:
		return SDW_UNWIND_COMPLETE;
	case SDW_STEP_NO_TABLES:
		return SDW_UNWIND_NO_TABLES;
	case SDW_STEP_NO_STACK:
		return SDW_UNWIND_NO_STACK;
	default:
		return SDW_UNWIND_BAD;
	}
}

static enum sdw_step step_out_of_made_code(struct sdw_maps *maps, struct walk *walk)
{
	uint64_t sp = walk->frame.registers[SDW_REGISTER_SP];
	enum sdw_step step = SDW_STEP_MOVED;
	struct sdw_template form;

	if (!sdw_trampoline_find(maps, &walk->frame, &form) ||
	    !sdw_template_apply(&form, walk->memory, &walk->frame))
		step = step_by_frame_pointer(maps, walk->memory, &walk->frame);
	else if (!sdw_frame_is_sane(&walk->frame, sp))
		step = SDW_STEP_BAD;
	if (step == SDW_STEP_MOVED)
		walk->pcs[walk->count++] = walk->frame.pc;
	return step;
}

/* Without a template: libunwind's way for up to `max` steps, with a step out of run-time code
 * between. */
static enum sdw_step walk_by_library(struct sdw_unwinder *unwinder, struct walk *walk, size_t max)
{
	size_t before = walk->count, goal = before + max;
	enum sdw_step step = SDW_STEP_MOVED;

	while (step == SDW_STEP_MOVED && walk->count < goal) {
		step = sdw_library_walk(unwinder->library, walk->memory, &walk->frame, walk->pcs,
					goal - walk->count, &walk->count);
		if (step == SDW_STEP_NO_TABLES)
			step = step_out_of_made_code(unwinder->maps, walk);
	}
	unwinder->statistics->library_steps += walk->count - before + (step != SDW_STEP_MOVED);
	return step;
}

/* One step by a template; *step stays as it is if it leads on. False: it cannot be taken this way.
 */
static bool step_by_template(const struct sdw_template *form, struct walk *walk,
			     enum sdw_step *step)
{
	uint64_t sp = walk->frame.registers[SDW_REGISTER_SP];

	switch (form->kind) {
	case SDW_TEMPLATE_STEP:
		if (!sdw_template_apply(form, walk->memory, &walk->frame))
			return false;
		if (!walk->frame.pc)
			*step = SDW_STEP_END;
		else if (!sdw_frame_is_sane(&walk->frame, sp))
			*step = SDW_STEP_BAD;
		else
			walk->pcs[walk->count++] = walk->frame.pc;
		return true;
	case SDW_TEMPLATE_END:
		*step = SDW_STEP_END;
		return true;
	case SDW_TEMPLATE_NO_TABLES:
		*step = SDW_STEP_NO_TABLES;
		return true;
	default:
		return false;
	}
}

static int walk_by_templates(struct sdw_unwinder *unwinder, struct walk *walk, enum sdw_step *step)
{
	struct sdw_unwind_statistics *statistics = unwinder->statistics;
	uint64_t library_steps = statistics->library_steps, template_steps = 0;

	*step = SDW_STEP_MOVED;
	while (*step == SDW_STEP_MOVED && walk->count < walk->max) {
		const struct sdw_template *form =
			sdw_template_find(&unwinder->templates, &walk->frame);

		if (form && !walk->frame.caller)
			sdw_template_popped(form, &walk->frame, walk->memory);
		if (form && step_by_template(form, walk, step)) {
			template_steps++;
			continue;
		}
		if (!form && sdw_template_learn(&unwinder->templates, unwinder->library,
						unwinder->maps, &walk->frame, &form))
			return -ENOMEM;
		if (form && !walk->frame.caller)
			sdw_template_popped(form, &walk->frame, walk->memory);
		*step = walk_by_library(unwinder, walk, 1);
		if (sdw_library_is_out_of_memory(unwinder->library))
			return -ENOMEM;
	}
	statistics->template_steps += template_steps;
	statistics->template_samples += statistics->library_steps == library_steps;
	return 0;
}

static int walk_whole(struct sdw_unwinder *unwinder, struct walk *walk, enum sdw_step *step)
{
	*step = walk_by_library(unwinder, walk, walk->max - walk->count);
	return sdw_library_is_out_of_memory(unwinder->library) ? -ENOMEM : 0;
}

static void start(struct walk *walk, struct sdw_memory *memory, uint8_t known,
		  const struct sdw_registers *registers, uint64_t *pcs, size_t max)
{
	*walk = (struct walk){.memory = memory, .pcs = pcs, .max = max};
	walk->frame = (struct sdw_frame){
		.pc = registers->ip,
		.registers = {[SDW_REGISTER_SP] = registers->sp,
			      [SDW_REGISTER_BP] = registers->bp,
			      [SDW_REGISTER_BX] = registers->bx,
			      [SDW_REGISTER_R12] = registers->r12,
			      [SDW_REGISTER_R13] = registers->r13,
			      [SDW_REGISTER_R14] = registers->r14,
			      [SDW_REGISTER_R15] = registers->r15},
		.known = known,
	};
	if (max)
		walk->pcs[walk->count++] = registers->ip;
}

/* Verify mode: the same sample by libunwind alone, not counted as work. */
static int verify(struct sdw_unwinder *unwinder, const struct walk *walk, enum sdw_step step,
		  const struct sdw_registers *registers)
{
	struct sdw_unwind_statistics *statistics = unwinder->statistics;
	uint64_t library_steps = statistics->library_steps;
	size_t max = walk->max < SDW_MAX_NATIVE_FRAMES ? walk->max : SDW_MAX_NATIVE_FRAMES;
	enum sdw_step other_step;
	struct walk other;
	int err;

	start(&other, walk->memory, SDW_ALL_REGISTERS, registers, unwinder->other, max);
	err = walk_whole(unwinder, &other, &other_step);
	statistics->library_steps = library_steps;
	if (err)
		return err;
	statistics->verified++;
	if (other_step != step || other.count != walk->count ||
	    memcmp(other.pcs, walk->pcs, walk->count * sizeof(*walk->pcs)) != 0)
		statistics->differed++;
	return 0;
}

static int unwind(struct sdw_unwinder *unwinder, uint8_t known,
		  const struct sdw_registers *registers, const void *stack, size_t stack_size,
		  uint64_t *pcs, size_t max, size_t *count)
{
	struct sdw_memory memory = {
		.stack = stack,
		.stack_start = registers->sp,
		.stack_size = stack_size,
		.maps = unwinder->maps,
	};
	enum sdw_step step = SDW_STEP_MOVED;
	struct walk walk;
	int err;

	if (max > SDW_MAX_NATIVE_FRAMES)
		max = SDW_MAX_NATIVE_FRAMES;
	start(&walk, &memory, known, registers, pcs, max);
	unwinder->statistics->samples++;
	if (unwinder->use_templates) {
		sdw_templates_check(&unwinder->templates, unwinder->maps);
		err = walk_by_templates(unwinder, &walk, &step);
	} else {
		err = walk_whole(unwinder, &walk, &step);
	}
	*count = walk.count;
	if (!err && unwinder->other && known == SDW_ALL_REGISTERS)
		err = verify(unwinder, &walk, step, registers);
	return err ? err : (int)end_of(step);
}

int sdw_unwind(struct sdw_unwinder *unwinder, const struct sdw_registers *registers,
	       const void *stack, size_t stack_size, uint64_t *pcs, size_t max, size_t *count)
{
	return unwind(unwinder, SDW_ALL_REGISTERS, registers, stack, stack_size, pcs, max, count);
}

int sdw_unwind_sleeping(struct sdw_unwinder *unwinder, const struct sdw_registers *registers,
			const void *stack, size_t stack_size, uint64_t *pcs, size_t max,
			size_t *count)
{
	return unwind(unwinder, 1u << SDW_REGISTER_SP, registers, stack, stack_size, pcs, max,
		      count);
}
