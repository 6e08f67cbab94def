/* SPDX-License-Identifier: MIT */
/*
 * image.h - what is known of each process image: a (pid, epoch), see events.h.
 *
 * In:  life and mapping records in order of time.
 * Out: mappings, the interpreter (told to the BPF side as soon as it is found), an unwinder.
 */
#ifndef SDW_IMAGE_H
#define SDW_IMAGE_H

#include "base/map64.h"
#include "base/strings.h"
#include "capture/programs.h"
#include "capture/python_stacks.h"
#include "capture/sideband.h"
#include "symbol/code_table.h"
#include "symbol/perf_map.h"
#include "target/container.h"
#include "target/interpreter.h"
#include "unwind/unwind.h"

enum sdw_image_state {
	SDW_IMAGE_UNKNOWN, /* not looked at, or just starting: to be looked at again */
	SDW_IMAGE_PYTHON,  /* found, and the BPF side knows */
	SDW_IMAGE_OTHER,   /* no CPython mapped (yet) */
	SDW_IMAGE_REFUSED, /* a CPython that cannot be walked */
};

/* What is known of a thread before its first sample is sent. */
struct sdw_new_thread {
	uint32_t inner_tid; /* in its own pid namespace; 0: not known */
	char comm[SDW_COMM_BYTES + 1];
};

struct sdw_image {
	uint32_t pid, epoch;
	uint32_t inner_pid;			  /* in its own pid namespace; 0: not known */
	uint32_t parent;			  /* sink id of the parent's image, 0: not known */
	uint32_t id;				  /* sink id; 0: not announced, no sample yet */
	char comm[SDW_COMM_BYTES + 1];		  /* of its main thread */
	const struct sdw_container *container;	  /* NULL: in none, or not known */
	bool container_known;			  /* as /proc said; else what its parent is in */
	bool maps_known;			  /* else /proc/PID/maps is read at first need */
	uint64_t maps_read_ns;			  /* again, for an address in none of them */
	uint64_t maps_as_of_ns;			  /* CLOCK_MONOTONIC: they hold all there was */
	size_t maps_bound;			  /* mappings from which on they are read again */
	bool executing;				  /* has begun an exec: mappings go to next_maps */
	uint8_t state;				  /* enum sdw_image_state */
	uint32_t tries;				  /* looks at an UNKNOWN one */
	uint64_t retry_ns;			  /* next look; 0: none planned */
	uint64_t ended_ns;			  /* exited or exec'd; 0: alive */
	struct sdw_found_interpreter interpreter; /* for children; valid if PYTHON */
	struct sdw_maps maps, next_maps;
	struct sdw_unwinder *unwinder; /* made at first use */
	struct sdw_perf_map perf_map;
	struct sdw_map64 native_codes; /* pc -> catalog code, see stack_builder.c */
	uint32_t native_generation;    /* of maps when these were looked up */
	struct sdw_map64 threads;      /* tid -> sink id */
	struct sdw_map64 new_threads;  /* tid -> struct sdw_new_thread *, not announced yet */
};

/* A thread that ended, and is still known for its last samples. */
struct sdw_ended_thread {
	uint64_t time_ns;
	uint32_t pid, epoch, tid;
};

struct sdw_images {
	struct sdw_programs *programs;
	struct sdw_strings *strings;
	/* told when an image's end is past; NULL: nobody */
	struct sdw_code_table *codes;
	struct sdw_python_stacks *python_stacks;
	struct sdw_perf_map_budget perf_maps; /* of all images */
	/* also told of every interpreter, as the BPF side is, with its layout's index or < 0 */
	void (*tell)(void *context, const struct sdw_image *image, int layout);
	void *tell_context;
	struct sdw_file_cache *files;
	struct sdw_containers *containers;
	struct sdw_map64 by_key;   /* pid << 32 | epoch -> struct sdw_image * */
	struct sdw_map64 current;  /* pid -> struct sdw_image * alive under it */
	struct sdw_map64 problems; /* kept strings that were said already */
	bool denied;		   /* that there are files which we may not read was said */
	struct {
		struct sdw_image **items;
		size_t count, room;
	} all;
	struct {
		struct sdw_ended_thread *items; /* in order of time */
		size_t count, room;
	} ended_threads;
	uint64_t next_retry_ns; /* the earliest planned look; 0: none */
	uint64_t next_sweep_ns; /* for images that ended */
};

int sdw_images_init(struct sdw_images *images, struct sdw_programs *programs,
		    struct sdw_strings *strings);
void sdw_images_free(struct sdw_images *images);

/*
 * The image, made if it is not known yet; it is then looked at with the next tick, unless a life
 * record tells more before. Returns NULL when out of memory.
 */
struct sdw_image *sdw_images_get(struct sdw_images *images, uint32_t pid, uint32_t epoch);

/* The image that is alive under a pid, or NULL. */
struct sdw_image *sdw_images_current(const struct sdw_images *images, uint32_t pid);

/* Tells once more what is known of the image's interpreter. */
void sdw_images_publish_again(struct sdw_images *images, const struct sdw_image *image);

/* Reads what a living process has mapped and looks for its interpreter. Returns 0 or -errno. */
int sdw_images_look(struct sdw_images *images, struct sdw_image *image, uint64_t now_ns);

/* Applies one record. Returns 0 or -ENOMEM. */
int sdw_images_life(struct sdw_images *images, const struct sdw_record_life *life);
int sdw_images_mapping(struct sdw_images *images, const struct sdw_record_mapping *mapping);

/* Looks again at images that were just starting; frees what ended a while ago. */
void sdw_images_tick(struct sdw_images *images, uint64_t now_ns);

/* Life records were lost: ends the images whose processes are gone or may be others. */
void sdw_images_find_ended(struct sdw_images *images, uint64_t now_ns);

/* What is known of a thread that has no sink id yet, or NULL. */
const struct sdw_new_thread *sdw_image_new_thread(const struct sdw_image *image, uint32_t tid);

/* Gives a thread its sink id; what was known of it before is freed. Returns 0 or -ENOMEM. */
int sdw_image_announce_thread(struct sdw_image *image, uint32_t tid, uint32_t id);

/* Makes sure that the container is known, as far as that can be had. */
void sdw_images_need_container(struct sdw_images *images, struct sdw_image *image);

/* Makes sure that mappings are known, as far as they can be had. */
void sdw_images_need_maps(struct sdw_image *image);

#endif
