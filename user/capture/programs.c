// SPDX-License-Identifier: MIT
/* programs.c - opens, sizes, loads and attaches the BPF skeleton. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "capture/cgroup_target.h"
#include "capture/programs.h"
#ifdef __clang_analyzer__ /* it does not look into the library, and sees a leak in the skeleton */
#define bpf_object__destroy_skeleton(skeleton) free(skeleton)
#endif
#include "sidewinder.skel.h"

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define BPF_LOG_BYTES	      (16u << 20)

struct sdw_programs {
	struct sdw_bpf *skeleton;
	unsigned int processors;
	int *rings;
	struct sdw_pylayout layouts[SDW_MAX_LAYOUTS];
	uint32_t layout_count;
	struct bpf_program *overflow; /* the one that is loaded */
};

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[1024];
	size_t size;

	(void)level;
	if (sdw_log_level() < SDW_LOG_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	size = strlen(line);
	if (size && line[size - 1] == '\n')
		line[size - 1] = '\0';
	sdw_debug("%s", line);
	return 0;
}

/* The inode of our pid namespace, 0 in the initial one. */
static uint32_t own_namespace(void)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || status.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	return (uint32_t)status.st_ino;
}

static void configure(struct sdw_programs *programs, const struct sdw_config *config,
		      bool only_known)
{
	struct sdw_bpf_config bpf = {
		.processors = programs->processors,
		.stack_bytes = config->native == SDW_NATIVE_NONE ? 0 : config->stack_bytes,
		.kernel_stacks = config->kernel,
		.only_known = only_known,
		.follow_forks = config->children || config->command,
		.namespace_inode = own_namespace(),
		.own_pid = (uint32_t)getpid(),
		.cgroup_filter = config->groups && (!config->groups->by_event),
		.cgroup_subsystem = config->groups ? config->groups->subsystem : 0,
		.tracepoint_period = config->period ? config->period : 1,
		.wake_bytes = config->ring_bytes / 4,
		.signal_too = config->path == SDW_PATH_BOTH,
	};

	if (bpf.stack_bytes > SDW_MAX_STACK_BYTES)
		bpf.stack_bytes = SDW_MAX_STACK_BYTES;
	memcpy((void *)&programs->skeleton->rodata->sdw_config, &bpf, sizeof(bpf));
}

static int size_tables(struct sdw_programs *programs)
{
	struct sdw_bpf *skeleton = programs->skeleton;
	unsigned int n = programs->processors;
	int err;

	err = bpf_map__set_max_entries(skeleton->maps.scratches, n);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.counters, n);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.threads, n * SDW_THREAD_SLOTS);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.codes, n * SDW_CODE_SLOTS);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.stacks, n * SDW_STACK_SLOTS);
	err = err ?: bpf_map__set_max_entries(skeleton->maps.rings, n);
	return err;
}

static int open_skeleton(struct sdw_programs *programs, const struct sdw_config *config)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = config->btf_path);
	int err;

	programs->skeleton = sdw_bpf__open_opts(&options);
	if (!programs->skeleton) {
		err = -errno;
		sdw_error("cannot open the BPF programs: %s", strerror(-err));
		return err;
	}
	return 0;
}

/* Writes the verifier's words to the file that --bpf-log names. */
static void write_log(const char *path, const char *log)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file) {
		if (fd >= 0)
			close(fd);
		sdw_warn("%s: cannot write the log of the BPF verifier: %s", path, strerror(errno));
		return;
	}
	if (fputs(log, file) < 0 || fclose(file))
		sdw_warn("%s: cannot write the log of the BPF verifier: %s", path, strerror(errno));
}

