// SPDX-License-Identifier: MIT
/* perf_probe.c - tries the event before the recording, and explains a refusal. */
#include <errno.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number_file.h"
#include "capture/event_spec.h"
#include "capture/perf_events.h"
#include "capture/perf_events_internal.h"

bool sdw_events_exclude_kernel(const struct sdw_config *config)
{
	int64_t paranoid = 2;

	if (config->path != SDW_PATH_SIGNAL || !geteuid())
		return false;
	sdw_number_file_read(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
	return paranoid > 1;
}

/* Opens the event on ourselves (or, for -a, on the processor we are on) and closes it again. */
static int try_event(const struct sdw_config *config)
{
	struct perf_event_attr attr;
	int fd;

	sdw_events_fill_attr(config, &attr);
	attr.inherit_thread = 0; /* sdw_events_open() falls back by itself */
	attr.enable_on_exec = 0;
	if (config->path != SDW_PATH_BPF) {
		attr.inherit = 0;
		attr.exclude_kernel = sdw_events_exclude_kernel(config);
	}
	fd = config->all || config->cgroup_count || config->container_count
		     ? sdw_perf_event_open(&attr, -1, 0, 0)
		     : sdw_perf_event_open(&attr, 0, -1, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void say_why(const struct sdw_config *config, int error)
{
	const char *name = config->event.name;
	bool hardware =
		config->event.type == PERF_TYPE_HARDWARE || config->event.type == PERF_TYPE_RAW;
	int64_t paranoid = 0;

	sdw_number_file_read(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (hardware && (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV))
		sdw_error("event %s: this machine gives no hardware counter (usual in virtual "
			  "machines); -e cpu-clock works everywhere",
			  name);
	else if ((error == -EACCES || error == -EPERM) && paranoid > 2)
		/* known to Debian's and Ubuntu's kernels alone; CAP_PERFMON is there, or
		 * privilege.c would have said so */
		sdw_error("event %s: not permitted: kernel.perf_event_paranoid is %lld, at which "
			  "this kernel asks for CAP_SYS_ADMIN; run it as root, or set it: sysctl "
			  "kernel.perf_event_paranoid=2",
			  name, (long long)paranoid);
	else if (error == -EACCES || error == -EPERM)
		sdw_error("event %s: not permitted: a seccomp filter or a security module forbids "
			  "perf_event_open",
			  name);
	else if (error == -ENOSYS)
		sdw_error("event %s: the kernel has no perf events (CONFIG_PERF_EVENTS)", name);
	else if (error == -EINVAL)
		sdw_error("event %s: the kernel refuses it with %s %llu", name,
			  config->frequency ? "frequency" : "period",
			  (unsigned long long)(config->frequency ? config->frequency
								 : config->period));
	else
		sdw_error("event %s: cannot be opened: %s", name, strerror(-error));
}

int sdw_events_probe(struct sdw_config *config)
{
	struct sdw_event_spec instead;
	int err = try_event(config);

	if (!err)
		return 0;
	if (!config->event.by_default || (err != -ENOENT && err != -EOPNOTSUPP && err != -ENODEV)) {
		say_why(config, err);
		return err;
	}
	err = sdw_event_spec_parse("cpu-clock", &instead);
	if (err)
		return err;
	if (!config->quiet)
		sdw_info("no hardware counter here: counting cpu-clock instead of %s",
			 config->event.name);
	instead.by_default = true;
	config->event = instead;
	err = try_event(config);
	if (err)
		say_why(config, err);
	return err;
}
