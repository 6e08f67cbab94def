// SPDX-License-Identifier: MIT
/* top_draw_header.c - what is said above the table: the target, the figures of all samples, loss.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/summary.h"
#include "ui/top_draw.h"
#include "view/escape.h"

#define LABEL_COLUMNS 8

/* Fields one after another, on as many lines as they need: none is ever cut in two. */
struct flow {
	struct sdw_top_screen *screen;
	const char *label; /* at the begin of the first line; then NULL */
};

static void begin_line(struct flow *flow)
{
	sdw_top_screen_line(flow->screen);
	if (flow->label)
		sdw_top_screen_add(flow->screen, SDW_TOP_DIM, flow->label);
	flow->label = NULL;
	sdw_top_screen_pad(flow->screen, LABEL_COLUMNS);
}

static void flow_field(struct flow *flow, enum sdw_top_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void flow_field(struct flow *flow, enum sdw_top_style style, const char *format, ...)
{
	size_t column = sdw_top_screen_column(flow->screen);
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!flow->label && column > LABEL_COLUMNS &&
	    column + 2 + strlen(text) <= flow->screen->width)
		sdw_top_screen_add(flow->screen, SDW_TOP_PLAIN, "  ");
	else
		begin_line(flow);
	sdw_top_screen_add(flow->screen, style, text);
}

