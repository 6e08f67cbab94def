/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts the command to record so that not one of its instructions is missed.
 *
 *	sdw_launch_start()	fork; the child waits on a pipe
 *	...			events are opened on launch.pid, enabled by its exec
 *	sdw_launch_run()	lets it exec, and tells whether that worked
 *	...			epoll on launch.pidfd: readable when it ended
 *	sdw_launch_reap()	its exit status
 *
 * The child keeps the terminal, the process group and the standard files. If the profiler dies
 *before sdw_launch_run() the child ends without running anything.
 */
#ifndef SDW_LAUNCH_H
#define SDW_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What a shell returns for a program that is not there, or may not be run. */
enum { SDW_EXIT_NOT_EXECUTABLE = 126, SDW_EXIT_NOT_FOUND = 127 };

struct sdw_launch {
	const char *program; /* as the command line has it, for messages */
	pid_t pid;	     /* 0: none, or reaped */
	int pidfd;	     /* readable once the child ended */
	int go;		     /* write end: a byte lets the child exec */
	int exec_error;	     /* read end: an errno, or nothing if exec worked */
};

#define SDW_LAUNCH_NONE ((struct sdw_launch){.pidfd = -1, .go = -1, .exec_error = -1})

/*
 * Looks the program up as exec will, without running anything. Returns 0, -ENOENT, -EACCES or other
 * -errno, after logging; see sdw_launch_failure_status().
 */
int sdw_launch_check(const char *program);

/* Exit status for an exec that failed with -errno: 127 or 126. */
int sdw_launch_failure_status(int error);

/*
 * Forks. The child will run with the signal mask `mask` (NULL: none blocked) and with SIGPIPE and
 * SIGXFSZ, which the profiler ignores, at their defaults. Returns 0, or -errno after logging.
 */
int sdw_launch_start(struct sdw_launch *launch, char *const *command, const sigset_t *mask);

/* The same for a command that keeps off the terminal: `output` (< 0: ours) takes what it writes. */
int sdw_launch_start_apart(struct sdw_launch *launch, char *const *command, const sigset_t *mask,
			   int output);

/* Lets the child exec, and waits until it has. Returns 0, or -errno of the exec after logging. */
int sdw_launch_run(struct sdw_launch *launch);

/*
 * Returns 1 and the exit status (128 + signal when killed) if the child has ended, 0 if it has not
 * (never with wait), or -errno.
 */
int sdw_launch_reap(struct sdw_launch *launch, bool wait, int *status);

/* Releases everything. A child that was never let go ends; one that runs is left alone. */
void sdw_launch_free(struct sdw_launch *launch);

#endif
