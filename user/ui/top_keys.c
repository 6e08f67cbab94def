// SPDX-License-Identifier: MIT
/* top_keys.c - what keys do to a view. */
#include <string.h>

#include "base/utf8.h"
#include "ui/top_view.h"

static void forget_selection(struct sdw_top_view *view)
{
	view->selected = view->first = 0;
	view->follow = 0;
}

static void select_place(struct sdw_top_view *view, const struct sdw_top_list *list, size_t place)
{
	if (!list->count)
		return;
	view->selected = place < list->count ? place : list->count - 1;
	/* on top the hottest row is meant, whichever that is */
	view->follow = view->selected ? list->items[view->selected].id : 0;
}

static void move(struct sdw_top_view *view, const struct sdw_top_list *list, uint32_t key)
{
	size_t page = view->page ? view->page : 1, at = view->selected;

	switch (key) {
	case SDW_TOP_KEY_UP:
		at -= at ? 1 : 0;
		break;
	case SDW_TOP_KEY_DOWN:
		at++;
		break;
	case SDW_TOP_KEY_PAGE_UP:
		at = at > page ? at - page : 0;
		break;
	case SDW_TOP_KEY_PAGE_DOWN:
		at += page;
		break;
	case SDW_TOP_KEY_HOME:
		at = 0;
		break;
	default:
		at = list->count;
	}
	select_place(view, list, at);
}

static void scroll_help(struct sdw_top_view *view, uint32_t key)
{
	size_t page = view->page > 1 ? view->page - 1 : 1;

	switch (key) {
	case SDW_TOP_KEY_UP:
	case 'k':
		view->first -= view->first ? 1 : 0;
		break;
	case SDW_TOP_KEY_DOWN:
	case 'j':
		view->first++; /* the drawing knows the end */
		break;
	case SDW_TOP_KEY_PAGE_UP:
		view->first = view->first > page ? view->first - page : 0;
		break;
	case SDW_TOP_KEY_PAGE_DOWN:
		view->first += page;
		break;
	default:
		view->help = false;
		view->first = 0;
	}
}

static void encode(uint32_t point, char *text)
{
	if (point < 0x80) {
		text[0] = (char)point;
	} else if (point < 0x800) {
		text[0] = (char)(0xc0 | point >> 6);
		text[1] = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		text[0] = (char)(0xe0 | point >> 12);
		text[1] = (char)(0x80 | (point >> 6 & 0x3f));
		text[2] = (char)(0x80 | (point & 0x3f));
	} else {
		text[0] = (char)(0xf0 | point >> 18);
		text[1] = (char)(0x80 | (point >> 12 & 0x3f));
		text[2] = (char)(0x80 | (point >> 6 & 0x3f));
		text[3] = (char)(0x80 | (point & 0x3f));
	}
}

static void edit(struct sdw_top_view *view, uint32_t key)
{
	size_t used = strlen(view->filter);
	char text[5] = "";

	switch (key) {
	case SDW_TOP_KEY_ENTER:
		view->editing = false;
		return;
	case SDW_TOP_KEY_ESCAPE:
		view->editing = false;
		view->filter[0] = '\0';
		break;
	case SDW_TOP_KEY_BACK:
		while (used && ((unsigned char)view->filter[used - 1] & 0xc0) == 0x80)
			used--;
		view->filter[used ? used - 1 : 0] = '\0';
		break;
	default:
		if (key < ' ' || key == 0x7f || key >= 0x110000)
			return;
		encode(key, text);
		/* surrogates are no characters */
		if (!sdw_utf8_length(text) || used + strlen(text) >= sizeof(view->filter))
			return;
		strcat(view->filter, text); /* NOLINT: its length was checked */
	}
	forget_selection(view);
}

