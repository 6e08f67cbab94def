// SPDX-License-Identifier: MIT
/* control_daemon.c - the session daemon: found, started where there is none, watched, ended. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lttng/control_internal.h"

#define POLL_MS	       20
#define START_MS       8000 /* a session daemon takes 0.1 s to start, on a busy machine more */
#define END_MS	       5000
#define ORPHAN_MS      2000   /* a consumer daemon ends with its session daemon, or not at all */
#define BOUND_S	       20     /* from the recorder's end to ours, if a daemon does not answer */
#define MIN_ROOM_BYTES 65536u /* of a disk that is not full */
#define RELAY_PORT     "5342" /* of the relay daemon's control connection, if the url has none */
#define PROGRAM	       "lttng-sessiond"

/* The session daemon that was started, for the handler below. */
static volatile sig_atomic_t started;
static volatile sig_atomic_t recorder;

static void on_time_over(int number)
{
	(void)number;
	if (started)
		kill(-started, SIGKILL);
	_exit(1);
}

static void on_recorder_gone(int number)
{
	(void)number;
	if (getppid() != recorder)
		alarm(BOUND_S);
}

void sdw_lttng_daemon_bound(const struct sdw_lttng_controller *controller)
{
	struct sigaction action = {.sa_handler = on_time_over};

	recorder = controller->setup->recorder;
	sigaction(SIGALRM, &action, NULL);
	action = (struct sigaction){.sa_handler = on_recorder_gone, .sa_flags = SA_RESTART};
	sigaction(SIGHUP, &action, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGHUP);
	on_recorder_gone(SIGHUP); /* it may be already */
	/* a consumer daemon whose session daemon was killed becomes our child */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void sleep_ms(int ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000L};

	nanosleep(&time, NULL);
}

