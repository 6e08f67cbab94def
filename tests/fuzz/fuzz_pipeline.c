// SPDX-License-Identifier: MIT
/*
 * fuzz_pipeline.c - records of the ring buffers through the whole consumer, from image to sink.
 *
 * Input: records, two bytes of size in front of each. Pids are made those of a living process, of
 * none, and of the kernel, so that mappings, code objects and stacks are looked for where something
 * is.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/pipeline.h"
#include "checking_sink.h"

/* Instead of the BPF side. */
static struct sdw_pylayout layouts[5];

const struct sdw_pylayout *sdw_programs_layout(const struct sdw_programs *programs, uint32_t index)
{
	(void)programs;
	return index < 5 ? &layouts[index] : NULL;
}

int sdw_programs_set_interpreter(struct sdw_programs *programs, uint32_t pid, uint32_t epoch,
				 const struct sdw_pylayout *layout, uint64_t runtime_addr,
				 uint64_t code_type_addr)
{
	(void)programs, (void)pid, (void)epoch, (void)layout, (void)runtime_addr,
		(void)code_type_addr;
	return 0;
}

int sdw_programs_layout_index(struct sdw_programs *programs, const struct sdw_pylayout *layout)
{
	(void)programs, (void)layout;
	return 0;
}

void sdw_programs_forget(struct sdw_programs *programs, uint32_t pid, uint32_t epoch)
{
	(void)programs, (void)pid, (void)epoch;
}

static uint32_t living;
static bool use_living; /* slow: its files are read */

/* A process whose mappings and memory can be looked at. */
static void start_living(void)
{
	pid_t child = fork();

	if (child < 0)
		abort();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000000", (char *)NULL);
		_exit(127);
	}
	living = (uint32_t)child;
}

static uint32_t some_pid(uint32_t pid)
{
	const uint32_t pids[] = {use_living ? living : 0x7ffffffc, 0x7ffffffe, 0, 0x7ffffffd};

	return pids[pid % 4];
}

static void settle(struct sdw_record *record, size_t size)
{
	static const uint32_t types[] = {SDW_RECORD_SAMPLE, SDW_RECORD_STACK,	SDW_RECORD_CODE,
					 SDW_RECORD_LIFE,   SDW_RECORD_MAPPING, 77};

	record->type = types[record->type % 6];
	record->pid = some_pid(record->pid);
	if (record->type == SDW_RECORD_LIFE && size >= sizeof(struct sdw_record_life))
		((struct sdw_record_life *)record)->parent_pid =
			some_pid(((struct sdw_record_life *)record)->parent_pid);
	if (record->type != SDW_RECORD_MAPPING)
		return;
	/* these are made by the profiler itself, whole */
	if (size <= sizeof(struct sdw_record_mapping))
		record->type = 77;
	else
		((char *)record)[size - 1] = '\0';
}

static void feed(struct sdw_pipeline *pipeline, struct input *input)
{
	size_t size = input_number(input, 2);
	struct sdw_record *record;

	if (size < sizeof(*record))
		size = sizeof(*record);
	if (size > input->left) /* the last one is what is left, with zeroes behind */
		size = input->left < sizeof(*record) ? sizeof(*record) : input->left;
	record = malloc(size);
	if (!record)
		abort();
	input_copy(input, record, size);
	settle(record, size);
	if (sdw_pipeline_record(pipeline, record, size))
		abort();
	sdw_images_tick(&pipeline->images, record->time_ns);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint32_t flags = (uint32_t)input_number(&input, 1);
	struct checking_sink sink = {.sink.ops = &checking_ops};
	struct sdw_config config = {
		.native = flags & 1 ? SDW_NATIVE_DWARF : SDW_NATIVE_NONE,
		.templates = flags & 2,
		.interpreter_frames = flags & 4,
		.max_memory = flags & 8 ? 1 << 12 : 1 << 24,
	};
	struct sdw_pipeline *pipeline;

	use_living = flags & 16;
	if (!living)
		start_living();
	sdw_log_set_level(SDW_LOG_ERROR);
	for (uint32_t i = 0; i < 5; i++)
		(void)sdw_layout_for_version(0x0308 + i, &layouts[i]);
	if (sdw_pipeline_create(&config, &sink.sink, NULL, 0, &pipeline))
		abort();
	while (input.left)
		feed(pipeline, &input);
	fuzz_assert(pipeline->samples == sink.samples);
	sdw_pipeline_free(pipeline);
	return 0;
}