/* "0:42", "12:03:04" */
static void format_time(char *text, size_t room, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;

	if (seconds < 3600)
		snprintf(text, room, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
	else
		snprintf(text, room, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
			 seconds / 60 % 60, seconds % 60);
}

static void draw_title(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	static const char *const states[] = {"live", "PAUSED", "ENDED"};
	const struct sdw_top_view *view = drawing->view;
	char *command, *fitted, state[64], time[32];
	size_t room;

	format_time(time, sizeof(time), drawing->counts->sums[SDW_TOP_START].duration_ns);
	snprintf(state, sizeof(state), "%s %s%s", states[view->state],
		 view->state == SDW_TOP_ENDED ? "after " : "", time);
	if (!drawing->height) /* nothing lives in a print */
		snprintf(state, sizeof(state), "%s", time);
	room = screen->width > strlen(state) + 2 ? screen->width - strlen(state) - 2 : 0;
	command = sdw_escape_text(drawing->model->profile.recording.command, SDW_ESCAPE_TERMINAL);
	fitted = command ? sdw_utf8_fit(command, room, 0) : NULL;
	if (!fitted)
		screen->failed = true;
	sdw_top_screen_line(screen);
	sdw_top_screen_add(screen, SDW_TOP_TITLE, fitted ? fitted : "");
	sdw_top_screen_pad(screen, screen->width - strlen(state));
	sdw_top_screen_add(screen, view->state == SDW_TOP_LIVE ? SDW_TOP_PLAIN : SDW_TOP_WARNING,
			   state);
	free(command);
	free(fitted);
}

static void share_field(struct flow *flow, const char *name, uint64_t amount, uint64_t of)
{
	if (of)
		flow_field(flow, SDW_TOP_PLAIN, "%s %.1f%%", name,
			   100.0 * (double)amount / (double)of);
	else
		flow_field(flow, SDW_TOP_PLAIN, "%s -", name);
}

static void share_fields(struct flow *flow, const struct sdw_top_drawing *drawing,
			 const struct sdw_top_sums *sums)
{
	if (drawing->model->profile.recording.native) {
		share_field(flow, "Python", sums->kinds[SDW_CODE_PYTHON], sums->amount);
		share_field(flow, "native", sums->kinds[SDW_CODE_NATIVE], sums->amount);
	} else { /* they cannot be told apart */
		share_field(flow, "user", sums->amount - sums->kinds[SDW_CODE_KERNEL],
			    sums->amount);
	}
	share_field(flow, "kernel", sums->kinds[SDW_CODE_KERNEL], sums->amount);
	if (drawing->model->profile.recording.native && sums->kinds[SDW_CODE_MARKER])
		share_field(flow, "unknown", sums->kinds[SDW_CODE_MARKER], sums->amount);
	share_field(flow, "GIL held", sums->gil, sums->amount);
	if (sums->gc)
		share_field(flow, "GC", sums->gc, sums->amount);
}

static void draw_span(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing,
		      enum sdw_top_span span)
{
	const struct sdw_top_sums *sums = &drawing->counts->sums[span];
	const char *unit = drawing->model->profile.recording.unit;
	double seconds = (double)sums->duration_ns / 1e9;
	struct flow flow = {screen, span == SDW_TOP_NOW ? "now" : "start"};
	char label[16];

	if (span == SDW_TOP_NOW &&
	    seconds >= 1) { /* how far back now goes, as long as there is so much */
		snprintf(label, sizeof(label), "now %.0fs",
			 (double)drawing->model->window_ns / 1e9 < seconds
				 ? (double)drawing->model->window_ns / 1e9
				 : seconds);
		flow.label = label;
	}
	if (span == SDW_TOP_NOW && sums->duration_ns)
		flow_field(&flow, SDW_TOP_BOLD, "%.0f samples/s", (double)sums->samples / seconds);
	else
		flow_field(&flow, SDW_TOP_BOLD, "%" PRIu64 " sample%s", sums->samples,
			   sums->samples == 1 ? "" : "s");
	if (sums->duration_ns && strcmp(unit, "ns") == 0)
		flow_field(&flow, SDW_TOP_PLAIN, "CPU %.0f%%",
			   100.0 * (double)sums->weight / (double)sums->duration_ns);
	share_fields(&flow, drawing, sums);
}

static void draw_loss(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	const struct sdw_totals *totals = &drawing->counts->totals;
	uint64_t lost = sdw_totals_lost(totals);
	struct flow flow = {screen, "lost"};

	if (!lost) {
		flow_field(&flow, SDW_TOP_PLAIN, "0");
	} else {
		flow_field(&flow, SDW_TOP_WARNING, "%" PRIu64 " of %" PRIu64 " (%.3g%%)", lost,
			   sdw_totals_target_overflows(totals), 100 * sdw_totals_loss(totals));
		for (unsigned int i = 0; i < SDW_LOST_COUNT; i++) {
			if (i != SDW_LOST_OUTSIDE_TARGET && totals->lost[i])
				flow_field(&flow, SDW_TOP_WARNING, "%s %" PRIu64, sdw_lost_name(i),
					   totals->lost[i]);
		}
	}
}

/* Samples that are there, and lack a part of their stack. */
static void draw_status(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	const struct sdw_totals *totals = &drawing->counts->totals;
	struct flow flow = {screen, "status"};

	for (unsigned int i = 0; i < SDW_STATUS_COUNT; i++) {
		if (i != SDW_STATUS_COMPLETE && totals->status[i])
			flow_field(&flow, SDW_TOP_DIM, "%s %" PRIu64, sdw_status_name(i),
				   totals->status[i]);
	}
}

/* Which samples were asked for, if not all: every figure is of these. */
static void draw_only(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	const char *only = drawing->model->profile.recording.filter;
	char *text;

	if (!only || !*only)
		return;
	text = sdw_escape_text(only, SDW_ESCAPE_TERMINAL);
	sdw_top_screen_line(screen);
	sdw_top_screen_add(screen, SDW_TOP_DIM, "only");
	sdw_top_screen_pad(screen, LABEL_COLUMNS);
	sdw_top_screen_add(screen, SDW_TOP_WARNING, text ? text : "");
	free(text);
}

void sdw_top_draw_header(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	draw_title(screen, drawing);
	draw_only(screen, drawing);
	draw_span(screen, drawing, SDW_TOP_NOW);
	draw_span(screen, drawing, SDW_TOP_START);
	draw_loss(screen, drawing);
	draw_status(screen, drawing);
}
