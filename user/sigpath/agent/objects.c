// SPDX-License-Identifier: MIT
/*
 * objects.c - the loaded objects, for libunwind in a handler, without the dynamic linker's lock.
 *
 * libunwind asks dl_iterate_phdr(), which takes the lock that dlopen() holds. A thread that is
 * interrupted while it holds the allocator's lock, for which that dlopen() waits, would wait for
 * ever. So this library stands in front of dl_iterate_phdr(). In a handler it answers from a table
 * of its own, filled from the list that the linker keeps for debuggers (_r_debug), by reads that
 * fail where a load would fault.
 *
 * Entries are only added: another thread's handler may be reading them. What was unloaded is
 * marked, and is the same entry again if it comes back to its place. While a dlclose() is under
 * way, and until the table knows what it took away, no stack is unwound: an old entry must not be
 * taken for what is in its place now.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "agent.h"
#include "bpf/bpf_helpers.h"

#define MAX_OBJECTS  4096u /* ever loaded, by place; frames in later ones end a stack */
#define MAX_SEGMENTS 64u   /* of one object */
#define MAX_HEADERS  (MAX_OBJECTS * 16u)

struct object {
	const struct link_map *node; /* in the linker's list */
	ElfW(Addr) base;
	ElfW(Addr) dynamic;
	uint32_t first, count; /* in headers[] */
	uint32_t seen;	       /* number of the last look at the list that found it */
	bool gone;
};

struct objects {
	uint32_t count; /* published last */
	uint32_t headers_used;
	uint32_t looks;
	const struct link_map *last, *before_last; /* of the list; NULL: to be read whole */
	struct object items[MAX_OBJECTS];
	ElfW(Phdr) headers[MAX_HEADERS];
};

