// SPDX-License-Identifier: MIT
/* sched.c - see sched.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "capture/sched.h"
#include "sink/ctf_kernel.h"
#ifdef __clang_analyzer__ /* it does not look into the library, and sees a leak in the skeleton */
#define bpf_object__destroy_skeleton(skeleton) free(skeleton)
#endif
#include "sched.skel.h"

/* of a processor: 14000 switches, drained every 50 ms or when a quarter is taken */
#define RING_BYTES (1u << 20)

struct ring {
	struct sdw_sched *sched;
	uint32_t cpu;
	int fd;
};

struct sdw_sched {
	struct sdw_sched_bpf *skeleton;
	struct ring *rings;
	struct ring_buffer *consumer;
	struct sdw_kernel_trace *trace; /* NULL: not begun */
	char *directory;
	uint32_t processors;
	uint64_t attached_ns;
	uint64_t events;
	uint64_t *lost; /* of each processor, as read last */
	int error;	/* of a callback */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int on_record(void *context, void *data, size_t size)
{
	struct ring *ring = context;
	struct sdw_sched *sched = ring->sched;
	int err = sdw_kernel_trace_add(sched->trace, ring->cpu, data, size);

	if (err)
		sched->error = err;
	else
		sched->events++;
	return err;
}

static int load(struct sdw_sched *sched, const struct sdw_config *config,
		const struct sdw_programs *programs)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = config->btf_path);
	struct sdw_bpf_config bpf = *sdw_programs_bpf_config(programs);
	struct sdw_sched_bpf *skeleton = sdw_sched_bpf__open_opts(&options);
	int err;

	if (!skeleton)
		return -errno;
	sched->skeleton = skeleton;
	bpf.wake_bytes = RING_BYTES / 4;
	memcpy((void *)&skeleton->rodata->sdw_config, &bpf, sizeof(bpf));
	skeleton->rodata->sdw_sched_all = config->all;
	err = bpf_map__reuse_fd(skeleton->maps.processes, sdw_programs_processes_fd(programs));
	err = err ?: bpf_map__set_max_entries(skeleton->maps.rings, sched->processors);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.sched_lost, sched->processors);
	bpf_program__set_autoattach(skeleton->progs.sdw_on_switch, false);
	bpf_program__set_autoattach(skeleton->progs.sdw_on_switch_before_5_18, false);
	return err ?: sdw_sched_bpf__load(skeleton);
}

static int make_rings(struct sdw_sched *sched)
{
	int outer = bpf_map__fd(sched->skeleton->maps.rings), err = 0;

	for (uint32_t i = 0; i < sched->processors && !err; i++) {
		struct ring *ring = &sched->rings[i];

		ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sdw_sched_ring", 0, 0, RING_BYTES,
					  NULL);
		if (ring->fd < 0 || bpf_map_update_elem(outer, &i, &ring->fd, BPF_ANY))
			return -errno;
		if (i) {
			err = ring_buffer__add(sched->consumer, ring->fd, on_record, ring);
			continue;
		}
		sched->consumer = ring_buffer__new(ring->fd, on_record, ring, NULL);
		err = sched->consumer ? 0 : -errno;
	}
	return err;
}

/* The kernel refuses a program that reads more arguments than its tracepoint has. */
static int attach(struct sdw_sched *sched)
{
	struct sdw_sched_bpf *skeleton = sched->skeleton;
	struct bpf_link *link = bpf_program__attach(skeleton->progs.sdw_on_switch);

	if (!link && errno == EINVAL)
		link = bpf_program__attach(skeleton->progs.sdw_on_switch_before_5_18);
	if (!link)
		return -errno;
	skeleton->links.sdw_on_switch = link;
	return sdw_sched_bpf__attach(skeleton);
}

int sdw_sched_open(const struct sdw_config *config, const struct sdw_programs *programs,
		   const char *directory, struct sdw_sched **sched)
{
	struct sdw_sched *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	if (!new)
		return -ENOMEM;
	new->processors = sdw_programs_processors(programs);
	new->directory = strdup(directory);
	new->lost = calloc(new->processors, sizeof(*new->lost));
	new->rings = calloc(new->processors, sizeof(*new->rings));
	for (uint32_t i = 0; new->rings &&i < new->processors; i++)
		new->rings[i] = (struct ring){.sched = new, .cpu = i, .fd = -1};
	if (new->directory &&new->lost &&new->rings)
		err = load(new, config, programs);
	err = err ?: make_rings(new);
	new->attached_ns = now_ns();
	err = err ?: attach(new);
	if (err) {
		sdw_error("cannot follow the scheduler (--sched): %s", strerror(-err));
		sdw_sched_free(new);
		return err;
	}
	*sched = new;
	return 0;
}

int sdw_sched_fd(const struct sdw_sched *sched)
{
	return ring_buffer__epoll_fd(sched->consumer);
}

int sdw_sched_begin(struct sdw_sched *sched, const struct sdw_recording *recording)
{
	int err = sdw_kernel_trace_create(sched->directory, recording, sched->processors,
					  sched->attached_ns, &sched->trace);

	if (err)
		sdw_error("cannot create the kernel trace %s: %s", sched->directory,
			  strerror(-err));
	return err;
}

static int take_lost(struct sdw_sched *sched)
{
	int fd = bpf_map__fd(sched->skeleton->maps.sched_lost), err = 0;

	for (uint32_t i = 0; i < sched->processors && !err; i++) {
		if (bpf_map_lookup_elem(fd, &i, &sched->lost[i]))
			return -errno;
		err = sdw_kernel_trace_set_lost(sched->trace, i, sched->lost[i]);
	}
	return err;
}

int sdw_sched_drain(struct sdw_sched *sched)
{
	int err;

	if (!sched->trace)
		return 0;
	err = ring_buffer__consume(sched->consumer);
	if (err < 0)
		return sched->error ? sched->error : err;
	return take_lost(sched);
}

int sdw_sched_flush(struct sdw_sched *sched)
{
	return sched->trace ? sdw_kernel_trace_flush(sched->trace) : 0;
}

void sdw_sched_stop(struct sdw_sched *sched)
{
	sdw_sched_bpf__detach(sched->skeleton);
}

struct sdw_sched_totals sdw_sched_count(const struct sdw_sched *sched)
{
	struct sdw_sched_totals totals = {.events = sched->events};

	for (uint32_t i = 0; i < sched->processors; i++)
		totals.lost += sched->lost[i];
	return totals;
}

void sdw_sched_free(struct sdw_sched *sched)
{
	if (!sched)
		return;
	(void)sdw_kernel_trace_close(sched->trace); /* what was not flushed is lost, and was said */
	ring_buffer__free(sched->consumer);
	for (uint32_t i = 0; sched->rings && i < sched->processors; i++) {
		if (sched->rings[i].fd >= 0)
			close(sched->rings[i].fd);
	}
	sdw_sched_bpf__destroy(sched->skeleton);
	free(sched->rings);
	free(sched->lost);
	free(sched->directory);
	free(sched);
}
