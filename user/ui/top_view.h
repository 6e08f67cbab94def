/* SPDX-License-Identifier: MIT */
/*
 * top_view.h - what of the model is looked at, and the rows that this gives; what keys change.
 *
 * No terminal here: keys come in as numbers, rows go out as structs.
 */
#ifndef SDW_TOP_VIEW_H
#define SDW_TOP_VIEW_H

#include "ui/top_model.h"

enum sdw_top_by {
	SDW_TOP_BY_FUNCTION,
	SDW_TOP_BY_LINE,
	SDW_TOP_BY_THREAD,
	SDW_TOP_BY_PROCESS,
	SDW_TOP_BY_COUNT,
};

/* Columns of figures that rows can be sorted by; of threads and processes, total is self. */
enum sdw_top_sort {
	SDW_TOP_SORT_SELF_NOW,
	SDW_TOP_SORT_TOTAL_NOW,
	SDW_TOP_SORT_SELF_START,
	SDW_TOP_SORT_TOTAL_START,
	SDW_TOP_SORT_COUNT,
};

#define SDW_TOP_FILTER_BYTES 64
#define SDW_TOP_MAX_DRILL    32

enum sdw_top_state { SDW_TOP_LIVE, SDW_TOP_PAUSED, SDW_TOP_ENDED };

/* All zeroes is what is shown at first. */
struct sdw_top_view {
	enum sdw_top_by by;
	enum sdw_top_sort sort;
	enum sdw_top_frames frames;
	enum sdw_top_state state;
	char filter[SDW_TOP_FILTER_BYTES]; /* only rows with this text, whatever its case */
	bool editing;			   /* keys go into the filter */
	bool help;
	bool quit; /* was asked for; the caller takes it back */
	/* only what this thread or process does now; 0: all (see sdw_top_model_count_owner()) */
	uint32_t owner;
	bool owner_is_thread;
	uint32_t drill[SDW_TOP_MAX_DRILL]; /* functions' rows: the callers of the last are shown */
	size_t drilled;
	size_t selected; /* place in the list */
	uint64_t follow; /* id of the selected row, which it is followed by; 0: none, stay on top */
	size_t first;	 /* place of the first row on the screen, or line of the help */
	size_t page;	 /* rows that the screen has */
};

struct sdw_top_item {
	uint64_t id;	  /* of the row, not 0, the same as long as the view is by the same */
	uint8_t kind;	  /* enum sdw_code_kind; SDW_CODE_KIND_COUNT: a thread or process */
	const char *name; /* raw, owned by the model */
	const char *file; /* of threads: the process's name */
	uint32_t line, pid, tid;
	uint32_t owner;	   /* id of a thread or process; 0: it is none */
	uint32_t function; /* row of the function whose callers can be asked for; 0: none */
	/*
	 * Amounts by sort column. Of threads and processes the totals are what held the lock. Of
	 * callers self and total are the same.
	 */
	uint64_t amounts[SDW_TOP_SORT_COUNT];
};

struct sdw_top_list {
	struct sdw_top_item *items;
	size_t count, room;
	size_t unfiltered;	       /* how many there were before the filter */
	uint64_t whole[SDW_TOP_SPANS]; /* what shares are of */
};

/*
 * Makes the rows of the view, sorted; puts the view's selection where its row is now. `list` is all
 * zeroes or was made before. Returns 0 or -ENOMEM.
 */
int sdw_top_list_make(struct sdw_top_list *list, const struct sdw_top_model *model,
		      const struct sdw_top_counts *counts, struct sdw_top_view *view);
void sdw_top_list_free(struct sdw_top_list *list);

/* The function whose callers are shown, as an item with its name. */
struct sdw_top_item sdw_top_drilled(const struct sdw_top_model *model,
				    const struct sdw_top_view *view);

/* Keys that are no character. */
enum sdw_top_key {
	SDW_TOP_KEY_UP = 0x110000, /* beyond Unicode */
	SDW_TOP_KEY_DOWN,
	SDW_TOP_KEY_PAGE_UP,
	SDW_TOP_KEY_PAGE_DOWN,
	SDW_TOP_KEY_HOME,
	SDW_TOP_KEY_END,
	SDW_TOP_KEY_ENTER,
	SDW_TOP_KEY_BACK, /* backspace, or left */
	SDW_TOP_KEY_ESCAPE,
};

/* Does what `key` (a character, or an enum sdw_top_key) asks for. `list` is what is shown. */
void sdw_top_view_key(struct sdw_top_view *view, const struct sdw_top_list *list, uint32_t key);

#endif
