// SPDX-License-Identifier: MIT
/*
 * test_object.c - Python objects made here, in this process's own memory, honest and forged ones:
 * what is printed of them, and that it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/dict.h"
#include "dump/locals.h"
#include "dump/object.h"
#include "dump/thread_names.h"

#define HEAD	     16u
#define HEAP_TYPE    (1ull << 9)
#define TYPE_WORDS   128u
#define LONG_TAG(n)  ((uint64_t)(n) << 3)
#define ADDRESS(of)  ((uint64_t)(uintptr_t)(of))
#define NOT_A_STRING "<unreadable>"

/* A type as 3.12 has it: tp_name at 24, tp_basicsize at 32, tp_flags at 168, tp_dictoffset at 288.
 */
struct type {
	uint64_t words[TYPE_WORDS];
};

struct object {
	uint64_t references;
	uint64_t type;
	uint64_t words[64];
};

static struct sdw_found_interpreter python;
static struct sdw_dump_memory memory;

static struct type type_of(const char *name, uint64_t flags)
{
	struct type type = {{0}};

	type.words[24 / 8] = ADDRESS(name);
	type.words[32 / 8] = HEAD;
	type.words[168 / 8] = flags;
	return type;
}

static struct object object_of(const struct type *type)
{
	return (struct object){.references = 1, .type = ADDRESS(type)};
}

static int set_up(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof(memory));
	assert_int_equal(sdw_layout_for_version(0x030c, &python.layout), 0);
	memory.pid = (uint32_t)getpid();
	memory.python = &python;
	assert_int_equal(sdw_object_layout_for(&python.layout, &memory.objects), 0);
	memory.has_objects = true;
	return 0;
}

static void expect(const void *object, const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sdw_object_print(&memory, ADDRESS(object), file);
	fclose(file);
	assert_string_equal(text, wanted);
	free(text);
}

static char type_names[][16] = {"int", "list", "tuple", "dict", "str", "NoneType"};

static void test_a_class_by_the_name_of_a_built_in_is_none(void **state)
{
	struct type own = type_of(type_names[0], HEAP_TYPE), real = type_of(type_names[0], 0);
	struct object number = object_of(&real), other = object_of(&own);

	(void)state;
	number.words[0] = LONG_TAG(1);
	number.words[1] = 42;
	other.words[0] = LONG_TAG(1);
	other.words[1] = 42;
	expect(&number, "42");
	expect(&other, "<int>");
}

static void test_what_is_no_object_is_said(void **state)
{
	struct type nameless = type_of("", 0);
	struct object object = object_of(&nameless), wild = {.type = 0x10};

	(void)state;
	expect(&object, NOT_A_STRING);
	expect(&wild, NOT_A_STRING);
	expect(NULL, NOT_A_STRING);
	expect((void *)0x1000, NOT_A_STRING);
}

static void test_names_of_types_are_cut_and_cannot_steer(void **state)
{
	char name[300];
	struct type type = type_of(name, HEAP_TYPE);
	struct object object = object_of(&type);

	(void)state;
	memset(name, 'x', sizeof(name));
	strcpy(name, "a\033b");
	expect(&object, "<a\\x1bb>");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	expect(&object, "<xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>");
}

static void test_a_list_that_holds_itself_ends(void **state)
{
	struct type type = type_of(type_names[1], 0);
	struct object list = object_of(&type);
	uint64_t items[3] = {ADDRESS(&list), ADDRESS(&list), 0};

	(void)state;
	list.words[0] = 2;
	list.words[1] = ADDRESS(items);
	expect(&list, "[[[[…], […]], [[…], […]]], [[[…], […]], [[…], […]]]]");
	list.words[0] = 3; /* and one that is not there */
	items[0] = items[1] = 0;
	expect(&list, "[<unreadable>, <unreadable>, <unreadable>]");
	list.words[1] = 0x10;
	expect(&list, "[<unreadable>]");
	list.words[0] = UINT64_MAX;
	expect(&list, NOT_A_STRING);
}

