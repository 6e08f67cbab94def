// SPDX-License-Identifier: MIT
/* test_demangle.c - readable names of C++ and Rust functions, within bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangle.h"

static void check(const char *name, const char *expected)
{
	char text[256];

	assert_int_equal(sdw_demangle(name, text, sizeof(text)), 0);
	assert_string_equal(text, expected);
}

static void test_cpp_names_are_readable(void **state)
{
	(void)state;
	check("_ZNSt6vectorIiSaIiEE9push_backEOi",
	      "std::vector<int, std::allocator<int> >::push_back(int&&)");
	check("_ZN4core4loopEv.cold", "core::loop() [clone .cold]");
}

static void test_rust_names_are_readable_and_lose_their_hash(void **state)
{
	(void)state;
	check("_ZN4core3fmt9Formatter3pad17h6a3b1c2d4e5f6071E", "core::fmt::Formatter::pad");
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void test_other_names_are_left_alone(void **state)
{
	static const char *const names[] = {
		"",	  "_",	"_Z",	     "_ZN",	"main", "_PyEval_EvalFrameDefault",
		"Z3foov", "_R", "_ZN4abcE.", "\xff\xfe"};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(sdw_demangle(names[i], text, sizeof(text)), -ENOENT);
}

static void test_a_name_that_does_not_fit_is_left_alone(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(sdw_demangle("_Z3abcv", text, 5), -ENOENT);
	assert_int_equal(sdw_demangle("_Z3abcv", text, 6), 0);
	assert_string_equal(text, "abc()");
	assert_int_equal(sdw_demangle("_Z3abcv", text, 0), -ENOENT);
}

static void test_a_name_that_doubles_with_each_argument_is_left_alone(void **state)
{
	/* each argument is a pair of the one before: the fiftieth would take petabytes */
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1f1PIiiE", text[4096];
	size_t used = strlen(name);

	(void)state;
	for (int i = 0; i < 35; i++)
		used += (size_t)snprintf(name + used, sizeof(name) - used, "S_IS%c_S%c_E",
					 digits[i], digits[i]);
	assert_int_equal(sdw_demangle(name, text, sizeof(text)), -ENOENT);
}

static void test_deep_nesting_ends(void **state)
{
	char name[3000], text[4096];

	(void)state;
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 2] = 'i';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(sdw_demangle(name, text, sizeof(text)), -ENOENT);
	name[1500] = 'i';
	name[1501] = '\0';
	(void)sdw_demangle(name, text, sizeof(text)); /* either way, but it comes back */
}

static void test_junk_comes_back(void **state)
{
	static const char letters[] = "_ZNSt3abIELiJdXv0T1K2PRCDF.$sQqUlYz";
	uint64_t seed = 88172645463325252ull;
	char name[64] = "_Z", text[512];

	(void)state;
	for (int turn = 0; turn < 40000; turn++) {
		size_t size = 3 + seed % (sizeof(name) - 4);

		for (size_t i = 2; i < size; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			name[i] = letters[seed % (sizeof(letters) - 1)];
		}
		name[1] = turn % 2 ? 'Z' : 'R';
		name[size] = '\0';
		if (!sdw_demangle(name, text, sizeof(text)))
			assert_in_range(strlen(text), 1, sizeof(text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpp_names_are_readable),
		cmocka_unit_test(test_rust_names_are_readable_and_lose_their_hash),
		cmocka_unit_test(test_other_names_are_left_alone),
		cmocka_unit_test(test_a_name_that_does_not_fit_is_left_alone),
		cmocka_unit_test(test_a_name_that_doubles_with_each_argument_is_left_alone),
		cmocka_unit_test(test_deep_nesting_ends),
		cmocka_unit_test(test_junk_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
