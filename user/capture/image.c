// SPDX-License-Identifier: MIT
/* image.c - the life of process images: seen, forked, exec'd, ended; their mappings as they change.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/log.h"
#include "capture/image_internal.h"
#include "target/container_state.h"

#define SWEEP_NS      50000000u
#define KEEP_ENDED_NS 1000000000u /* late samples of a process that ended still find it */
#define SOON_NS	      1000000u	  /* pause between looks at an interpreter that is starting ... */
#define SOON_TRIES    200u	  /* ... for so many looks, and then */
#define LATE_NS	      100000000u
#define MISFIT_TRIES  (SOON_TRIES + 3) /* half a second, then what does not fit is refused */
#define LATE_TRIES    500u	       /* then it is taken for one that may start any time */
#define SELDOM_NS     2000000000u
/*
 * Mappings that are undone are not told of. What a process maps and unmaps again and again would
 * pile up: beyond twice what it was seen to have, and this, all are read again.
 */
#define MAPS_SLACK 16384u
#define MAX_BOUND  (1u << 19) /* below the cap of maps.c, where adding fails */

int sdw_images_init(struct sdw_images *images, struct sdw_programs *programs,
		    struct sdw_strings *strings)
{
	int err;

	*images = (struct sdw_images){
		.programs = programs, .strings = strings, .perf_maps.max = UINT64_MAX};
	err = sdw_file_cache_create(&images->files);
	return err ?: sdw_containers_create(sdw_container_state_root(), &images->containers);
}

/* Releases what an image that has ended needs no more; its ids stay. */
static void release(struct sdw_image *image)
{
	sdw_unwinder_free(image->unwinder);
	image->unwinder = NULL;
	sdw_maps_free(&image->maps);
	sdw_maps_free(&image->next_maps);
	sdw_perf_map_free(&image->perf_map);
	sdw_map64_free(&image->native_codes);
	sdw_map64_free(&image->threads);
	for (size_t i = 0; i < image->new_threads.room; i++) {
		if (image->new_threads.slots[i].key)
			free((void *)(uintptr_t)image->new_threads.slots[i].value);
	}
	sdw_map64_free(&image->new_threads);
}

void sdw_images_free(struct sdw_images *images)
{
	for (size_t i = 0; i < images->all.count; i++) {
		release(images->all.items[i]);
		free(images->all.items[i]);
	}
	free(images->all.items);
	free(images->ended_threads.items);
	sdw_map64_free(&images->by_key);
	sdw_map64_free(&images->current);
	sdw_map64_free(&images->problems);
	sdw_file_cache_free(images->files);
	sdw_containers_free(images->containers);
}

static void end_image(struct sdw_images *images, struct sdw_image *image, uint64_t now_ns)
{
	if (image->ended_ns)
		return;
	image->ended_ns = now_ns;
	image->retry_ns = 0;
	if (sdw_image_at(&images->current, image->pid) == image)
		sdw_map64_remove(&images->current, image->pid);
}

struct sdw_image *sdw_images_get(struct sdw_images *images, uint32_t pid, uint32_t epoch)
{
	struct sdw_image *image = sdw_image_at(&images->by_key, sdw_image_key(pid, epoch));

	if (image)
		return image;
	image = calloc(1, sizeof(*image));
	// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
	if (!image || sdw_array_reserve(&images->all, 1) ||
	    sdw_map64_set(&images->by_key, sdw_image_key(pid, epoch), (uintptr_t)image)) {
		free(image);
		return NULL;
	}
	images->all.items[images->all.count++] = image;
	images->next_retry_ns = image->retry_ns = 1; /* at once */
	image->pid = pid;
	image->epoch = epoch;
	image->perf_map.pid = pid;
	image->perf_map.budget = &images->perf_maps;
	sdw_maps_init(&image->maps, pid, images->files);
	sdw_maps_init(&image->next_maps, pid, images->files);
	/* best effort: without it only later mappings of the process are missed */
	(void)sdw_map64_set(&images->current, pid, (uintptr_t)image);
	return image;
}

void sdw_images_need_container(struct sdw_images *images, struct sdw_image *image)
{
	const struct sdw_container *container;

	if (image->container_known || !image->pid ||
	    sdw_containers_of(images->containers, image->pid, &container))
		return; /* gone: what it has from its parent stays */
	image->container = container;
	image->container_known = true;
}

