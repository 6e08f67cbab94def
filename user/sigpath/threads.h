/* SPDX-License-Identifier: MIT */
/* threads.h - threads of a process whose pids may be of another pid namespace than ours. */
#ifndef SDW_SIGPATH_THREADS_H
#define SDW_SIGPATH_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* The thread that process `pid` (inside: inner_pid) calls inner_tid, as we see it. 0: there is
 * none.
 */
uint32_t sdw_thread_outer_tid(uint32_t pid, uint32_t inner_pid, uint32_t inner_tid);

bool sdw_thread_is_gone(uint32_t pid, uint32_t tid);

#endif
