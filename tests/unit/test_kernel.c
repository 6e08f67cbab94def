// SPDX-License-Identifier: MIT
/* test_kernel.c - kernel addresses get the name of their function, or none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/kernel.h"

static const char KALLSYMS[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000400 T ksys_read\n"
			       "ffffffff81000000 T startup_64\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000100 W weak_name\n"
			       "ffffffff81000100 t strong_name\n"
			       "ffffffff81000200 D data_in_text\n"
			       "ffffffff81000400 t __pfx_ksys_write\n"
			       "ffffffff81000500 T last_of_kernel\n"
			       "not a line\n"
			       "ffffffff81000600\n"
			       "ffffffffc0000000 t init_module\t[nf_tables]\n"
			       "ffffffffc0000040 t do_chain\t[nf_tables]\n";

static struct sdw_kernel_symbols *parse(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct sdw_kernel_symbols *symbols = NULL;

	assert_non_null(file);
	assert_int_equal(sdw_kernel_symbols_parse(file, &symbols), 0);
	fclose(file);
	return symbols;
}

static void expect(const struct sdw_kernel_symbols *symbols, uint64_t address, const char *name,
		   const char *module, uint64_t start)
{
	struct sdw_kernel_symbol symbol;

	if (!name) {
		assert_int_equal(sdw_kernel_symbol_at(symbols, address, &symbol), -ENOENT);
		return;
	}
	assert_int_equal(sdw_kernel_symbol_at(symbols, address, &symbol), 0);
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, module);
	assert_true(symbol.start == start);
}

static void test_an_address_has_the_name_of_the_function_that_holds_it(void **state)
{
	struct sdw_kernel_symbols *symbols = parse(KALLSYMS);

	(void)state;
	expect(symbols, 0xffffffff81000000, "startup_64", "", 0xffffffff81000000);
	expect(symbols, 0xffffffff810000ff, "startup_64", "", 0xffffffff81000000);
	expect(symbols, 0xffffffff810004ff, "ksys_read", "", 0xffffffff81000400);
	expect(symbols, 0xffffffffc000003f, "init_module", "nf_tables", 0xffffffffc0000000);
	expect(symbols, 0xffffffffc0000041, "do_chain", "nf_tables", 0xffffffffc0000040);
	sdw_kernel_symbols_free(symbols);
}

static void test_a_weak_name_gives_way_to_another_of_the_same_address(void **state)
{
	struct sdw_kernel_symbols *symbols = parse(KALLSYMS);

	(void)state;
	expect(symbols, 0xffffffff81000110, "strong_name", "", 0xffffffff81000100);
	sdw_kernel_symbols_free(symbols);
}

static void test_addresses_outside_of_functions_have_no_name(void **state)
{
	struct sdw_kernel_symbols *symbols = parse(KALLSYMS);

	(void)state;
	expect(symbols, 0, NULL, NULL, 0);
	expect(symbols, 0xffffffff80ffffff, NULL, NULL, 0);
	expect(symbols, 0xffffffff81000210, NULL, NULL, 0); /* data */
	expect(symbols, 0xffffffff8100ffff, "last_of_kernel", "", 0xffffffff81000500);
	expect(symbols, 0xffffffff81010500, NULL, NULL, 0); /* far behind the last */
	expect(symbols, 0xffffffffffffffff, NULL, NULL, 0);
	sdw_kernel_symbols_free(symbols);
}

static void test_hidden_addresses_are_said_once_and_name_nothing(void **state)
{
	char said[512] = "";
	struct sdw_kernel_symbols *symbols;
	int channel[2], saved = dup(STDERR_FILENO);
	ssize_t size;

	(void)state;
	assert_int_equal(pipe(channel), 0);
	assert_true(dup2(channel[1], STDERR_FILENO) >= 0);
	symbols = parse("0000000000000000 T startup_64\n0000000000000000 T ksys_read\n");
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(channel[1]);
	size = read(channel[0], said, sizeof(said) - 1);
	close(channel[0]);
	close(saved);
	assert_true(size > 0);
	assert_non_null(strstr(said, "kernel.kptr_restrict"));
	assert_ptr_equal(strchr(said, '\n'), said + size - 1); /* one line */
	expect(symbols, 0, NULL, NULL, 0);
	expect(symbols, 0xffffffff81000000, NULL, NULL, 0);
	sdw_kernel_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_has_the_name_of_the_function_that_holds_it),
		cmocka_unit_test(test_a_weak_name_gives_way_to_another_of_the_same_address),
		cmocka_unit_test(test_addresses_outside_of_functions_have_no_name),
		cmocka_unit_test(test_hidden_addresses_are_said_once_and_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