/* What a thread does, or who calls a function. */
static void drill(struct sdw_top_view *view, const struct sdw_top_list *list)
{
	const struct sdw_top_item *item;

	if (view->selected >= list->count)
		return;
	item = &list->items[view->selected];
	if (item->owner && view->state != SDW_TOP_PAUSED) { /* what it did then is not kept */
		view->owner = item->owner;
		view->owner_is_thread = view->by == SDW_TOP_BY_THREAD;
		view->by = SDW_TOP_BY_FUNCTION;
		view->sort &= SDW_TOP_SORT_TOTAL_NOW; /* there is no other time */
	} else if (item->function && view->drilled < SDW_TOP_MAX_DRILL) {
		view->drill[view->drilled++] = item->function;
	} else {
		return;
	}
	view->filter[0] = '\0'; /* the text was for other rows */
	forget_selection(view);
}

static void back(struct sdw_top_view *view)
{
	if (view->drilled) {
		view->drilled--;
	} else if (*view->filter) {
		view->filter[0] = '\0';
	} else if (view->owner) {
		view->by = view->owner_is_thread ? SDW_TOP_BY_THREAD : SDW_TOP_BY_PROCESS;
		view->owner = 0;
	}
	forget_selection(view);
}

static void show_by(struct sdw_top_view *view, enum sdw_top_by by)
{
	view->by = by;
	view->drilled = 0;
	if (by == SDW_TOP_BY_THREAD || by == SDW_TOP_BY_PROCESS)
		view->owner = 0;
	forget_selection(view);
}

static void sort_by(struct sdw_top_view *view, unsigned int steps)
{
	unsigned int columns = view->owner ? SDW_TOP_SORT_SELF_START : SDW_TOP_SORT_COUNT;

	view->sort = (enum sdw_top_sort)((view->sort + steps) % columns);
	forget_selection(view);
}

static void pause_or_go_on(struct sdw_top_view *view)
{
	if (view->state != SDW_TOP_ENDED)
		view->state = view->state == SDW_TOP_LIVE ? SDW_TOP_PAUSED : SDW_TOP_LIVE;
}

/* Other rows, or in another order. Returns false for a key that does nothing of this. */
static bool show_other(struct sdw_top_view *view, uint32_t key)
{
	switch (key) {
	case 'f':
		show_by(view, SDW_TOP_BY_FUNCTION);
		return true;
	case 'l':
		show_by(view, SDW_TOP_BY_LINE);
		return true;
	case 't':
		show_by(view, SDW_TOP_BY_THREAD);
		return true;
	case 'p':
		show_by(view, SDW_TOP_BY_PROCESS);
		return true;
	case 'n':
		view->frames = view->frames == SDW_TOP_PYTHON ? SDW_TOP_ALL : SDW_TOP_PYTHON;
		forget_selection(view);
		return true;
	case 's':
	case '>':
		sort_by(view, 1);
		return true;
	case 'S':
	case '<':
		sort_by(view, SDW_TOP_SORT_COUNT - 1); /* -1 of two, too */
		return true;
	default:
		return false;
	}
}

/* The letters of less and vi for the keys that some keyboards lack. */
static uint32_t movement(uint32_t key)
{
	switch (key) {
	case 'j':
		return SDW_TOP_KEY_DOWN;
	case 'k':
		return SDW_TOP_KEY_UP;
	case 'g':
		return SDW_TOP_KEY_HOME;
	case 'G':
		return SDW_TOP_KEY_END;
	default:
		return key;
	}
}

static void command(struct sdw_top_view *view, const struct sdw_top_list *list, uint32_t key)
{
	switch (key) {
	case 'q':
	case 'Q':
		view->quit = true;
		break;
	case 'h':
	case '?':
		view->help = true;
		view->first = 0;
		break;
	case ' ':
		pause_or_go_on(view);
		break;
	case '/':
		view->editing = true;
		break;
	case SDW_TOP_KEY_ENTER:
		drill(view, list);
		break;
	case SDW_TOP_KEY_BACK:
	case SDW_TOP_KEY_ESCAPE:
		back(view);
		break;
	default:
		key = movement(key);
		if (!show_other(view, key) && key >= SDW_TOP_KEY_UP && key <= SDW_TOP_KEY_END)
			move(view, list, key);
	}
}

void sdw_top_view_key(struct sdw_top_view *view, const struct sdw_top_list *list, uint32_t key)
{
	if (view->help && key != 'q')
		scroll_help(view, key);
	else if (view->editing)
		edit(view, key);
	else
		command(view, list, key);
}