void sdw_images_need_maps(struct sdw_image *image)
{
	struct timespec now;

	if (image->maps_known)
		return;
	image->maps_known = true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (sdw_maps_read(&image->maps))
		sdw_debug("pid %u: its mappings cannot be read", image->pid);
	else
		image->maps_as_of_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	image->maps_bound = 2 * image->maps.count + MAPS_SLACK;
	if (image->maps_bound > MAX_BOUND)
		image->maps_bound = MAX_BOUND;
}

static void say_once(struct sdw_images *images, const struct sdw_image *image, const char *problem)
{
	const char *kept = sdw_strings_keep(images->strings, problem);

	if (!kept || sdw_map64_find(&images->problems, (uintptr_t)kept))
		return;
	(void)sdw_map64_set(&images->problems, (uintptr_t)kept, 1);
	sdw_warn("pid %u: %s; its native frames are recorded", image->pid, kept);
}

/* Once: whoever may not read one process's files may not read those of many. */
static void say_denied(struct sdw_images *images, const struct sdw_image *image)
{
	for (size_t i = 0; i < image->maps.count && !images->denied; i++) {
		const struct sdw_mapping *mapping = &image->maps.items[i];

		if (!mapping->file_denied)
			continue;
		images->denied = true;
		sdw_warn("pid %u: no right to read %s: there may be Python in it that is not seen; "
			 "run as root, or with CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE too",
			 image->pid, mapping->path);
	}
}

static void plan_retry(struct sdw_images *images, struct sdw_image *image, uint64_t now_ns)
{
	uint64_t pause = SELDOM_NS;

	if (image->tries < SOON_TRIES)
		pause = SOON_NS;
	else if (image->tries < LATE_TRIES)
		pause = LATE_NS;
	if (image->tries < LATE_TRIES)
		image->tries++;
	image->retry_ns = now_ns + pause;
	if (!images->next_retry_ns || image->retry_ns < images->next_retry_ns)
		images->next_retry_ns = image->retry_ns;
}

/* A process that the BPF side has no room for must not end the recording of the others. */
static void publish(struct sdw_images *images, const struct sdw_image *image)
{
	const struct sdw_found_interpreter *found = &image->interpreter;
	bool python = image->state == SDW_IMAGE_PYTHON;
	int err;

	err = sdw_programs_set_interpreter(images->programs, image->pid, image->epoch,
					   python ? &found->layout : NULL, found->runtime_addr,
					   found->code_type_addr);
	if (err && python)
		say_once(images, image, "the table of interpreters is full");
	else if (err)
		sdw_debug("pid %u: the table of interpreters: %s", image->pid, strerror(-err));
	if (images->tell)
		images->tell(images->tell_context, image,
			     python ? sdw_programs_layout_index(images->programs, &found->layout)
				    : -1);
}

void sdw_images_publish_again(struct sdw_images *images, const struct sdw_image *image)
{
	publish(images, image);
}

struct sdw_image *sdw_images_current(const struct sdw_images *images, uint32_t pid)
{
	return sdw_image_at(&images->current, pid);
}

int sdw_images_look(struct sdw_images *images, struct sdw_image *image, uint64_t now_ns)
{
	int found;

	sdw_images_need_maps(image);
	image->retry_ns = 0;
	found = sdw_interpreter_find(&image->maps, &image->interpreter);
	if (found == 1) {
		image->state = SDW_IMAGE_PYTHON;
		sdw_debug("pid %u: CPython %s in %s", image->pid, image->interpreter.version,
			  image->interpreter.path);
		publish(images, image);
		return 0;
	}
	say_denied(images, image);
	if (found == -ENOTSUP && image->interpreter.may_pass && image->tries < MISFIT_TRIES)
		found = -EAGAIN;
	if (found == 0 || found == -ENOTSUP) {
		image->state = found ? SDW_IMAGE_REFUSED : SDW_IMAGE_OTHER;
		if (found)
			say_once(images, image, image->interpreter.problem);
		publish(images, image);
		return 0;
	}
	if (found == -ENOMEM)
		return found;
	if (found != -EAGAIN)
		sdw_debug("pid %u: cannot look for CPython: %s", image->pid, strerror(-found));
	plan_retry(images, image, now_ns);
	if (image->tries >= LATE_TRIES && image->state == SDW_IMAGE_UNKNOWN) {
		/* until then its samples say that Python frames may be missing */
		image->state = SDW_IMAGE_OTHER;
		publish(images, image);
	}
	return 0;
}

/* Not one of the kept strings: a target can have as many names as it likes. */
static int fork_image(struct sdw_images *images, const struct sdw_record_life *life,
		      struct sdw_image *child)
{
	struct sdw_image *parent =
		sdw_image_at(&images->by_key, sdw_image_key(life->parent_pid, life->parent_epoch));

