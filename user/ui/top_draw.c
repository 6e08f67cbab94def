// SPDX-License-Identifier: MIT
/* top_draw.c - the table, and what stands around it; see top_draw.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/top_draw.h"
#include "view/escape.h"

#define FIGURE_COLUMNS	 7  /* " 100.0%" */
#define BOTH_SPANS_WIDTH 60 /* from here on there is room for now and since the start */
#define PLACE_ROOM	 40 /* for names and places together; with less there are no places */
#define LEAST_ROWS	 3

/* Which columns of figures there are: a number of spans times one or two. */
struct table {
	const struct sdw_top_drawing *drawing;
	enum sdw_top_span first, last;
	bool two;      /* self and total, or share and lock; of callers there is one */
	bool kinds;    /* a letter for what a row is */
	size_t name;   /* columns of names */
	size_t places; /* columns of places; 0: none */
};

static bool is_owner(const struct sdw_top_view *view)
{
	return !view->drilled && (view->by == SDW_TOP_BY_THREAD || view->by == SDW_TOP_BY_PROCESS);
}

static enum sdw_top_span sort_span(const struct sdw_top_view *view)
{
	return view->sort < SDW_TOP_SORT_SELF_START ? SDW_TOP_NOW : SDW_TOP_START;
}

static struct table lay_out(const struct sdw_top_drawing *drawing, size_t width)
{
	const struct sdw_top_view *view = drawing->view;
	struct table table = {.drawing = drawing, .last = SDW_TOP_START, .two = !view->drilled};
	size_t used = 1 + 2, room;

	if (view->owner)
		table.last = SDW_TOP_NOW;
	else if (width < BOTH_SPANS_WIDTH)
		table.first = table.last = sort_span(view);
	used += (table.last - table.first + 1) * (table.two ? 2 : 1) * FIGURE_COLUMNS;
	table.kinds = !is_owner(view) && view->frames == SDW_TOP_ALL;
	used += table.kinds ? 2 : 0;
	room = width > used ? width - used : 1;
	table.name = room;
	if (room >= PLACE_ROOM) {
		table.name = (room - 2) * 11 / 20;
		table.places = room - 2 - table.name;
	}
	return table;
}

/* ---- headings ---- */

static const char *const figure_names[2][2] = {{"SELF", "TOTAL"}, {"SHARE", "GIL"}};

/* " of thread worker-1 4712" */
static void draw_owner(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	const struct sdw_profile *profile = &drawing->model->profile;
	const struct sdw_top_view *view = drawing->view;
	const struct sdw_profile_thread *thread = sdw_thread_of(profile, view->owner);
	const struct sdw_profile_process *process = sdw_process_of(profile, view->owner);
	char *name;

	if (!view->owner)
		return;
	name = sdw_escape_text(
		sdw_text_or_unknown(view->owner_is_thread ? thread->name : process->comm),
		SDW_ESCAPE_TERMINAL);
	sdw_top_screen_addf(screen, SDW_TOP_BOLD, " of %s %s %" PRIu32,
			    view->owner_is_thread ? "thread" : "process", name ? name : "?",
			    view->owner_is_thread ? thread->tid : process->pid);
	free(name);
}

static void draw_what(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	static const char *const by[] = {"functions", "lines", "threads", "processes"};
	static const char *const sorts[2][SDW_TOP_SORT_COUNT] = {
		{"self now", "total now", "self since start", "total since start"},
		{"share now", "GIL held now", "share since start", "GIL held since start"},
	};
	const struct sdw_top_view *view = drawing->view;
	struct sdw_top_item item;
	char *name = NULL;

	sdw_top_screen_line(screen);
	if (view->drilled) {
		item = sdw_top_drilled(drawing->model, view);
		name = sdw_escape_text(sdw_text_or_unknown(item.name), SDW_ESCAPE_TERMINAL);
		sdw_top_screen_add(screen, SDW_TOP_BOLD, "callers of ");
		sdw_top_screen_add(screen, SDW_TOP_BOLD, name ? name : "?");
		free(name);
	} else {
		sdw_top_screen_add(screen, SDW_TOP_BOLD, by[view->by]);
		draw_owner(screen, drawing);
		sdw_top_screen_addf(screen, SDW_TOP_PLAIN, " by %s",
				    sorts[is_owner(view)][view->sort]);
	}
	if (*view->filter) {
		name = sdw_escape_text(view->filter, SDW_ESCAPE_TERMINAL);
		sdw_top_screen_addf(screen, SDW_TOP_WARNING, "  with \"%s\": %zu of %zu",
				    name ? name : "", drawing->list->count,
				    drawing->list->unfiltered);
		free(name);
	}
}

