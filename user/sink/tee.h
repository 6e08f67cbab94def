/* SPDX-License-Identifier: MIT */
/* tee.h - a sink that sends every event on to several others, e.g. a trace and a profile. */
#ifndef SDW_SINK_TEE_H
#define SDW_SINK_TEE_H

#include <stddef.h>

#include "sink.h"

/*
 * Makes a sink that forwards to `count` sinks, in this order; its close() closes them all and frees
 * it. An error of one does not keep an event from the others; the call returns the first error of
 * the event, close() the first of all. Returns 0 or -ENOMEM (the sinks are then still the
 * caller's).
 */
int sdw_tee_create(struct sdw_sink *const *sinks, size_t count, struct sdw_sink **tee);

#endif
