// SPDX-License-Identifier: MIT
/* Threads that are always in the allocator, beside one that loads and unloads a library. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ALLOCATORS 2
#define ROUNDS	   40
#define ROUND_NS   3000000 /* of a thread's own time */

static volatile int over;

static void *load(void *library)
{
	while (!over) {
		void *handle = dlopen(library, RTLD_NOW);

		if (!handle)
			exit(1);
		dlclose(handle);
	}
	return NULL;
}

/* New threads: libunwind remembers nothing in them, and asks what is loaded. */
static void *allocate(void *unused)
{
	void *kept[64] = {NULL};
	struct timespec used;

	(void)unused;
	do {
		for (unsigned int i = 0; i < 2000; i++) {
			free(kept[i % 64]);
			kept[i % 64] = malloc(2000 + i * 37 % 9000);
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (!used.tv_sec && used.tv_nsec < ROUND_NS);
	for (unsigned int i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t loader, allocators[ALLOCATORS];

	if (count < 2)
		return 2;
	mallopt(M_ARENA_MAX, 1);
	pthread_create(&loader, NULL, load, arguments[1]);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < ALLOCATORS; i++)
			pthread_create(&allocators[i], NULL, allocate, NULL);
		for (int i = 0; i < ALLOCATORS; i++)
			pthread_join(allocators[i], NULL);
	}
	over = 1;
	pthread_join(loader, NULL);
	puts("@done");
	return 0;
}