static void draw_headings(struct sdw_top_screen *screen, const struct table *table)
{
	static const char *const names[] = {"FUNCTION", "FUNCTION", "THREAD", "PROCESS"};
	static const char *const places[] = {"FILE:LINE", "FILE:LINE RUNNING", "TID OF PROCESS",
					     "PID"};
	const struct sdw_top_view *view = table->drawing->view;
	size_t column = 1, group = (table->two ? 2 : 1) * FIGURE_COLUMNS;

	sdw_top_screen_line(screen);
	for (enum sdw_top_span span = table->first; span <= table->last; span++) {
		const char *name = span == SDW_TOP_NOW ? "NOW"
				   : table->two	       ? "SINCE START"
						       : "START";

		column += group;
		sdw_top_screen_pad(screen, column - strlen(name));
		sdw_top_screen_add(screen,
				   !table->two && span == sort_span(view) ? SDW_TOP_SORTED
									  : SDW_TOP_HEADING,
				   name);
	}
	if (table->two) { /* the columns of each */
		sdw_top_screen_line(screen);
		sdw_top_screen_pad(screen, 1);
		for (unsigned int i = table->first * 2; i <= table->last * 2 + 1; i++) {
			const char *name = figure_names[is_owner(view)][i % 2];

			sdw_top_screen_pad(screen, sdw_top_screen_column(screen) + FIGURE_COLUMNS -
							   strlen(name));
			sdw_top_screen_add(
				screen, i == view->sort ? SDW_TOP_SORTED : SDW_TOP_HEADING, name);
		}
	}
	sdw_top_screen_addf(screen, SDW_TOP_HEADING, "  %s%s", table->kinds ? "  " : "",
			    view->drilled ? "CALLER" : names[view->by]);
	if (table->places) {
		sdw_top_screen_pad(screen, screen->width - table->places);
		sdw_top_screen_add(screen, SDW_TOP_HEADING,
				   view->drilled ? "FILE:LINE OF THE CALL" : places[view->by]);
	}
}

/* ---- rows ---- */

static char *place_text(const struct sdw_top_item *item)
{
	char *file = NULL, *text = NULL;
	int n;

	if (item->kind == SDW_CODE_MARKER)
		return strdup("");
	/* of a library its name is what tells; of Python the folder as well */
	file = sdw_escape_text(item->kind == SDW_CODE_NATIVE ? sdw_base_name(item->file)
							     : item->file,
			       SDW_ESCAPE_TERMINAL);
	if (!file)
		return NULL;
	if (item->kind != SDW_CODE_KIND_COUNT)
		n = item->line ? asprintf(&text, "%s:%" PRIu32, file, item->line)
			       : asprintf(&text, "%s", file);
	else if (item->tid)
		n = asprintf(&text, "%" PRIu32 " of %s %" PRIu32, item->tid, file, item->pid);
	else
		n = asprintf(&text, "%" PRIu32, item->pid);
	free(file);
	return n < 0 ? NULL : text;
}

/* The name in the columns for it; where places have none, a line or number stands behind it. */
static char *name_text(const struct table *table, const struct sdw_top_item *item)
{
	const struct sdw_top_view *view = table->drawing->view;
	char *escaped, *fitted = NULL, *text = NULL, suffix[32] = "";
	size_t room;
	int n;

	if (!table->places && item->kind == SDW_CODE_KIND_COUNT)
		snprintf(suffix, sizeof(suffix), " %" PRIu32, item->tid ? item->tid : item->pid);
	else if (!table->places && item->line && (view->by == SDW_TOP_BY_LINE || view->drilled))
		snprintf(suffix, sizeof(suffix), ":%" PRIu32, item->line);
	room = table->name > strlen(suffix) + 2 ? table->name - strlen(suffix) : 2;
	room -= item->kind == SDW_CODE_MARKER && room > 2 ? 2 : 0;
	escaped = sdw_escape_text(sdw_text_or_unknown(item->name), SDW_ESCAPE_TERMINAL);
	if (escaped)
		fitted = sdw_utf8_fit(escaped, room, 0);
	if (fitted) {
		bool bare = item->kind == SDW_CODE_MARKER && fitted[0] != '[';

		n = asprintf(&text, "%s%s%s%s", bare ? "[" : "", fitted, bare ? "]" : "", suffix);
		if (n < 0)
			text = NULL;
	}
	free(escaped);
	free(fitted);
	return text;
}

static enum sdw_top_style kind_style(uint8_t kind)
{
	switch (kind) {
	case SDW_CODE_NATIVE:
		return SDW_TOP_NATIVE;
	case SDW_CODE_KERNEL:
		return SDW_TOP_KERNEL;
	case SDW_CODE_MARKER:
		return SDW_TOP_DIM;
	default:
		return SDW_TOP_PLAIN;
	}
}

static void draw_figure(struct sdw_top_screen *screen, const struct table *table,
			const struct sdw_top_item *item, unsigned int column)
{
	uint64_t whole = table->drawing->list->whole[column / 2], amount = item->amounts[column];
	double share = whole ? (double)amount / (double)whole : 0;

	if (!amount || !whole)
		sdw_top_screen_addf(screen, SDW_TOP_DIM, "%*s", FIGURE_COLUMNS, "-");
	else
		sdw_top_screen_addf(screen, share >= 0.1 ? SDW_TOP_BOLD : SDW_TOP_PLAIN, "%*.1f%%",
				    FIGURE_COLUMNS - 1, 100 * share);
}

