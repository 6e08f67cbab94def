/* SPDX-License-Identifier: MIT */
/* bpf_core_read.h - nothing of it is needed in user space. */
