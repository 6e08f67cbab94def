/* SPDX-License-Identifier: MIT */
/* preload.h - brings the agent into a command: LD_PRELOAD, and where to connect to. */
#ifndef SDW_SIGPATH_PRELOAD_H
#define SDW_SIGPATH_PRELOAD_H

/* Is the agent there, at a path that LD_PRELOAD can name? Returns 0, or -errno after saying so. */
int sdw_preload_check(void);

/*
 * Sets the environment of the command that is started next; what is in LD_PRELOAD stays, behind the
 * agent. sdw_preload_undo() puts ours back as it was, and frees *before. Returns 0 or -errno.
 */
int sdw_preload_set(const char *socket_name, char **before);
void sdw_preload_undo(char *before);

#endif