static void test_a_broad_tree_of_lists_ends_after_some_objects(void **state)
{
	struct type type = type_of(type_names[1], 0);
	struct object leaves = object_of(&type), middle = object_of(&type), root = object_of(&type);
	uint64_t none[1000] = {0}, two[1000], one[1000];
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		two[i] = ADDRESS(&leaves);
		one[i] = ADDRESS(&middle);
	}
	leaves.words[0] = middle.words[0] = root.words[0] = 1000;
	leaves.words[1] = ADDRESS(none);
	middle.words[1] = ADDRESS(two);
	root.words[1] = ADDRESS(one);
	sdw_object_print(&memory, ADDRESS(&root), file);
	fclose(file);
	assert_true(size < 2000);
	assert_non_null(strstr(text, "…"));
	free(text);
}

static void test_forged_strings_are_refused(void **state)
{
	struct type type = type_of(type_names[4], 0);
	struct object text = object_of(&type);

	(void)state;
	text.words[0] = 5;			     /* length */
	text.words[2] = 1u << 2 | 1u << 5 | 1u << 6; /* one byte, compact, ASCII */
	memcpy(&text.words[3], "a'b\"\n", 5);
	expect(&text, "'a\\'b\"\\n'");
	text.words[0] = 1ull << 50;
	expect(&text, NOT_A_STRING);
	text.words[0] = 5;
	text.words[2] = 3u << 2 | 1u << 5; /* three bytes a character */
	expect(&text, NOT_A_STRING);
	text.words[2] = 0; /* not compact */
	expect(&text, NOT_A_STRING);
}

/* PyDictKeysObject of 3.12: dk_log2_size and dk_log2_index_bytes at 8, dk_kind at 10. */
struct keys {
	uint64_t references;
	uint8_t log2_size, log2_index_bytes, kind, pad[5];
	uint64_t usable, nentries;
	uint8_t indices[8];
	uint64_t entries[8];
};

static void test_dicts_honest_and_forged(void **state)
{
	struct type type = type_of(type_names[3], 0), number_type = type_of(type_names[0], 0);
	struct object dict = object_of(&type), number = object_of(&number_type);
	struct keys keys = {.log2_size = 3, .log2_index_bytes = 3, .kind = 1, .nentries = 3};
	struct sdw_dict_reader reader;
	uint64_t value;

	(void)state;
	number.words[0] = LONG_TAG(1);
	number.words[1] = 7;
	dict.words[2] = ADDRESS(&keys);
	keys.entries[0] = keys.entries[1] = ADDRESS(&number);
	keys.entries[2] = ADDRESS(&number); /* deleted: no value */
	keys.entries[4] = keys.entries[5] = ADDRESS(&number);
	expect(&dict, "{7: 7, 7: 7}");
	assert_int_equal(sdw_dict_find(&memory, ADDRESS(&dict), "name", &value), -ENOENT);
	dict.words[2] = ADDRESS(&keys);
	keys.kind = 0; /* with a hash in front of each */
	keys.nentries = 1;
	keys.entries[0] = 99;
	expect(&dict, "{7: 7}");
	keys.log2_index_bytes = 255;
	expect(&dict, NOT_A_STRING);
	keys.log2_index_bytes = 3;
	keys.nentries = UINT64_MAX;
	expect(&dict, NOT_A_STRING);
	assert_int_equal(sdw_dict_open(&memory, ADDRESS(&dict), &reader), -EINVAL);
	dict.words[2] = 0x10;
	expect(&dict, NOT_A_STRING);
}

static void test_nothing_is_read_after_the_deadline(void **state)
{
	struct type type = type_of(type_names[5], 0);
	struct object none = object_of(&type);

	(void)state;
	sdw_dump_memory_allow(&memory, 1000);
	expect(&none, "None");
	memory.deadline_ns = 1;
	expect(&none, NOT_A_STRING);
}

