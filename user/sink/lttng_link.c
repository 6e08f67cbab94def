// SPDX-License-Identifier: MIT
/* lttng_link.c - see lttng_link.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "sink/lttng_library.h"
#include "sink/lttng_link.h"

#define EXIT_MS	  1000 /* that the controller may take to exit, once all is answered */
#define DAEMON_MS 2000 /* that a daemon of ours may take to end */

typedef void control_function(int socket, const struct sdw_lttng_setup *setup);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The child: out of reach of the terminal's signals, and with nothing of ours open, so that who
 * waits for the end of our output does not wait for it.
 */
static void run_controller(int socket, control_function *control,
			   const struct sdw_lttng_setup *setup)
{
	sigset_t none;
	int null;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (dup2(socket, 3) != 3)
		_exit(1);
	close_range(4, ~0u, 0);
	control(3, setup);
	_exit(0);
}

int sdw_lttng_link_open(struct sdw_lttng_link *link, const struct sdw_lttng_setup *setup)
{
	control_function *control;
	int pair[2];

	*link = (struct sdw_lttng_link){.socket = -1, .daemon = -1};
	*(void **)&control =
		sdw_lttng_library_open(SDW_LTTNG_CONTROL_FILE, SDW_LTTNG_CONTROL_SYMBOL);
	if (!control)
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		goto failed;
	link->controller = fork();
	if (!link->controller)
		run_controller(pair[1], control, setup);
	close(pair[1]);
	link->socket = pair[0];
	if (link->controller > 0)
		return 0;
	link->controller = 0;
failed:
	sdw_error("--lttng: cannot start its controller: %s", strerror(errno));
	return -errno;
}

int sdw_lttng_link_send(struct sdw_lttng_link *link, enum sdw_lttng_request request)
{
	struct sdw_lttng_question question = {.serial = ++link->serial, .request = request};

	if (link->socket < 0 || send(link->socket, &question, sizeof(question),
				     MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(question))
		return -EPIPE;
	link->pending = true;
	return 0;
}

/* A daemon that was started is remembered by a descriptor: its pid may be used again. */
static void remember_daemon(struct sdw_lttng_link *link)
{
	pid_t daemon = link->answer.daemon;

	if (daemon && link->daemon < 0)
		link->daemon = (int)syscall(SYS_pidfd_open, daemon, 0);
	if (!daemon && link->daemon >= 0) {
		close(link->daemon);
		link->daemon = -1;
	}
}

int sdw_lttng_link_poll(struct sdw_lttng_link *link)
{
	struct sdw_lttng_answer answer;
	ssize_t n;

	while (link->pending) {
		n = recv(link->socket, &answer, sizeof(answer), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n != sizeof(answer)) {
			link->pending = false;
			return -EPIPE;
		}
		if (answer.serial != link->serial && answer.serial != SDW_LTTNG_NOTE)
			continue; /* of a question that was given up */
		link->answer = answer;
		remember_daemon(link);
		if (answer.serial == SDW_LTTNG_NOTE)
			continue;
		link->pending = false;
		return 1;
	}
	return 0;
}

int sdw_lttng_link_wait(struct sdw_lttng_link *link, int ms)
{
	struct pollfd wait = {.fd = link->socket, .events = POLLIN};
	uint64_t begin_ns = now_ns();
	int err, left;

	for (;;) {
		err = sdw_lttng_link_poll(link);
		if (err)
			return err < 0 ? err : 0;
		left = ms - (int)((now_ns() - begin_ns) / 1000000);
		if (left <= 0)
			return -ETIMEDOUT;
		(void)poll(&wait, 1, left);
	}
}

int sdw_lttng_link_ask(struct sdw_lttng_link *link, enum sdw_lttng_request request, int ms)
{
	int err = sdw_lttng_link_send(link, request);

	return err ?: sdw_lttng_link_wait(link, ms);
}

/* Waits for the end of a process by its descriptor. */
static bool wait_for(int pidfd, int ms)
{
	struct pollfd wait = {.fd = pidfd, .events = POLLIN};

	return poll(&wait, 1, ms) > 0;
}

/*
 * A daemon of ours that hangs: what it has not done when it is told to end is lost. With it goes
 * all that it has started: the process group has its number.
 */
static void end_hung(struct sdw_lttng_link *link, int controller)
{
	if (link->daemon >= 0) {
		(void)syscall(SYS_pidfd_send_signal, link->daemon, SIGTERM, NULL, 0);
		if (wait_for(controller, DAEMON_MS) && wait_for(link->daemon, DAEMON_MS))
			return;
	}
	kill(link->controller, SIGKILL);
	if (link->daemon < 0)
		return;
	kill(-link->answer.daemon, SIGKILL);
	(void)wait_for(link->daemon, DAEMON_MS);
}

void sdw_lttng_link_close(struct sdw_lttng_link *link)
{
	bool hung = link->pending;
	int controller = -1;

	if (link->socket >= 0)
		close(link->socket);
	link->socket = -1;
	if (link->controller)
		controller = (int)syscall(SYS_pidfd_open, link->controller, 0);
	/* a controller stays with a daemon of ours that others use, and ends it after them */
	if (controller >= 0 && (hung || (link->daemon < 0 && !wait_for(controller, EXIT_MS)) ||
				(link->daemon >= 0 && wait_for(controller, 0))))
		end_hung(link, controller);
	if (link->daemon >= 0)
		close(link->daemon);
	link->daemon = -1;
	if (link->controller)
		(void)waitpid(link->controller, NULL, WNOHANG);
	link->controller = 0;
	if (controller >= 0)
		close(controller);
}
