// SPDX-License-Identifier: MIT
/* config.c - what the recorder tells the walk of bpf/ there, and the agent here. */
#include "bpf_config.h"

/* maps.bpf.h declares it constant: for those who use it, it is */
struct sdw_bpf_config sdw_config;

void sdw_agent_configure(__u32 stack_bytes);

void sdw_agent_configure(__u32 stack_bytes)
{
	sdw_config.stack_bytes = stack_bytes;
}