static void test_locals_of_a_forged_code_object_are_none(void **state)
{
	struct sdw_dump_locals locals = {0};
	uint64_t code[64] = {0}, frame[64] = {0};
	struct type type = type_of(type_names[2], 0);
	struct object names = object_of(&type);

	(void)state;
	assert_int_equal(sdw_dump_locals_read(&memory, ADDRESS(code), ADDRESS(frame), &locals), 0);
	assert_int_equal(locals.count, 0);
	code[memory.objects.code_names / 8] = ADDRESS(&names);
	names.words[0] = UINT64_MAX;
	assert_int_equal(sdw_dump_locals_read(&memory, ADDRESS(code), ADDRESS(frame), &locals), 0);
	assert_int_equal(locals.count, 0);
	names.words[0] = 3; /* its names are no strings */
	frame[memory.objects.frame_locals / 8] = ADDRESS(&names);
	assert_int_equal(sdw_dump_locals_read(&memory, ADDRESS(code), ADDRESS(frame), &locals), 0);
	assert_int_equal(locals.count, 0);
	sdw_dump_locals_free(&locals);
}

static void test_names_of_threads_of_a_forged_interpreter_are_none(void **state)
{
	struct sdw_thread_names names = {0};
	uint64_t interpreter[256] = {0};

	(void)state;
	assert_int_equal(sdw_thread_names_read(&memory, ADDRESS(interpreter), &names), 0);
	assert_int_equal(names.count, 0);
	interpreter[memory.objects.interpreter_modules / 8] = ADDRESS(interpreter);
	assert_int_equal(sdw_thread_names_read(&memory, ADDRESS(interpreter), &names), 0);
	assert_int_equal(names.count, 0);
	sdw_thread_names_free(&names);
}

/* An interpreter whose list of thread states goes round. */
static void test_a_list_of_thread_states_without_end_is_cut(void **state)
{
	struct sdw_dump_states states = {0};
	uint64_t interpreter[256] = {0}, thread[32] = {0}, runtime[64] = {0};
	const struct sdw_pylayout *layout = &python.layout;

	(void)state;
	python.runtime_addr = ADDRESS(runtime);
	runtime[layout->runtime_interpreters_head / 8] = ADDRESS(interpreter);
	interpreter[layout->interpreter_threads_head / 8] = ADDRESS(thread);
	thread[layout->thread_interpreter / 8] = ADDRESS(interpreter);
	thread[layout->thread_next / 8] = ADDRESS(thread);
	thread[layout->thread_status / 8] = layout->thread_status_active_mask;
	assert_int_equal(sdw_dump_states_read(&memory, &states), 0);
	assert_int_equal(states.interpreters.count, 1);
	assert_int_equal(states.all.count, 65536);
	assert_true(states.all.items[0].holds_gil);
	interpreter[layout->interpreter_next / 8] = ADDRESS(interpreter);
	assert_int_equal(sdw_dump_states_read(&memory, &states), 0);
	assert_int_equal(states.interpreters.count, 1024);
	thread[layout->thread_interpreter / 8] = 1; /* of no interpreter: made up, or gone */
	assert_int_equal(sdw_dump_states_read(&memory, &states), -EAGAIN);
	sdw_dump_states_free(&states);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_class_by_the_name_of_a_built_in_is_none, set_up),
		cmocka_unit_test_setup(test_what_is_no_object_is_said, set_up),
		cmocka_unit_test_setup(test_names_of_types_are_cut_and_cannot_steer, set_up),
		cmocka_unit_test_setup(test_a_list_that_holds_itself_ends, set_up),
		cmocka_unit_test_setup(test_a_broad_tree_of_lists_ends_after_some_objects, set_up),
		cmocka_unit_test_setup(test_forged_strings_are_refused, set_up),
		cmocka_unit_test_setup(test_dicts_honest_and_forged, set_up),
		cmocka_unit_test_setup(test_nothing_is_read_after_the_deadline, set_up),
		cmocka_unit_test_setup(test_locals_of_a_forged_code_object_are_none, set_up),
		cmocka_unit_test_setup(test_names_of_threads_of_a_forged_interpreter_are_none,
				       set_up),
		cmocka_unit_test_setup(test_a_list_of_thread_states_without_end_is_cut, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
