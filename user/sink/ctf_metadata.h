/* SPDX-License-Identifier: MIT */
/* ctf_metadata.h - parts of the metadata that our traces have in common. */
#ifndef SDW_SINK_CTF_METADATA_H
#define SDW_SINK_CTF_METADATA_H

#include <stdio.h>

#include "sink/ctf_format.h"

/* The signature, integer types, and the block `trace` with the packet header. */
void sdw_ctf_put_begin(FILE *out, const uint8_t uuid[SDW_CTF_UUID_BYTES]);

/* A line of the block `env`; text is escaped, and cut at SDW_CTF_MAX_TEXT. */
void sdw_ctf_put_env_text(FILE *out, const char *key, const char *text);
void sdw_ctf_put_env_number(FILE *out, const char *key, uint64_t number);

/* CLOCK_MONOTONIC of this boot, and its distance from 1970 at the recording's start. */
void sdw_ctf_put_clock(FILE *out, const struct sdw_recording *recording);

/* The event header, and the packet context up to `more`, which is what a tracer adds to it. */
void sdw_ctf_put_stream(FILE *out, const char *more);

#endif