	if (!parent || parent == child)
		return sdw_images_look(images, child, life->record.time_ns);
	sdw_images_need_container(images, parent);
	child->parent = parent->id;
	child->container = parent->container;
	child->container_known = parent->container != NULL; /* nobody leaves one but by exec */
	child->state = parent->state;
	child->interpreter = parent->interpreter;
	child->maps_known = parent->maps_known;
	child->maps_bound = parent->maps_bound;
	child->retry_ns = 0;
	if (parent->maps_known) {
		int err;

		sdw_maps_free(&child->maps); /* of a sample that came before */
		err = sdw_maps_copy(&child->maps, &parent->maps, child->pid);
		if (err)
			return err;
	}
	if (child->state == SDW_IMAGE_UNKNOWN)
		return sdw_images_look(images, child, life->record.time_ns);
	/* the BPF side has copied the entry; unless the parent's came in between */
	publish(images, child);
	return 0;
}

/* The image before the exec ends; mappings made since the exec began are the new one's. */
static int exec_image(struct sdw_images *images, const struct sdw_record_life *life,
		      struct sdw_image *image)
{
	struct sdw_image *before =
		sdw_image_at(&images->by_key, sdw_image_key(life->parent_pid, life->parent_epoch));

	image->maps_known = false;
	if (before) {
		image->parent = before->parent;
		if (!image->container_known) /* gone already */
			image->container = before->container;
		if (before->executing) {
			struct sdw_maps empty = image->maps;

			image->maps = before->next_maps;
			before->next_maps = empty;
			image->maps_known = true;
			image->maps_bound = MAPS_SLACK;
		}
		end_image(images, before, life->record.time_ns);
	}
	(void)sdw_map64_set(&images->current, image->pid, (uintptr_t)image);
	return sdw_images_look(images, image, life->record.time_ns);
}

int sdw_images_life(struct sdw_images *images, const struct sdw_record_life *life)
{
	struct sdw_image *image = sdw_images_get(images, life->record.pid, life->record.epoch);

	if (!image)
		return -ENOMEM;
	if (life->what == SDW_LIFE_SEEN || life->what == SDW_LIFE_FORK ||
	    life->what == SDW_LIFE_EXEC) {
		sdw_image_copy_comm(image->comm, life);
		image->inner_pid = life->inner_pid;
	}
	if (life->what == SDW_LIFE_SEEN || life->what == SDW_LIFE_EXEC)
		sdw_images_need_container(images, image); /* now: it may be gone in a moment */
	switch (life->what) {
	case SDW_LIFE_SEEN:
		return sdw_images_look(images, image, life->record.time_ns);
	case SDW_LIFE_FORK:
		return fork_image(images, life, image);
	case SDW_LIFE_EXEC:
		return exec_image(images, life, image);
	case SDW_LIFE_EXIT:
		end_image(images, image, life->record.time_ns);
		return 0;
	case SDW_LIFE_THREAD_EXIT:
		return sdw_image_thread_end(images, life);
	case SDW_LIFE_THREAD_SEEN:
		return sdw_image_thread_seen(images, image, life);
	default:
		return 0;
	}
}

/*
 * Mapping records were lost: what the image has may be old, and lack its interpreter. Unless it was
 * read since: records of a process that maps a lot are handled late, and it may be gone by now.
 */
static void distrust_maps(struct sdw_images *images, struct sdw_image *image, uint64_t now_ns)
{
	if (image->maps_known && !image->executing && image->maps_as_of_ns > now_ns)
		return;
	image->maps_known = false;
	image->executing = false;
	sdw_maps_free(&image->next_maps);
	if (image->state != SDW_IMAGE_PYTHON)
		plan_retry(images, image, now_ns);
}

/* The mapping is in place: may the interpreter have come with it? */
static void look_at_mapping(struct sdw_images *images, struct sdw_image *image, uint64_t start,
			    uint64_t now_ns)
{
	struct sdw_mapping *mapping = sdw_maps_find(&image->maps, start);

	/* one that is starting is looked at again anyway */
	if (image->state != SDW_IMAGE_UNKNOWN &&
	    (!mapping || !sdw_interpreter_is_in(&image->maps, mapping)))
		return;
	image->tries = 0;
	if (!image->retry_ns || image->retry_ns > now_ns + SOON_NS)
		plan_retry(images, image, now_ns);
}

