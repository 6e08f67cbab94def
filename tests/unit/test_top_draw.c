// SPDX-License-Identifier: MIT
/* The screen of `top` as text, at the widths that people have. */
#include <stdio.h>

#include "top_builder.h"
#include "ui/top_draw.h"
#include "view/escape.h"

struct drawn {
	struct top_builder builder;
	struct sdw_top_screen screen;
	const char *message;
	bool ascii;
};

/* A web service: 1000 samples in the first second and a quarter, of a thread and a worker. */
static void service(struct drawn *drawn)
{
	struct top_builder *builder = &drawn->builder;
	struct sdw_totals totals = {.overflows = 1012};
	uint32_t first, second;

	*drawn = (struct drawn){0};
	top_start(builder, "ns", 5);
	first = top_thread(builder, top_process(builder, 4711, "python3"), 4711, "python3");
	second = top_thread(builder, 1, 4712, "worker-1");
	top_samples(builder, first, "<module>@/srv/app.py:1:90;serve@/srv/app.py:10:12", 100);
	top_samples(builder, first,
		    "<module>@/srv/app.py:1:90;serve@/srv/app.py:10:14;JSONEncoder.iterencode@"
		    "/usr/lib/python3.11/json/encoder.py:205:258;n deflate@/usr/lib/libz.so.1",
		    400);
	top_samples(builder, second,
		    "run@/srv/pool.py:30:31;"
		    "ConnectionPoolManagerFactoryRegistry.acquire_with_deadline_and_retry@"
		    "/srv/vendor/site-packages/pooling/implementation/manager.py:120:140",
		    500);
	totals.status[SDW_STATUS_COMPLETE] = 1000;
	totals.lost[SDW_LOST_RING_FULL] = 12;
	TOP_SEND(builder, totals, &totals);
	for (uint64_t ms = 250; ms <= 1250; ms += 250)
		top_update(builder, ms);
}

static void draw(struct drawn *drawn, size_t width, size_t height)
{
	struct sdw_top_drawing drawing = {
		.model = &drawn->builder.model,
		.counts = &drawn->builder.model.counts,
		.list = &drawn->builder.list,
		.view = &drawn->builder.view,
		.width = width,
		.height = height,
		.message = drawn->message,
		.ascii = drawn->ascii,
	};

	top_list(&drawn->builder);
	assert_int_equal(sdw_top_draw(&drawn->screen, &drawing), 0);
	for (size_t i = 0; i < drawn->screen.count; i++) {
		const struct sdw_top_line *line = &drawn->screen.lines[i];
		size_t bytes = 0;

		assert_int_equal(sdw_utf8_width(line->text), line->width);
		if (line->width > (width > SDW_TOP_LEAST_WIDTH ? width : SDW_TOP_LEAST_WIDTH))
			fail_msg("%zu columns of %zu: %s", line->width, width, line->text);
		for (size_t j = 0; j < line->segment_count; j++)
			bytes += line->segments[j].bytes;
		assert_int_equal(bytes, line->bytes);
	}
	if (height)
		assert_true(drawn->screen.count <= height);
}

static void finish(struct drawn *drawn)
{
	sdw_top_screen_free(&drawn->screen);
	top_end(&drawn->builder);
}

/* The lines without what trails, each followed by a newline. */
static char *text_of(const struct drawn *drawn)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	assert_non_null(file);
	for (size_t i = 0; i < drawn->screen.count; i++) {
		size_t length = drawn->screen.lines[i].bytes;

		while (length && drawn->screen.lines[i].text[length - 1] == ' ')
			length--;
		fprintf(file, "%.*s\n", (int)length, drawn->screen.lines[i].text);
	}
	fclose(file);
	return text;
}

static void assert_screen(const struct drawn *drawn, const char *expected)
{
	char *text = text_of(drawn);

	assert_string_equal(text, expected);
	free(text);
}

static void assert_has(const struct drawn *drawn, const char *part)
{
	char *text = text_of(drawn);

	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
	free(text);
}

static void assert_lacks(const struct drawn *drawn, const char *part)
{
	char *text = text_of(drawn);

	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
	free(text);
}

