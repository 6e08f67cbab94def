// SPDX-License-Identifier: MIT
/* launch.c - fork, handshake, exec of the command to record, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/launch.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* what execvp takes when PATH is not set */

int sdw_launch_failure_status(int error)
{
	return error == -ENOENT || error == -ENOTDIR ? SDW_EXIT_NOT_FOUND : SDW_EXIT_NOT_EXECUTABLE;
}

static int say_cannot_run(const char *program, int error)
{
	if (error == -ENOENT && !strchr(program, '/'))
		sdw_error("cannot run %s: not found in PATH", program);
	else if (error == -ENOENT && access(program, F_OK) == 0)
		sdw_error(
			"cannot run %s: its interpreter, as the first line names it, is not there",
			program);
	else
		sdw_error("cannot run %s: %s", program, strerror(-error));
	return error;
}

/* 0 if `path` is a regular file that may be executed, else -errno as execve would say. */
static int check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* As execvp: the first executable file counts; one that may not be run is told only if there is no
 * other. */
static int check_path(const char *program)
{
	const char *dir = getenv("PATH"), *end;
	int result = -ENOENT;

	if (!dir)
		dir = DEFAULT_PATH;
	for (;; dir = end + 1) {
		char path[4096];
		int err, used;

		end = strchrnul(dir, ':');
		used = snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
				end > dir ? "/" : "", program);
		if (used >= 0 && (size_t)used < sizeof(path)) {
			err = check_file(path);
			if (!err)
				return 0;
			if (err == -EACCES)
				result = err;
		}
		if (!*end)
			return result;
	}
}

int sdw_launch_check(const char *program)
{
	int err;

	if (!*program)
		err = -ENOENT;
	else
		err = strchr(program, '/') ? check_file(program) : check_path(program);
	return err ? say_cannot_run(program, err) : 0;
}

/* Reads nothing, writes to `output`; where that fails the command does not run. */
static void set_apart(int output)
{
	int nothing = open("/dev/null", O_RDONLY);

	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0)
		_exit(SDW_EXIT_NOT_EXECUTABLE);
	close(nothing);
}

static _Noreturn void run_child(int go, int exec_error, char *const *command, const sigset_t *mask)
{
	sigset_t none;
	char byte;
	int error;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask ? mask : &none, NULL);
	if (TEMP_FAILURE_RETRY(read(go, &byte, 1)) != 1)
		_exit(SDW_EXIT_NOT_EXECUTABLE); /* the profiler gave up or died */
	execvp(command[0], command);
	error = errno;
	if (write(exec_error, &error, sizeof(error)) < 0)
		_exit(SDW_EXIT_NOT_EXECUTABLE);
	_exit(sdw_launch_failure_status(-error));
}

int sdw_launch_start(struct sdw_launch *launch, char *const *command, const sigset_t *mask)
{
	return sdw_launch_start_apart(launch, command, mask, -1);
}

int sdw_launch_start_apart(struct sdw_launch *launch, char *const *command, const sigset_t *mask,
			   int output)
{
	int go[2] = {-1, -1}, exec_error[2] = {-1, -1}, err;
	pid_t pid;

	*launch = SDW_LAUNCH_NONE;
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(exec_error, O_CLOEXEC) < 0)
		goto fail;
	pid = fork();
	if (pid < 0)
		goto fail;
	if (!pid) {
		close(go[1]);
		close(exec_error[0]);
		if (output >= 0)
			set_apart(output);
		run_child(go[0], exec_error[1], command, mask);
	}
	close(go[0]);
	close(exec_error[1]);
	launch->pid = pid;
	launch->program = command[0];
	launch->go = go[1];
	launch->exec_error = exec_error[0];
	/* 5.3; O_CLOEXEC is implied */
	launch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (launch->pidfd >= 0)
		return 0;
	err = -errno;
	sdw_error("cannot watch the command (pidfd_open): %s", strerror(-err));
	sdw_launch_free(launch);
	return err;
fail:
	err = -errno;
	sdw_error("cannot start %s: %s", command[0], strerror(-err));
	for (size_t i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (exec_error[i] >= 0)
			close(exec_error[i]);
	}
	return err;
}

int sdw_launch_run(struct sdw_launch *launch)
{
	int error = 0;
	ssize_t size;

	if (TEMP_FAILURE_RETRY(write(launch->go, "g", 1)) != 1)
		return -errno;
	close(launch->go);
	launch->go = -1;
	/* ends without a byte when exec closes the other end */
	size = TEMP_FAILURE_RETRY(read(launch->exec_error, &error, sizeof(error)));
	close(launch->exec_error);
	launch->exec_error = -1;
	if (size != sizeof(error))
		return 0;
	return say_cannot_run(launch->program, -error);
}

int sdw_launch_reap(struct sdw_launch *launch, bool wait, int *status)
{
	int how;
	pid_t pid;

	pid = TEMP_FAILURE_RETRY(waitpid(launch->pid, &how, wait ? 0 : WNOHANG));
	if (pid < 0)
		return -errno;
	if (!pid)
		return 0;
	launch->pid = 0;
	*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return 1;
}

void sdw_launch_free(struct sdw_launch *launch)
{
	bool waits = launch->go >= 0;

	if (launch->go >= 0)
		close(launch->go); /* the child reads the end of the pipe, and ends */
	if (launch->exec_error >= 0)
		close(launch->exec_error);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	if (launch->pid > 0 && waits)
		TEMP_FAILURE_RETRY(waitpid(launch->pid, NULL, 0));
	*launch = SDW_LAUNCH_NONE;
}
