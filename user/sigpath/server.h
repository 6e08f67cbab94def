/* SPDX-License-Identifier: MIT */
/*
 * server.h - the recorder's side of the signal path: the socket that agents connect to, and their
 * processes.
 *
 * In:  messages and rings of every process that the agent is in.
 * Out: records for the queue, in order of time; without BPF also those of the life of processes.
 */
#ifndef SDW_SIGPATH_SERVER_H
#define SDW_SIGPATH_SERVER_H

#include "capture/image.h"
#include "capture/queue.h"
#include "sigpath/process.h"

struct sdw_sigpath_server;

/*
 * Listens. exclude_kernel: as in struct sdw_sigpath_setup. program: the BPF program to bind events
 * to, < 0: none. Returns 0, or -errno after logging the cause; `config` must outlive it.
 */
int sdw_sigpath_server_create(const struct sdw_config *config, bool exclude_kernel, int program,
			      struct sdw_sigpath_server **server);
void sdw_sigpath_server_free(struct sdw_sigpath_server *server);

/* Name of the abstract socket. */
const char *sdw_sigpath_server_name(const struct sdw_sigpath_server *server);

/* Readable when there is something to serve. */
int sdw_sigpath_server_fd(const struct sdw_sigpath_server *server);

/* Where records go and processes are known; before anything is drained. */
void sdw_sigpath_server_bind(struct sdw_sigpath_server *server, struct sdw_images *images,
			     struct sdw_queue *queue, size_t source);

/*
 * Answers messages, and moves the records of all rings into the queue's source, oldest first.
 * Where there is no BPF, processes that begin, fork or end become life records, too. Returns 0 or
 * -ENOMEM.
 */
int sdw_sigpath_server_drain(struct sdw_sigpath_server *server);

/* For struct sdw_images: what is known of an image's interpreter goes to the process's agent. */
void sdw_sigpath_server_tell(void *server, const struct sdw_image *image, int layout);

/* Stops the counting everywhere. */
void sdw_sigpath_server_disable(struct sdw_sigpath_server *server);

/* Counts of all processes so far; final: also of those threads that still live. */
void sdw_sigpath_server_count(struct sdw_sigpath_server *server, bool final,
			      struct sdw_sigpath_counts *counts);

/* Number of processes that the agent ever was in; the signal that one of them uses itself, or 0. */
uint64_t sdw_sigpath_server_processes(const struct sdw_sigpath_server *server);
uint32_t sdw_sigpath_server_conflict(const struct sdw_sigpath_server *server);

#endif
