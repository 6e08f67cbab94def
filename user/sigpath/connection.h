/* SPDX-License-Identifier: MIT */
/* connection.h - messages of agents, checked, with what the kernel says of their senders. */
#ifndef SDW_SIGPATH_CONNECTION_H
#define SDW_SIGPATH_CONNECTION_H

#include <stdint.h>

#include "sigpath.h"

/* Listens at an abstract name. Returns 0 or -errno. */
int sdw_sigpath_listen(const char *name, int *listener);

/*
 * Receives one message. *descriptor: what came with it, else -1; the caller's to close, also after
 * an error. *pid: of the sender, in our own pid namespace. Returns 0; -EAGAIN: nothing yet;
 * -EBADMSG: nothing that an agent says, or no peer whom to believe.
 */
int sdw_sigpath_receive(int fd, struct sdw_sigpath_message *message, int *descriptor,
			uint32_t *pid);

/* Answers, with a descriptor if it is >= 0. An agent that is gone is no error. */
void sdw_sigpath_answer(int fd, int error, int descriptor);

#endif