static void test_eighty_columns(void **state)
{
	struct drawn drawn;

	(void)state;
	service(&drawn);
	draw(&drawn, 80, 16);
	assert_screen(
		&drawn,
		"python3 app.py                                                         live 0:01\n"
		"now 1s  800 samples/s  CPU 80%  Python 60.0%  native 40.0%  kernel 0.0%\n"
		"        GIL held 100.0%\n"
		"start   1000 samples  CPU 80%  Python 60.0%  native 40.0%  kernel 0.0%\n"
		"        GIL held 100.0%\n"
		"lost    12 of 1012 (1.19%)  ring_full 12\n"
		"functions by self now\n"
		"            NOW   SINCE START\n"
		"    SELF  TOTAL   SELF  TOTAL  FUNCTION                   FILE:LINE\n"
		">  50.0%  50.0%  50.0%  50.0%  Connecti…adline_and_retry"
		"  …/manager.py:120\n"
		"   40.0%  40.0%  40.0%  40.0%  JSONEncoder.iterencode"
		"     …/json/encoder.py:205\n"
		"   10.0%  50.0%  10.0%  50.0%  serve                      /srv/app.py:10\n"
		"       -  50.0%      -  50.0%  <module>                   /srv/app.py:1\n"
		"       -  50.0%      -  50.0%  run                        /srv/pool.py:30\n"
		"\n"
		"h help  q quit  space pause  / filter  Enter callers  s sort\n");
	finish(&drawn);
}

static void test_forty_columns(void **state)
{
	struct drawn drawn;

	(void)state;
	service(&drawn);
	draw(&drawn, 40, 18);
	assert_screen(&drawn, "python3 app.py                 live 0:01\n"
			      "now 1s  800 samples/s  CPU 80%\n"
			      "        Python 60.0%  native 40.0%\n"
			      "        kernel 0.0%  GIL held 100.0%\n"
			      "start   1000 samples  CPU 80%\n"
			      "        Python 60.0%  native 40.0%\n"
			      "        kernel 0.0%  GIL held 100.0%\n"
			      "lost    12 of 1012 (1.19%)  ring_full 12\n"
			      "functions by self now\n"
			      "            NOW\n"
			      "    SELF  TOTAL  FUNCTION\n"
			      ">  50.0%  50.0%  Connect…dline_and_retry\n"
			      "   40.0%  40.0%  JSONEncoder.iterencode\n"
			      "   10.0%  50.0%  serve\n"
			      "       -  50.0%  <module>\n"
			      "       -  50.0%  run\n"
			      "\n"
			      "h help  q quit  space pause  / filter\n");
	/* sorted by a column of the other span, that span is what is shown */
	drawn.builder.view.sort = SDW_TOP_SORT_TOTAL_START;
	draw(&drawn, 40, 18);
	assert_has(&drawn, "functions by total since start\n    SINCE START\n    SELF  TOTAL");
	drawn.builder.view.by = SDW_TOP_BY_LINE;
	draw(&drawn, 40, 18);
	assert_has(&drawn, "Connec…ne_and_retry:140\n");
	drawn.builder.view.by = SDW_TOP_BY_THREAD;
	draw(&drawn, 40, 18);
	assert_has(&drawn, "   50.0%  50.0%  worker-1 4712\n");
	finish(&drawn);
}

static void test_two_hundred_columns(void **state)
{
	struct drawn drawn;

	(void)state;
	service(&drawn);
	drawn.builder.view.frames = SDW_TOP_ALL;
	draw(&drawn, 200, 16);
	assert_has(&drawn, "now 1s  800 samples/s  CPU 80%  Python 60.0%  native 40.0%  "
			   "kernel 0.0%  GIL held 100.0%\n");
	assert_has(&drawn,
		   "P ConnectionPoolManagerFactoryRegistry.acquire_with_deadline_and_retry");
	assert_has(&drawn, "site-packages/pooling/implementation/manager.py:120\n");
	assert_has(&drawn, "   40.0%  40.0%  40.0%  40.0%  N deflate ");
	assert_has(&drawn, "  libz.so.1\n");
	assert_has(&drawn, "space pause  / filter  Enter callers  s sort  f functions l lines"
			   "  t threads  p processes  n native too\n");
	finish(&drawn);
}