/* The child: becomes a session daemon that ends in order when the controller dies. */
static void run_daemon(pid_t parent)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL); /* it exits in order on SIGTERM; ours are ignored */
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	/* it and its consumer daemons are a group by themselves: -pid names them all */
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(126);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	/* kernel tracing is not ours to prepare: it would load modules */
	execlp(PROGRAM, PROGRAM, "--no-kernel", "--sig-parent", (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

static int say_no_daemon(struct sdw_lttng_controller *controller, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return sdw_lttng_fail(controller,
				      "no LTTng session daemon runs, and there is no " PROGRAM
				      " to start one: install lttng-tools");
	return sdw_lttng_fail(controller,
			      "no LTTng session daemon runs, and " PROGRAM " cannot be started "
			      "(status %d): 'lttng-sessiond --verbose' tells why",
			      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Waits for the end of all that is left of the daemon's group. Returns whether it came. */
static bool wait_for_group(pid_t group, int ms)
{
	for (int waited = 0;;) {
		siginfo_t info = {0};

		if (waitid(P_PGID, (id_t)group, &info, WEXITED | WNOHANG))
			return true; /* there are no such children any more */
		if (info.si_pid)
			continue; /* that was one */
		if (waited >= ms)
			return false;
		sleep_ms(POLL_MS);
		waited += POLL_MS;
	}
}

/* Its number stands for this group as long as one of it runs, which was seen just before. */
static void end_group(struct sdw_lttng_controller *controller)
{
	pid_t group = controller->daemon;

	kill(-group, SIGKILL);
	(void)wait_for_group(group, END_MS);
	started = controller->daemon = controller->answer.daemon = 0;
}

/* It says by a signal when it takes recorders too; that it answers comes a little earlier. */
static int start_daemon(struct sdw_lttng_controller *controller)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	pid_t parent = getpid(), child;
	bool ready = false;
	sigset_t signals;
	int status;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	child = fork();
	if (child < 0)
		return sdw_lttng_fail(controller, "cannot start " PROGRAM ": %s", strerror(errno));
	if (!child)
		run_daemon(parent);
	setpgid(child, child); /* here as well: neither waits for the other */
	started = child;
	/* it may never answer: then the recorder ends it, and must know of it */
	controller->daemon = controller->answer.daemon = child;
	sdw_lttng_send_answer(controller, SDW_LTTNG_NOTE);
	for (int waited = 0; waited < START_MS; waited += POLL_MS) {
		ready = ready || sigtimedwait(&signals, NULL, &pause) == SIGUSR1;
		if (ready && lttng_session_daemon_alive() == 1)
			return 0;
		if (waitpid(child, &status, WNOHANG) == child) {
			started = controller->daemon = controller->answer.daemon = 0;
			return say_no_daemon(controller, status);
		}
	}
	end_group(controller);
	return sdw_lttng_fail(controller, PROGRAM " was started and does not answer");
}

/* "net://HOST:PORT..." and the like. Returns 0 or -1. */
static int split_url(const char *url, char *host, size_t room, char *port, size_t port_room)
{
	const char *at = strstr(url, "://"), *end;

	if (!at)
		return -1;
	at += 3;
	if (*at == '[') {
		end = strchr(++at, ']');
		if (!end)
			return -1;
		snprintf(host, room, "%.*s", (int)(end - at), at);
		end++;
	} else {
		end = at + strcspn(at, ":/");
		snprintf(host, room, "%.*s", (int)(end - at), at);
	}
	snprintf(port, port_room, "%s", RELAY_PORT);
	if (*end == ':' && strcspn(end + 1, ":/"))
		snprintf(port, port_room, "%.*s", (int)strcspn(end + 1, ":/"), end + 1);
	return 0;
}

/* Two lost probes, a second apart, end a connection to a host that went silent. */
static void watch_silence(int fd)
{
	const int yes = 1, second = 1, probes = 2;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof(second));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof(second));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

/*
 * The session daemon does not tell that a relay daemon is gone. A connection of our own, over which
 * nothing is sent, ends when it is.
 */
static int connect_relay(struct sdw_lttng_controller *controller)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL, *at;
	const char *url = controller->setup->url;
	char host[256], port[16];
	int fd = -1, err;

	if (split_url(url, host, sizeof(host), port, sizeof(port)))
		return sdw_lttng_fail(controller, "'%s' is not a url such as net://HOST", url);
	err = getaddrinfo(host, port, &hints, &list);
	if (err)
		return sdw_lttng_fail(controller, "relay daemon %s: %s", url, gai_strerror(err));
	for (at = list; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen)) {
			err = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		return sdw_lttng_fail(controller,
				      "no relay daemon answers at %s: %s (there: lttng-relayd)",
				      url, strerror(err));
	watch_silence(fd);
	controller->relay = fd;
	return 0;
}

int sdw_lttng_daemon_find(struct sdw_lttng_controller *controller)
{
	if (controller->setup->url && connect_relay(controller))
		return -1;
	if (lttng_session_daemon_alive() == 1)
		return 0;
	if (controller->setup->session)
		return sdw_lttng_fail(controller,
				      "no LTTng session daemon runs: there is no "
				      "session '%s'",
				      controller->setup->session);
	return start_daemon(controller);
}

static bool is_used(const struct sdw_lttng_controller *controller)
{
	struct lttng_session *sessions = NULL;
	int count = lttng_list_sessions(&sessions);
	bool used = false;

	for (int i = 0; i < count; i++)
		used = used || strcmp(sessions[i].name, controller->answer.session) != 0;
	free(sessions);
	return used;
}

void sdw_lttng_daemon_end(struct sdw_lttng_controller *controller, bool wait_for_others)
{
	siginfo_t info = {0};
	int ms = END_MS;

	if (!controller->daemon)
		return;
	while (is_used(controller)) {
		if (!wait_for_others)
			return;
		/* for as long as it takes: the daemon answers */
		signal(SIGHUP, SIG_IGN);
		alarm(0);
		sleep_ms(1000);
	}
	/* a zombie until it is waited for: the number is the daemon's */
	kill(controller->daemon, SIGTERM);
	if (!waitid(P_PID, (id_t)controller->daemon, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid)
		ms = ORPHAN_MS;
	if (!wait_for_group(controller->daemon, ms))
		end_group(controller);
	started = controller->daemon = controller->answer.daemon = 0;
}

static int check_relay(struct sdw_lttng_controller *controller)
{
	char byte;
	ssize_t n;

	if (controller->relay < 0)
		return 0;
	n = recv(controller->relay, &byte, 1, MSG_DONTWAIT);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	return sdw_lttng_fail(controller, "the relay daemon at %s is gone", controller->setup->url);
}

/* The consumer daemon writes what we record; it is started with the first buffers. */
static int check_consumer(struct sdw_lttng_controller *controller)
{
	struct lttng_health *health =
		lttng_health_create_consumerd(sizeof(void *) == 8 ? LTTNG_HEALTH_CONSUMERD_UST_64
								  : LTTNG_HEALTH_CONSUMERD_UST_32);
	bool alive = health && !lttng_health_query(health) && lttng_health_state(health) == 0;

	lttng_health_destroy(health);
	if (alive)
		controller->consumer = true;
	else if (controller->consumer)
		return sdw_lttng_fail(controller, "LTTng's consumer daemon is gone");
	return 0;
}

/* LTTng's consumer daemon loses without a word what its disk has no room for. */
static int check_room(struct sdw_lttng_controller *controller)
{
	const char *directory = controller->setup->directory;
	struct statvfs room;

	if (!directory || statvfs(directory, &room) ||
	    room.f_bavail * room.f_frsize >= MIN_ROOM_BYTES)
		return 0;
	return sdw_lttng_fail(controller, "the disk of %s is full", directory);
}

int sdw_lttng_daemon_check(struct sdw_lttng_controller *controller)
{
	if (lttng_session_daemon_alive() != 1)
		return sdw_lttng_fail(controller, "the LTTng session daemon is gone");
	return check_consumer(controller) ?: check_relay(controller) ?: check_room(controller);
}
