// SPDX-License-Identifier: MIT
/* control.c - the controller's loop: a question in, an answer out (control.h). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lttng/control_internal.h"

int sdw_lttng_fail(struct sdw_lttng_controller *controller, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(controller->answer.text, sizeof(controller->answer.text), format, args);
	va_end(args);
	controller->answer.failed = 1;
	return -1;
}

void sdw_lttng_send_answer(struct sdw_lttng_controller *controller, uint32_t serial)
{
	controller->answer.serial = serial;
	/* whoever does not wait any more does not read either: that is no error */
	(void)send(controller->socket, &controller->answer, sizeof(controller->answer),
		   MSG_NOSIGNAL);
}

static int open_all(struct sdw_lttng_controller *controller)
{
	if (sdw_lttng_daemon_find(controller))
		return -1;
	if (!sdw_lttng_session_open(controller))
		return 0;
	sdw_lttng_daemon_end(controller, false);
	return -1;
}

static int status(struct sdw_lttng_controller *controller)
{
	if (sdw_lttng_daemon_check(controller))
		return -1;
	return sdw_lttng_session_count(controller);
}

static int snapshot(struct sdw_lttng_controller *controller)
{
	int err = lttng_snapshot_record(controller->answer.session, NULL, 1);

	if (err)
		return sdw_lttng_fail(controller, "cannot write a snapshot: %s",
				      lttng_strerror(err));
	return sdw_lttng_session_count(controller);
}

static int close_all(struct sdw_lttng_controller *controller)
{
	int err = sdw_lttng_session_close(controller);

	sdw_lttng_daemon_end(controller, false);
	return err;
}

static void answer(struct sdw_lttng_controller *controller, uint32_t request)
{
	controller->answer.failed = 0;
	controller->answer.text[0] = '\0';
	switch (request) {
	case SDW_LTTNG_OPEN:
		(void)open_all(controller);
		break;
	case SDW_LTTNG_SETTLE:
		(void)sdw_lttng_session_settle(controller);
		break;
	case SDW_LTTNG_STATUS:
		(void)status(controller);
		break;
	case SDW_LTTNG_SNAPSHOT:
		(void)snapshot(controller);
		break;
	default:
		(void)close_all(controller);
	}
	/* a daemon that was killed meanwhile says more than what its death led to */
	if (controller->answer.failed && request != SDW_LTTNG_OPEN)
		(void)sdw_lttng_daemon_check(controller);
}

void sdw_lttng_control(int socket, const struct sdw_lttng_setup *setup)
{
	struct sdw_lttng_controller controller = {.setup = setup, .socket = socket, .relay = -1};
	struct sdw_lttng_question question;

	sdw_lttng_daemon_bound(&controller);
	for (;;) {
		ssize_t n = recv(socket, &question, sizeof(question), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(question))
			break; /* the recorder is gone */
		answer(&controller, question.request);
		sdw_lttng_send_answer(&controller, question.serial);
		if (question.request == SDW_LTTNG_CLOSE)
			break;
	}
	(void)close_all(&controller);
	close(socket);
	sdw_lttng_daemon_end(&controller, true);
	if (controller.relay >= 0)
		close(controller.relay);
	lttng_destroy_handle(controller.handle);
}