static void test_no_width_or_height_breaks_a_line(void **state)
{
	struct drawn drawn;

	(void)state;
	service(&drawn);
	drawn.builder.model.counts.totals.status[SDW_STATUS_TRUNCATED] = 3;
	for (size_t width = 1; width <= 220; width += width < 90 ? 1 : 13) {
		for (enum sdw_top_by by = 0; by < SDW_TOP_BY_COUNT; by++) {
			drawn.builder.view.by = by;
			drawn.builder.view.frames = width % 2 ? SDW_TOP_ALL : SDW_TOP_PYTHON;
			draw(&drawn, width, 24);
			draw(&drawn, width, 0);
		}
	}
	for (size_t height = 6; height < 30; height++) {
		draw(&drawn, 80, height);
		assert_int_equal(drawn.screen.count, height);
		drawn.builder.view.help = true;
		draw(&drawn, 40, height);
		assert_int_equal(drawn.screen.count, height);
		drawn.builder.view.help = false;
	}
	finish(&drawn);
}

static void test_names_cannot_steer_the_terminal(void **state)
{
	struct drawn drawn = {0};
	struct top_builder *builder = &drawn.builder;
	uint32_t thread, code;
	struct sdw_sample_event event = {.weight = 1};

	(void)state;
	top_start(builder, "ns", 5);
	thread = top_thread(builder, top_process(builder, 1, "\033[2Jp"), 1, "\033]0;evil\a");
	code = top_code(builder, SDW_CODE_PYTHON, "\033[31mred\nnext\xff", "/a\tb\u202e.py", 1);
	event.thread = thread;
	event.stack = top_push(builder, 0, code, 2);
	top_sample_of(builder, event, 1);
	top_update(builder, 250);
	for (enum sdw_top_by by = 0; by < SDW_TOP_BY_COUNT; by++) {
		char *text;

		builder->view.by = by;
		draw(&drawn, 120, 20);
		text = text_of(&drawn);
		for (const char *at = text; *at; at++)
			assert_true(*at == '\n' || (unsigned char)*at >= ' ');
		assert_null(strstr(text, "\u202e"));
		free(text);
	}
	builder->view.by = SDW_TOP_BY_FUNCTION;
	draw(&drawn, 120, 20);
	assert_has(&drawn, "\\x1b[31mred\\x0anext\\xff");
	drawn.message = "\033[0mboo";
	draw(&drawn, 120, 20);
	assert_has(&drawn, "\\x1b[0mboo\n");
	finish(&drawn);
}

static void test_wide_characters_count_twice_and_ascii_terminals_get_ascii(void **state)
{
	struct drawn drawn = {0};
	struct top_builder *builder = &drawn.builder;
	uint32_t thread;

	(void)state;
	top_start(builder, "ns", 5);
	thread = top_thread(builder, top_process(builder, 1, "p"), 1, "p");
	top_samples(builder, thread, "\u6f22\u5b57_na\u00efve@/\u00fc.py:1", 1);
	top_samples(builder, thread, "an_ascii_name_that_is_much_too_long_to_fit@/a.py:1", 1);
	top_update(builder, 250);
	for (size_t width = 30; width < 100; width++)
		draw(&drawn, width, 20);
	draw(&drawn, 80, 20);
	assert_has(&drawn, "\u6f22\u5b57_na\u00efve");
	drawn.ascii = true;
	draw(&drawn, 80, 20);
	assert_has(&drawn, "????_na?ve                 /?.py:1\n");
	assert_has(&drawn, "an_ascii~_too_long_to_fit");
	for (size_t i = 0; i < drawn.screen.count; i++) {
		for (const char *at = drawn.screen.lines[i].text; *at; at++)
			assert_true((unsigned char)*at < 0x80);
	}
	finish(&drawn);
}

