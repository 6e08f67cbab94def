/* SPDX-License-Identifier: MIT */
/*
 * report_request.h - SIGUSR1 as a descriptor that can be read: "say how it looks so far".
 *
 * A handler and not a blocked signal: a command that is recorded inherits a mask, but no handler.
 */
#ifndef SDW_REPORT_REQUEST_H
#define SDW_REPORT_REQUEST_H

#include <stdbool.h>

/*
 * Takes the signal from here on, once in a process at a time. Returns a descriptor, or -errno;
 * -EBUSY where the signal is ignored, as who started us wants it.
 */
int sdw_report_request_open(void);

/* Takes what was asked for. True: it was asked. */
bool sdw_report_request_take(int fd);

void sdw_report_request_close(int fd); /* one below 0 is allowed */

#endif
