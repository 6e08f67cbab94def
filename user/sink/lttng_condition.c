// SPDX-License-Identifier: MIT
/* lttng_condition.c - see lttng_condition.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sink/lttng_condition.h"

#define SECOND_NS 1000000000u
#define PAUSE_NS  10000000000u /* so often at most a function that is seen asks for a snapshot */

static const char rate[] = "rate>", function[] = "function=";

int sdw_lttng_condition_parse(struct sdw_lttng_condition *condition, const char *text)
{
	char *end;

	*condition = (struct sdw_lttng_condition){0};
	if (!text)
		return 0;
	if (!strncmp(text, rate, strlen(rate))) {
		text += strlen(rate);
		condition->rate = strtod(text, &end);
		return end != text && !*end && condition->rate > 0 ? 0 : -EINVAL;
	}
	if (strncmp(text, function, strlen(function)) != 0 || !text[strlen(function)])
		return -EINVAL;
	condition->function = text + strlen(function);
	return 0;
}

void sdw_lttng_condition_free(struct sdw_lttng_condition *condition)
{
	free(condition->codes.items);
	free(condition->frames.items);
	free(condition->stacks.items);
}

/* The mark of id `marks->count`, which is the next one: ids are dense. */
static int add(struct sdw_lttng_marks *marks, uint32_t id, bool mark)
{
	if (!marks->count && !sdw_array_reserve(marks, 1))
		marks->items[marks->count++] = false; /* of 0, which is none */
	if (id != marks->count)
		return -EINVAL;
	if (sdw_array_reserve(marks, 1))
		return -ENOMEM;
	marks->items[marks->count++] = mark;
	return 0;
}

static bool has(const struct sdw_lttng_marks *marks, uint32_t id)
{
	return id < marks->count && marks->items[id];
}

int sdw_lttng_condition_code(struct sdw_lttng_condition *condition,
			     const struct sdw_code_event *event)
{
	if (!condition->function)
		return 0;
	return add(&condition->codes, event->id,
		   !strcmp(condition->function, event->name) ||
			   !fnmatch(condition->function, event->name, 0));
}

int sdw_lttng_condition_frame(struct sdw_lttng_condition *condition,
			      const struct sdw_frame_event *event)
{
	if (!condition->function)
		return 0;
	return add(&condition->frames, event->id, has(&condition->codes, event->code));
}

int sdw_lttng_condition_stack(struct sdw_lttng_condition *condition,
			      const struct sdw_stack_event *event)
{
	if (!condition->function)
		return 0;
	return add(&condition->stacks, event->id,
		   has(&condition->frames, event->frame) || has(&condition->stacks, event->parent));
}

static bool rate_begins(struct sdw_lttng_condition *condition, uint64_t time_ns)
{
	uint64_t passed_ns = time_ns - condition->second_ns;
	bool was = condition->above;

	condition->samples++;
	if (!condition->second_ns)
		condition->second_ns = time_ns;
	else if (passed_ns >= SECOND_NS) {
		condition->above =
			(double)condition->samples * 1e9 / (double)passed_ns > condition->rate;
		condition->second_ns = time_ns;
		condition->samples = 0;
		return condition->above && !was;
	}
	return false;
}

bool sdw_lttng_condition_sample(struct sdw_lttng_condition *condition, uint64_t time_ns,
				uint32_t stack)
{
	if (condition->rate > 0)
		return rate_begins(condition, time_ns);
	if (!has(&condition->stacks, stack) ||
	    (condition->held_ns && time_ns - condition->held_ns < PAUSE_NS))
		return false;
	condition->held_ns = time_ns;
	return true;
}