static void test_states_filter_callers_and_messages_are_said(void **state)
{
	struct drawn drawn;
	struct sdw_top_view *view = &drawn.builder.view;

	(void)state;
	service(&drawn);
	view->state = SDW_TOP_PAUSED;
	draw(&drawn, 80, 20);
	assert_has(&drawn, " PAUSED 0:01\n");
	view->state = SDW_TOP_ENDED;
	drawn.message = "the process has ended; q quits";
	draw(&drawn, 80, 20);
	assert_has(&drawn, " ENDED after 0:01\n");
	assert_has(&drawn, "\nthe process has ended; q quits\n");
	drawn.message = NULL;
	strcpy(view->filter, "json");
	draw(&drawn, 80, 20);
	assert_has(&drawn, "functions by self now  with \"json\": 1 of 5\n");
	view->editing = true;
	draw(&drawn, 80, 20);
	assert_has(&drawn, "\nfilter: json_\n");
	strcpy(view->filter, "nowhere");
	draw(&drawn, 80, 20);
	assert_has(&drawn, "\n  no row has this text\n");
	view->editing = false;
	view->filter[0] = '\0';
	draw(&drawn, 80, 20);
	sdw_top_view_key(view, &drawn.builder.list, SDW_TOP_KEY_DOWN);
	sdw_top_view_key(view, &drawn.builder.list, SDW_TOP_KEY_ENTER);
	draw(&drawn, 80, 20);
	assert_has(&drawn, "callers of JSONEncoder.iterencode\n"
			   "     NOW  START  CALLER                             "
			   "FILE:LINE OF THE CALL\n"
			   "> 100.0% 100.0%  serve                              "
			   "/srv/app.py:14\n");
	draw(&drawn, 40, 20);
	assert_has(&drawn, "     NOW  CALLER\n> 100.0%  serve:14\n");
	view->drilled = 0;
	view->owner = 2;
	view->owner_is_thread = true;
	draw(&drawn, 80, 20);
	assert_has(&drawn, "functions of thread worker-1 4712 by self now\n"
			   "            NOW\n    SELF  TOTAL  FUNCTION");
	view->owner = 1;
	view->owner_is_thread = false;
	draw(&drawn, 40, 20);
	assert_has(&drawn, "functions of process python3 4711");
	finish(&drawn);
}

static void test_selected_row_is_always_on_the_screen(void **state)
{
	struct drawn drawn = {0};
	struct top_builder *builder = &drawn.builder;
	uint32_t thread;
	char name[64];

	(void)state;
	top_start(builder, "ns", 5);
	thread = top_thread(builder, top_process(builder, 1, "p"), 1, "p");
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%02u@/a.py:%u", i, i + 1);
		top_samples(builder, thread, name, 200 - i);
	}
	top_update(builder, 250);
	draw(&drawn, 80, 20);
	for (unsigned int i = 0; i < 150; i++) {
		sdw_top_view_key(&builder->view, &builder->list,
				 i < 75 ? SDW_TOP_KEY_DOWN : SDW_TOP_KEY_UP);
		draw(&drawn, 80, 20);
		snprintf(name, sizeof(name), "  f%02u  ", i < 75 ? i + 1 : 149 - i);
		assert_has(&drawn, name);
	}
	sdw_top_view_key(&builder->view, &builder->list, SDW_TOP_KEY_END);
	draw(&drawn, 80, 20);
	assert_has(&drawn, "  f99  ");
	draw(&drawn, 80, 12); /* a smaller window */
	assert_has(&drawn, "  f99  ");
	assert_lacks(&drawn, "  f80  ");
	finish(&drawn);
}

static void test_nothing_yet_and_no_native_frames(void **state)
{
	struct drawn drawn = {0};
	struct sdw_recording recording = {
		.version = "0",
		.hostname = "h",
		.command = "pid 1",
		.event = "cycles",
		.unit = "events",
		.start_ns = START,
	};

	(void)state;
	assert_int_equal(sdw_top_model_init(&drawn.builder.model, 5), 0);
	draw(&drawn, 80, 20);
	assert_has(&drawn, "  no sample yet\n");
	TOP_SEND(&drawn.builder, recording, &recording);
	top_samples(&drawn.builder,
		    top_thread(&drawn.builder, top_process(&drawn.builder, 1, "p"), 1, "p"),
		    "f@/a.py:1", 3);
	top_update(&drawn.builder, 250);
	draw(&drawn, 80, 20);
	/* events are no time, and what is native was not looked at */
	assert_has(&drawn, "start   3 samples  user 100.0%  kernel 0.0%  GIL held 100.0%\n");
	assert_lacks(&drawn, "CPU");
	assert_lacks(&drawn, "native 0");
	finish(&drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eighty_columns),
		cmocka_unit_test(test_forty_columns),
		cmocka_unit_test(test_two_hundred_columns),
		cmocka_unit_test(test_no_width_or_height_breaks_a_line),
		cmocka_unit_test(test_names_cannot_steer_the_terminal),
		cmocka_unit_test(test_wide_characters_count_twice_and_ascii_terminals_get_ascii),
		cmocka_unit_test(test_states_filter_callers_and_messages_are_said),
		cmocka_unit_test(test_selected_row_is_always_on_the_screen),
		cmocka_unit_test(test_nothing_yet_and_no_native_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