/* What to add to a refusal that the limit of locked memory may be the reason of. */
static const char *memory_hint(int error)
{
	struct rlimit limit;

	if (error != -EPERM || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return "";
	return "; kernels before 5.11 count tables as locked memory: raise ulimit -l, or add "
	       "CAP_SYS_RESOURCE";
}

static int load_skeleton(struct sdw_programs *programs, const struct sdw_config *config)
{
	char *log = NULL;
	int err;

	if (config->bpf_log_path) {
		log = calloc(1, BPF_LOG_BYTES);
		if (!log)
			return -ENOMEM;
		bpf_program__set_log_level(programs->overflow, 1);
		bpf_program__set_log_buf(programs->overflow, log, BPF_LOG_BYTES);
	}
	err = sdw_bpf__load(programs->skeleton);
	if (!err && !programs->skeleton->bss) /* libbpf goes on where its mapping fails */
		err = -ENOMEM;
	if (log)
		write_log(config->bpf_log_path, log);
	free(log);
	if (err)
		sdw_error(
			"the kernel does not load the BPF programs: %s (--bpf-log FILE keeps the verifier's words)%s",
			strerror(-err), memory_hint(err));
	return err;
}

static int make_rings(struct sdw_programs *programs, uint32_t bytes)
{
	int outer = bpf_map__fd(programs->skeleton->maps.rings);

	programs->rings = malloc(programs->processors * sizeof(*programs->rings));
	if (!programs->rings)
		return -ENOMEM;
	for (unsigned int i = 0; i < programs->processors; i++)
		programs->rings[i] = -1;
	for (uint32_t i = 0; i < programs->processors; i++) {
		programs->rings[i] =
			bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sdw_ring", 0, 0, bytes, NULL);
		if (programs->rings[i] < 0 ||
		    bpf_map_update_elem(outer, &i, &programs->rings[i], BPF_ANY)) {
			int err = -errno;

			sdw_error("cannot make a ring buffer of %u bytes for processor %u: %s%s",
				  bytes, i, strerror(-err), memory_hint(err));
			return err;
		}
	}
	return 0;
}

/* The groups whose tasks are targets; not needed where their events see to that. */
static int fill_groups(struct sdw_programs *programs, const struct sdw_cgroup_targets *groups)
{
	int table = bpf_map__fd(programs->skeleton->maps.groups);
	uint32_t is_target = 1;

	for (size_t i = 0; groups && i < groups->count; i++) {
		if (bpf_map_update_elem(table, &groups->items[i].id, &is_target, BPF_ANY))
			return -errno;
	}
	return 0;
}

/*
 * Only the program that the event needs is loaded, in the variant that the kernel can run (bpf_loop
 * came with 5.17).
 */
static void choose_program(struct sdw_programs *programs, bool tracepoint)
{
	struct sdw_bpf *skeleton = programs->skeleton;
	enum bpf_prog_type type = tracepoint ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_PERF_EVENT;
	bool bounded = libbpf_probe_bpf_helper(type, BPF_FUNC_loop, NULL) != 1;
	struct bpf_program *const variants[] = {
		skeleton->progs.sdw_on_perf_event,
		skeleton->progs.sdw_on_perf_event_bounded,
		skeleton->progs.sdw_on_tracepoint,
		skeleton->progs.sdw_on_tracepoint_bounded,
	};
	unsigned int chosen = 2 * tracepoint + bounded;

	for (unsigned int i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		bpf_program__set_autoload(variants[i], i == chosen);
	programs->overflow = variants[chosen];
}

int sdw_programs_load(const struct sdw_config *config, bool only_known,
		      struct sdw_programs **programs)
{
	bool tracepoint = config->event.type == PERF_TYPE_TRACEPOINT;
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	struct sdw_programs *new;
	int err;

	libbpf_set_print(print_libbpf);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* kernels before 5.11; not fatal where it fails */
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->processors = (unsigned int)libbpf_num_possible_cpus();
	err = open_skeleton(new, config);
	if (err)
		goto out;
	choose_program(new, tracepoint);
	configure(new, config, only_known || (tracepoint && !config->all && !config->groups));
	err = size_tables(new);
	err = err ?: load_skeleton(new, config);
	err = err ?: fill_groups(new, config->groups);
	err = err ?: make_rings(new, config->ring_bytes);
	if (err)
		goto out;
	err = sdw_bpf__attach(new->skeleton);
	if (err)
		sdw_error("cannot follow processes (tracepoints sched_process_*): %s",
			  strerror(-err));
out:
	if (err) {
		sdw_programs_free(new);
		return err;
	}
	*programs = new;
	return 0;
}

int sdw_programs_none(struct sdw_programs **programs)
{
	*programs = calloc(1, sizeof(**programs));
	return *programs ? 0 : -ENOMEM;
}

void sdw_programs_free(struct sdw_programs *programs)
{
	if (!programs)
		return;
	for (unsigned int i = 0; programs->rings && i < programs->processors; i++) {
		if (programs->rings[i] >= 0)
			close(programs->rings[i]);
	}
	free(programs->rings);
	if (programs->skeleton)
		sdw_bpf__destroy(programs->skeleton);
	free(programs);
}

int sdw_programs_overflow_fd(const struct sdw_programs *programs)
{
	return bpf_program__fd(programs->overflow);
}

unsigned int sdw_programs_processors(const struct sdw_programs *programs)
{
	return programs->processors;
}

int sdw_programs_ring_fd(const struct sdw_programs *programs, unsigned int processor)
{
	return programs->rings[processor];
}

int sdw_programs_processes_fd(const struct sdw_programs *programs)
{
	return bpf_map__fd(programs->skeleton->maps.processes);
}

const struct sdw_bpf_config *sdw_programs_bpf_config(const struct sdw_programs *programs)
{
	return (const struct sdw_bpf_config *)&programs->skeleton->rodata->sdw_config;
}

int sdw_programs_life_ring_fd(const struct sdw_programs *programs)
{
	return bpf_map__fd(programs->skeleton->maps.life_ring);
}

int sdw_programs_add_process(struct sdw_programs *programs, uint32_t pid, uint32_t epoch)
{
	uint32_t slot[2] = {epoch, 0};

	if (programs->skeleton &&
	    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.processes), &pid, slot,
				BPF_ANY))
		return -errno;
	return 0;
}

