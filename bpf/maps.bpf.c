// SPDX-License-Identifier: GPL-2.0 OR MIT
/* maps.bpf.c - defines what maps.bpf.h declares. */
#include "maps.bpf.h"

const volatile struct sdw_bpf_config sdw_config = {.processors = 1};
__u64 sdw_no_scratch;

struct sdw_map_scratch scratches SEC(".maps");
struct sdw_map_counters counters SEC(".maps");
struct sdw_map_threads threads SEC(".maps");
struct sdw_map_codes codes SEC(".maps");
struct sdw_map_stacks stacks SEC(".maps");
struct sdw_map_processes processes SEC(".maps");
struct sdw_map_interpreters interpreters SEC(".maps");
struct sdw_map_groups groups SEC(".maps");
struct sdw_map_layouts layouts SEC(".maps");
struct sdw_map_rings rings SEC(".maps");
struct sdw_map_life_ring life_ring SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