static struct objects *objects; /* NULL: libunwind is not used in handlers */
static uint32_t locked;		/* somebody reads the linker's list: others do not */
static uint32_t unloading;	/* calls of dlclose() under way */
static uint32_t unloaded;	/* one was since the list was read */
static uint32_t forks;		/* that made this process */
static int (*real_iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
static int (*real_dlclose)(void *);

static int read_at(void *to, uint32_t size, const void *from)
{
	return (int)sdw_agent_read(to, size, (unsigned long)from);
}

/* The program headers of an object, in memory. Returns their number, 0: they cannot be had. */
static uint32_t find_headers(const struct link_map *map, bool first, const void **at)
{
	ElfW(Ehdr) header;

	if (first) { /* the program itself; its base says nothing where it is not relocated */
		*at = (const void *)getauxval(AT_PHDR);
		return (uint32_t)getauxval(AT_PHNUM);
	}
	*at = (const void *)map->l_addr;
	if (read_at(&header, sizeof(header), *at) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_phentsize != sizeof(ElfW(Phdr)))
		return 0;
	*at = (const uint8_t *)*at + header.e_phoff;
	return header.e_phnum;
}

/* Is the object, which may have been unloaded, in its place? */
static bool is_same(const struct object *object, const struct link_map *node,
		    const struct link_map *map)
{
	return object->node == node && object->base == map->l_addr &&
	       object->dynamic == (ElfW(Addr))map->l_ld;
}

/* Takes an object into the table, or finds it there. */
static void take_object(const struct link_map *node, const struct link_map *map, bool first)
{
	struct object *object = NULL;
	ElfW(Phdr) headers[MAX_SEGMENTS];
	const void *at;
	uint32_t count = find_headers(map, first, &at), bytes = count * (uint32_t)sizeof(*headers);

	if (!count || count > MAX_SEGMENTS || read_at(headers, bytes, at))
		return;
	for (uint32_t i = 0; i < objects->count; i++) {
		object = &objects->items[i];
		if (is_same(object, node, map) && object->count == count &&
		    !memcmp(&objects->headers[object->first], headers, bytes)) {
			object->seen = objects->looks;
			__atomic_store_n(&object->gone, false, __ATOMIC_RELAXED);
			return;
		}
	}
	if (objects->count == MAX_OBJECTS || count > MAX_HEADERS - objects->headers_used)
		return;
	object = &objects->items[objects->count];
	*object = (struct object){.node = node,
				  .base = map->l_addr,
				  .dynamic = (ElfW(Addr))map->l_ld,
				  .first = objects->headers_used,
				  .count = count,
				  .seen = objects->looks};
	memcpy(&objects->headers[object->first], headers, bytes);
	objects->headers_used += count;
	__atomic_store_n(&objects->count, objects->count + 1, __ATOMIC_RELEASE);
}

/* Has nothing been added since the list was read? What was added is at its end. */
static bool is_unchanged(void)
{
	struct link_map last, before;

	return objects->last && objects->before_last &&
	       !read_at(&last, sizeof(last), objects->last) && !last.l_next &&
	       !read_at(&before, sizeof(before), objects->before_last) &&
	       before.l_next == objects->last;
}

static bool is_consistent(void)
{
	return __atomic_load_n((const int *)(const void *)&_r_debug.r_state, __ATOMIC_ACQUIRE) ==
	       RT_CONSISTENT;
}

/* Reads the linker's list. False: another thread changed it meanwhile, and what was there stays. */
static bool read_list(void)
{
	const struct link_map *node = _r_debug.r_map;
	struct link_map map;
	uint32_t steps;

	objects->looks++;
	objects->last = objects->before_last = NULL;
	for (steps = 0; node && steps < MAX_OBJECTS; steps++) {
		if (read_at(&map, sizeof(map), node) || !is_consistent())
			break;
		take_object(node, &map, !steps);
		objects->before_last = objects->last;
		objects->last = node;
		node = map.l_next;
	}
	if (node || !is_consistent()) {
		objects->last = NULL;
		return false;
	}
	for (uint32_t i = 0; i < objects->count; i++) {
		if (objects->items[i].seen != objects->looks)
			__atomic_store_n(&objects->items[i].gone, true, __ATOMIC_RELAXED);
	}
	return true;
}

/* Brings the table up to date, unless the linker or another thread is at it. Returns if it did. */
static bool look(void)
{
	bool changed = false;

	if (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		return false;
	if (is_consistent() && (__atomic_load_n(&unloaded, __ATOMIC_ACQUIRE) || !is_unchanged())) {
		__atomic_store_n(&unloaded, 0, __ATOMIC_RELAXED);
		changed = read_list();
		if (!changed)
			__atomic_store_n(&unloaded, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	return changed;
}

int sdw_agent_objects_create(void)
{
	void *memory = mmap(NULL, sizeof(*objects), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	objects = memory;
	(void)look();
	return 0;
}

void sdw_agent_objects_after_fork(void)
{
	/* whoever was at it is not in this process */
	forks++;
	locked = unloading = 0;
	unloaded = 1;
}

bool sdw_agent_objects_ready(void)
{
	if (__atomic_load_n(&unloading, __ATOMIC_ACQUIRE))
		return false;
	if (!__atomic_load_n(&unloaded, __ATOMIC_ACQUIRE))
		return true;
	if (!look())
		return false;
	/* it remembers, by address, how to unwind what was there before */
	unw_flush_cache(unw_local_addr_space, 0, 0);
	return true;
}

/* ---- what libunwind calls ---- */

static int iterate_known(uint32_t from, uint32_t to,
			 int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	for (uint32_t i = from; i < to; i++) {
		struct object *object = &objects->items[i];
		struct dl_phdr_info info = {.dlpi_addr = object->base,
					    .dlpi_name = "",
					    .dlpi_phdr = &objects->headers[object->first],
					    .dlpi_phnum = (ElfW(Half))object->count};
		int result;

		if (__atomic_load_n(&object->gone, __ATOMIC_RELAXED))
			continue;
		result = callback(&info, sizeof(info), data);
		if (result)
			return result;
	}
	return 0;
}

SDW_AGENT_EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
				     void *data)
{
	uint32_t count;
	int result;

	if (!sdw_agent_thread.in_handler || !objects) {
		if (!real_iterate)
			real_iterate =
				(__typeof__(real_iterate))dlsym(RTLD_NEXT, "dl_iterate_phdr");
		return real_iterate(callback, data);
	}
	count = __atomic_load_n(&objects->count, __ATOMIC_ACQUIRE);
	result = iterate_known(0, count, callback, data);
	if (result || !look())
		return result;
	/* the address may be in what was loaded, or came back, since */
	return iterate_known(0, __atomic_load_n(&objects->count, __ATOMIC_ACQUIRE), callback, data);
}

/* The linker does not ask who calls this one, as it does for dlopen(). */
SDW_AGENT_EXPORT int dlclose(void *handle)
{
	uint32_t before = forks;
	int result;

	if (!real_dlclose)
		real_dlclose = (__typeof__(real_dlclose))dlsym(RTLD_NEXT, "dlclose");
	if (!objects)
		return real_dlclose(handle);
	__atomic_fetch_add(&unloading, 1, __ATOMIC_SEQ_CST);
	result = real_dlclose(handle);
	__atomic_store_n(&unloaded, 1, __ATOMIC_SEQ_CST);
	if (before == forks) /* a destructor may have forked */
		__atomic_fetch_sub(&unloading, 1, __ATOMIC_SEQ_CST);
	return result;
}