int sdw_programs_layout_index(struct sdw_programs *programs, const struct sdw_pylayout *layout)
{
	uint32_t i;

	for (i = 0; i < programs->layout_count; i++) {
		if (!memcmp(&programs->layouts[i], layout, sizeof(*layout)))
			return (int)i;
	}
	if (i == SDW_MAX_LAYOUTS)
		return -ENOSPC;
	if (programs->skeleton &&
	    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.layouts), &i, layout, BPF_ANY))
		return -errno;
	programs->layouts[i] = *layout;
	programs->layout_count++;
	return (int)i;
}

int sdw_programs_set_interpreter(struct sdw_programs *programs, uint32_t pid, uint32_t epoch,
				 const struct sdw_pylayout *layout, uint64_t runtime_addr,
				 uint64_t code_type_addr)
{
	uint64_t key = (uint64_t)pid << 32 | epoch;
	struct sdw_interpreter value = {.runtime_addr = runtime_addr,
					.code_type_addr = code_type_addr};
	int index;

	if (layout) {
		index = sdw_programs_layout_index(programs, layout);
		if (index < 0)
			return index;
		value.layout = (uint32_t)index;
		value.supported = 1;
	}
	if (programs->skeleton &&
	    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.interpreters), &key, &value,
				BPF_ANY))
		return -errno;
	return 0;
}

/* The next entry after *key; the first, where `first`. Returns whether there is one. */
static bool next_entry(int map, void *key, bool first)
{
	return !bpf_map_get_next_key(map, first ? NULL : key, key);
}

/* Removes interpreters of processes that are not in the table of processes, or are others now. */
static void sweep_interpreters(int interpreters, int processes)
{
	uint64_t key = 0, next;
	uint32_t slot[2], pid;
	bool more = next_entry(interpreters, &key, true);

	while (more) {
		next = key;
		more = next_entry(interpreters, &next, false);
		pid = (uint32_t)(key >> 32);
		if (bpf_map_lookup_elem(processes, &pid, slot) || slot[0] != (uint32_t)key)
			(void)bpf_map_delete_elem(interpreters, &key);
		key = next;
	}
}

void sdw_programs_sweep(struct sdw_programs *programs)
{
	uint32_t pid = 0, next, slot[2];
	int processes;
	bool more;

	if (!programs->skeleton)
		return;
	processes = bpf_map__fd(programs->skeleton->maps.processes);
	more = next_entry(processes, &pid, true);
	while (more) {
		next = pid;
		more = next_entry(processes, &next, false);
		if (kill((pid_t)pid, 0) && errno == ESRCH &&
		    !bpf_map_lookup_elem(processes, &pid, slot))
			sdw_programs_forget(programs, pid, slot[0]);
		pid = next;
	}
	sweep_interpreters(bpf_map__fd(programs->skeleton->maps.interpreters), processes);
}

void sdw_programs_forget(struct sdw_programs *programs, uint32_t pid, uint32_t epoch)
{
	uint64_t key = (uint64_t)pid << 32 | epoch;
	uint32_t slot[2];
	int processes;

	if (!programs->skeleton)
		return;
	processes = bpf_map__fd(programs->skeleton->maps.processes);
	bpf_map_delete_elem(bpf_map__fd(programs->skeleton->maps.interpreters), &key);
	if (!bpf_map_lookup_elem(processes, &pid, slot) && slot[0] == epoch)
		bpf_map_delete_elem(processes, &pid);
}

const struct sdw_pylayout *sdw_programs_layout(const struct sdw_programs *programs, uint32_t index)
{
	return index < programs->layout_count ? &programs->layouts[index] : NULL;
}

int sdw_programs_count(const struct sdw_programs *programs, struct sdw_cpu_counters *sum)
{
	struct sdw_cpu_counters one;
	int fd;

	memset(sum, 0, sizeof(*sum));
	if (!programs->skeleton)
		return 0;
	fd = bpf_map__fd(programs->skeleton->maps.counters);
	for (uint32_t i = 0; i < programs->processors; i++) {
		if (bpf_map_lookup_elem(fd, &i, &one))
			return -errno;
		for (size_t word = 0; word < sizeof(one) / 8; word++)
			((uint64_t *)sum)[word] += ((uint64_t *)&one)[word];
	}
	sum->lost[SDW_LOST_NO_SCRATCH] += programs->skeleton->bss->sdw_no_scratch;
	sum->overflows += programs->skeleton->bss->sdw_no_scratch;
	return 0;
}