/* Adds a mapping to those of the image, or of the one that it is about to become. */
static int add_mapping(struct sdw_images *images, struct sdw_image *image,
		       const struct sdw_mapping *mapping, uint64_t now_ns)
{
	struct sdw_maps *maps = image->executing ? &image->next_maps : &image->maps;
	int err;

	if (maps->count >= (image->executing ? MAPS_SLACK : image->maps_bound)) {
		distrust_maps(images, image, now_ns);
		return 0;
	}
	err = sdw_maps_add(maps, mapping);
	if (!err && !image->executing && mapping->inode && image->state != SDW_IMAGE_PYTHON)
		look_at_mapping(images, image, mapping->start, now_ns);
	return err;
}

int sdw_images_mapping(struct sdw_images *images, const struct sdw_record_mapping *record)
{
	struct sdw_image *image = sdw_image_at(&images->current, record->record.pid);
	struct sdw_mapping mapping = {
		.start = record->start,
		.end = record->start + record->length,
		.offset = record->offset,
		.inode = record->inode,
		.device_major = record->device_major,
		.device_minor = record->device_minor,
		.executable = true,
		.path = (char *)(record + 1),
	};

	if (!record->record.pid) {
		for (size_t i = 0; i < images->all.count; i++) {
			if (!images->all.items[i]->ended_ns)
				distrust_maps(images, images->all.items[i], record->record.time_ns);
		}
		return 0;
	}
	if (!image || (!image->maps_known && !image->executing))
		return 0; /* not ours, or to be read whole at first need */
	if (!record->length) {
		/* an exec has begun: from here on, mappings are those of the next image */
		sdw_maps_free(&image->next_maps);
		sdw_maps_init(&image->next_maps, image->pid, images->files);
		image->executing = true;
		return 0;
	}
	if (mapping.end <= mapping.start)
		return 0;
	if (!strcmp(mapping.path, "//anon"))
		mapping.path = "";
	return add_mapping(images, image, &mapping, record->record.time_ns);
}

static void forget(struct sdw_images *images, size_t at)
{
	struct sdw_image *image = images->all.items[at];

	sdw_programs_forget(images->programs, image->pid, image->epoch);
	if (images->codes)
		sdw_code_table_forget(images->codes, image->pid, image->epoch);
	if (images->python_stacks)
		sdw_python_stacks_forget(images->python_stacks, image->pid, image->epoch);
	sdw_map64_remove(&images->by_key, sdw_image_key(image->pid, image->epoch));
	if (sdw_image_at(&images->current, image->pid) == image)
		sdw_map64_remove(&images->current, image->pid);
	release(image);
	free(image);
	images->all.items[at] = images->all.items[--images->all.count];
}

static bool is_gone(const struct sdw_image *image)
{
	return kill((pid_t)image->pid, 0) && errno == ESRCH;
}

void sdw_images_find_ended(struct sdw_images *images, uint64_t now_ns)
{
	for (size_t i = 0; i < images->all.count; i++) {
		struct sdw_image *image = images->all.items[i];

		/*
		 * Another image under its pid, and no exec of this one: the pid was used again. No
		 * epoch: the BPF side had no room, and tells of no exec; it is made anew.
		 */
		if (image->pid &&
		    (!image->epoch || sdw_image_at(&images->current, image->pid) != image ||
		     is_gone(image)))
			end_image(images, image, now_ns);
	}
}

void sdw_images_tick(struct sdw_images *images, uint64_t now_ns)
{
	bool due = images->next_retry_ns && now_ns >= images->next_retry_ns;

	if (!due && now_ns < images->next_sweep_ns)
		return; /* called for each process that begins: not all of them each time */
	images->next_sweep_ns = now_ns + SWEEP_NS;
	sdw_image_threads_forget(images, now_ns);
	if (due)
		images->next_retry_ns = 0;
	for (size_t i = 0; i < images->all.count;) {
		struct sdw_image *image = images->all.items[i];

		if (image->ended_ns && now_ns > image->ended_ns + KEEP_ENDED_NS) {
			forget(images, i);
			continue;
		}
		if (due && image->retry_ns && now_ns >= image->retry_ns) {
			/* one whose end was not told of must not stay for ever */
			if (is_gone(image))
				end_image(images, image, now_ns);
			else
				(void)sdw_images_look(images, image, now_ns);
		}
		if (image->retry_ns &&
		    (!images->next_retry_ns || image->retry_ns < images->next_retry_ns))
			images->next_retry_ns = image->retry_ns;
		i++;
	}
}