static void draw_row(struct sdw_top_screen *screen, const struct table *table, size_t place)
{
	const struct sdw_top_item *item = &table->drawing->list->items[place];
	struct sdw_top_line *line = sdw_top_screen_line(screen);
	char *name = name_text(table, item), *where = place_text(item), *fitted;

	if (!line || !name || !where)
		goto failed;
	line->selected = table->drawing->height && place == table->drawing->view->selected;
	sdw_top_screen_add(screen, SDW_TOP_PLAIN, line->selected ? ">" : " ");
	for (unsigned int column = table->first * 2; column <= table->last * 2 + 1; column++) {
		if (table->two || column % 2 == 0)
			draw_figure(screen, table, item, column);
	}
	sdw_top_screen_add(screen, SDW_TOP_PLAIN, "  ");
	if (table->kinds)
		sdw_top_screen_addf(screen, SDW_TOP_DIM, "%c ",
				    item->kind < SDW_CODE_KIND_COUNT ? "PNK-"[item->kind] : '-');
	sdw_top_screen_add(screen, kind_style(item->kind), name);
	if (table->places && *where) {
		fitted = sdw_utf8_fit(where, table->places, 1);
		if (!fitted)
			goto failed;
		sdw_top_screen_pad(screen, screen->width - table->places);
		sdw_top_screen_add(screen, SDW_TOP_DIM, fitted);
		free(fitted);
	}
	free(name);
	free(where);
	return;
failed:
	screen->failed = true;
	free(name);
	free(where);
}

/* Moves the first row so that the selected one is on the screen. */
static void scroll(struct sdw_top_view *view, size_t count)
{
	if (view->first > view->selected)
		view->first = view->selected;
	if (view->selected >= view->first + view->page)
		view->first = view->selected - view->page + 1;
	if (view->first + view->page > count)
		view->first = count > view->page ? count - view->page : 0;
}

static void draw_rows(struct sdw_top_screen *screen, const struct table *table, size_t rows)
{
	const struct sdw_top_drawing *drawing = table->drawing;
	size_t count = drawing->list->count, first = 0;

	if (drawing->height) {
		drawing->view->page = rows;
		scroll(drawing->view, count);
		first = drawing->view->first;
	}
	if (!count) {
		sdw_top_screen_line(screen);
		sdw_top_screen_add(screen, SDW_TOP_DIM,
				   drawing->list->unfiltered ? "  no row has this text"
							     : "  no sample yet");
		return;
	}
	for (size_t i = first; i < count && (!rows || i < first + rows); i++)
		draw_row(screen, table, i);
}

/* ---- the last line ---- */

static void draw_last(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	static const char *const keys[] = {
		"h help",	 "q quit",	 "space pause",		"/ filter",
		"Enter callers", "s sort",	 "f functions l lines", "t threads",
		"p processes",	 "n native too",
	};
	const struct sdw_top_view *view = drawing->view;
	char *text;

	while (screen->count + 1 < drawing->height && sdw_top_screen_line(screen))
		;
	sdw_top_screen_line(screen);
	if (view->editing) {
		text = sdw_escape_text(view->filter, SDW_ESCAPE_TERMINAL);
		sdw_top_screen_add(screen, SDW_TOP_BOLD, "filter: ");
		sdw_top_screen_add(screen, SDW_TOP_PLAIN, text ? text : "");
		sdw_top_screen_add(screen, SDW_TOP_BOLD, "_");
		free(text);
		return;
	}
	if (drawing->message) {
		text = sdw_escape_text(drawing->message, SDW_ESCAPE_TERMINAL);
		sdw_top_screen_add(screen, SDW_TOP_WARNING, text ? text : "");
		free(text);
		return;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t column = sdw_top_screen_column(screen);

		if (column + 2 + strlen(keys[i]) > screen->width)
			break;
		sdw_top_screen_add(screen, SDW_TOP_DIM, column ? "  " : "");
		sdw_top_screen_add(screen, SDW_TOP_DIM, keys[i]);
	}
}

int sdw_top_draw(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	size_t width = drawing->width > SDW_TOP_LEAST_WIDTH ? drawing->width : SDW_TOP_LEAST_WIDTH;
	struct table table = lay_out(drawing, width);
	size_t around, rows = drawing->limit;

	sdw_top_screen_begin(screen, width, drawing->ascii);
	if (drawing->view->help && drawing->height) {
		sdw_top_draw_help(screen, drawing);
		return screen->failed ? -ENOMEM : 0;
	}
	sdw_top_draw_header(screen, drawing);
	if (drawing->height) {
		/* the table is what it is for: on a low screen the header gives way */
		around = table.two ? 4 : 3; /* headings, and the last line */
		while (screen->count > 1 && screen->count + around + LEAST_ROWS > drawing->height)
			free(screen->lines[--screen->count].text);
		rows = drawing->height > screen->count + around
			       ? drawing->height - screen->count - around
			       : 1;
	} else {
		sdw_top_screen_line(screen);
	}
	draw_what(screen, drawing);
	draw_headings(screen, &table);
	draw_rows(screen, &table, rows);
	if (drawing->height)
		draw_last(screen, drawing);
	return screen->failed ? -ENOMEM : 0;
}
