// SPDX-License-Identifier: MIT
/* record_lttng.c - see record_lttng.h. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/record_lttng.h"
#include "sink/lttng_condition.h"

#define MAX_NAME_TRIES 100
#define OPEN_FILES     8     /* of nftw() */
#define UNKNOWN_RATE   10000 /* samples per second of an event that is no clock */
#define NS_PER_S       1000000000u

static int wrong(const char *what)
{
	sdw_error("record: %s", what);
	return -EINVAL;
}

int sdw_record_lttng_check(struct sdw_config *config)
{
	static char own[] = "";
	struct sdw_lttng_config *lttng = &config->lttng;
	struct sdw_lttng_condition condition;

	if (lttng->session && *lttng->session && (lttng->output || lttng->url))
		return wrong("--lttng=SESSION writes where that session does: it excludes "
			     "--lttng-output and --lttng-url");
	if (lttng->output && lttng->url)
		return wrong("--lttng-output and --lttng-url exclude each other");
	if (lttng->output && !*lttng->output)
		return wrong("--lttng-output: the name is empty");
	if (lttng->url && !strstr(lttng->url, "://"))
		return wrong("--lttng-url: that is no url such as net://HOST");
	if (sdw_lttng_condition_parse(&condition, lttng->when))
		return wrong("--snapshot-when is 'rate>N', samples per second, or 'function=NAME'");
	lttng->snapshot = lttng->snapshot || lttng->when || lttng->memory;
	if (lttng->snapshot && lttng->session && *lttng->session)
		return wrong("--snapshot is of a session of our own: of --lttng=SESSION, 'lttng "
			     "snapshot' writes them");
	if ((lttng->output || lttng->url || lttng->snapshot) && !lttng->session)
		lttng->session = own;
	if (config->sched && config->path == SDW_PATH_SIGNAL)
		return wrong("--sched needs BPF, which --path=signal does without");
	if (config->sched && !config->output && lttng->session && (*lttng->session || lttng->url))
		return wrong("--sched writes into the directory of the trace: name one by -o");
	return 0;
}

/* Makes the directory: as named, beside -o, or by the time. */
static int make_directory(const struct sdw_config *config, char *path, size_t room)
{
	time_t now = time(NULL);
	struct tm local;
	char date[32];

	if (config->lttng.output || config->output) {
		snprintf(path, room, "%s%s", config->lttng.output ?: config->output,
			 config->lttng.output ? "" : "-lttng");
		return mkdir(path, 0700) ? -errno : 0;
	}
	if (!localtime_r(&now, &local) || !strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local))
		return -EINVAL;
	snprintf(path, room, "sidewinder-%s", date);
	for (int number = 2; mkdir(path, 0700); number++) {
		if (errno != EEXIST || number > MAX_NAME_TRIES)
			return -errno;
		snprintf(path, room, "sidewinder-%s-%d", date, number);
	}
	return 0;
}

/* Samples per second of all processors together, at most. */
static uint64_t expected_rate(const struct sdw_config *config)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t rate = UNKNOWN_RATE;

	if (config->frequency)
		rate = config->frequency;
	else if (config->event.is_clock && config->period)
		rate = NS_PER_S / config->period + 1;
	return rate * (processors > 0 ? (uint64_t)processors : 1);
}

static int create(const struct sdw_config *config, struct sdw_record_lttng *lttng,
		  struct sdw_sink **sink)
{
	char absolute[PATH_MAX];
	struct sdw_lttng_options options = {
		.session = config->lttng.session,
		.url = config->lttng.url,
		.handlers = config->path != SDW_PATH_BPF,
		.snapshot = config->lttng.snapshot,
		.when = config->lttng.when,
		.rate = expected_rate(config),
		.memory = config->lttng.memory,
	};

	if (*lttng->directory) {
		if (!realpath(lttng->directory, absolute))
			return -errno;
		options.directory = absolute;
	}
	return sdw_lttng_create(&options, &lttng->outcome, sink);
}

int sdw_record_lttng_create(const struct sdw_config *config, struct sdw_record_lttng *lttng,
			    struct sdw_sink **sink)
{
	bool own = !config->lttng.session || !*config->lttng.session;
	int err;

	if (own && !config->lttng.url) {
		err = make_directory(config, lttng->directory, sizeof(lttng->directory));
		if (err) {
			sdw_error("cannot create output %s: %s", lttng->directory,
				  err == -EEXIST ? "it exists already: choose another name"
						 : strerror(-err));
			*lttng->directory = '\0';
			return err;
		}
	}
	err = create(config, lttng, sink);
	if (err)
		sdw_record_lttng_remove(lttng);
	return err;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

void sdw_record_lttng_remove(struct sdw_record_lttng *lttng)
{
	if (!*lttng->directory)
		return;
	(void)nftw(lttng->directory, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	*lttng->directory = '\0';
}

bool sdw_record_lttng_lost(const struct sdw_record_lttng *lttng, uint64_t samples, double max_loss)
{
	uint64_t discarded = lttng->outcome.events_discarded;

	if (lttng->outcome.incomplete)
		return true; /* it was said when it was noticed */
	if ((double)discarded <= max_loss * (double)samples)
		return false;
	sdw_warn("LTTng discarded %llu events, more than --max-loss allows",
		 (unsigned long long)discarded);
	return true;
}
