// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/number.h"
#include "dump/object.h"
#include "target/maps.h"

#define DIGIT_BITS 30u /* of CPython's ints on 64-bit machines (Include/cpython/longintrepr.h) */
#define DIGIT_MASK ((1u << DIGIT_BITS) - 1)
#define MAX_DIGITS (1ull << 32)
#define TAG_SINCE  0x030cu /* before: ob_size, negative for negative numbers */

int sdw_number_read_int(const struct sdw_dump_memory *memory, uint64_t address,
			struct sdw_python_int *number)
{
	uint64_t body = address + sdw_object_head(memory), size;
	int err = sdw_dump_read(memory, body, &size, sizeof(size));

	*number = (struct sdw_python_int){0};
	if (err)
		return err;
	if (memory->python->layout.version >= TAG_SINCE) {
		/* lv_tag: sign in two bits (0 positive, 1 zero, 2 negative), a flag, digits */
		number->negative = (size & 3) == 2;
		number->digits = (size & 3) == 1 ? 0 : size >> 3;
	} else {
		number->negative = (int64_t)size < 0;
		number->digits = number->negative ? -size : size;
	}
	if (number->digits > MAX_DIGITS)
		return -EINVAL;
	if (number->digits > SDW_MAX_INT_DIGITS)
		return 0;
	err = sdw_dump_read(memory, body + sizeof(size), number->digit,
			    number->digits * sizeof(number->digit[0]));
	for (uint64_t i = 0; i < number->digits; i++)
		number->digit[i] &= DIGIT_MASK;
	return err;
}

int sdw_object_unsigned(const struct sdw_dump_memory *memory, uint64_t address, uint64_t *value)
{
	struct sdw_python_int number;
	int err = sdw_number_read_int(memory, address, &number);

	if (err)
		return err;
	if (number.negative || number.digits > 3 || (number.digits == 3 && number.digit[2] > 0xf))
		return -ERANGE;
	*value = 0;
	for (uint64_t i = number.digits; i > 0; i--)
		*value = *value << DIGIT_BITS | number.digit[i - 1];
	return 0;
}

/* Divides by 10^9. Returns the remainder. */
static uint32_t divide(uint32_t *digits, uint64_t *count)
{
	uint64_t rest = 0;

	for (uint64_t i = *count; i > 0; i--) {
		rest = rest << DIGIT_BITS | digits[i - 1];
		digits[i - 1] = (uint32_t)(rest / 1000000000);
		rest %= 1000000000;
	}
	while (*count && !digits[*count - 1])
		--*count;
	return (uint32_t)rest;
}

void sdw_number_print_int(const struct sdw_python_int *number, FILE *file)
{
	uint32_t parts[SDW_MAX_INT_DIGITS * DIGIT_BITS / 29 + 2] = {0};
	uint32_t digits[SDW_MAX_INT_DIGITS];
	uint64_t count = number->digits;
	size_t n = 0;

	if (count > SDW_MAX_INT_DIGITS) {
		fprintf(file, "<int of about %" PRIu64 " bits>", count * DIGIT_BITS);
		return;
	}
	memcpy(digits, number->digit, sizeof(digits));
	do {
		parts[n++] = divide(digits, &count);
	} while (count && n < sizeof(parts) / sizeof(parts[0]));
	fprintf(file, "%s%" PRIu32, number->negative ? "-" : "", parts[n - 1]);
	while (--n > 0)
		fprintf(file, "%09" PRIu32, parts[n - 1]);
}

/*
 * CPython Python/pystrtod.c, format_float_short() with 'r': the digits as they are for exponents
 * from -4 to 15, otherwise d.ddde+XX.
 */
static void print_digits(const char *digits, int count, int exponent, FILE *file)
{
	if (exponent < -4 || exponent >= 16) {
		fprintf(file, "%c%s%.*s", digits[0], count > 1 ? "." : "", count - 1, digits + 1);
		fprintf(file, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
	} else if (exponent < 0) {
		fprintf(file, "0.%.*s%.*s", -exponent - 1, "0000", count, digits);
	} else if (count > exponent + 1) {
		fprintf(file, "%.*s.%.*s", exponent + 1, digits, count - exponent - 1,
			digits + exponent + 1);
	} else {
		fprintf(file, "%.*s%.*s.0", count, digits, exponent + 1 - count,
			"0000000000000000");
	}
}

void sdw_number_print_float(double value, FILE *file)
{
	char text[40], digits[20] = "";
	int precision = 0, count = 0, exponent = 0;

	if (isnan(value) || isinf(value)) {
		fputs(isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", file);
		return;
	}
	do {
		snprintf(text, sizeof(text), "%.*e", precision, fabs(value));
	} while (strtod(text, NULL) != fabs(value) && ++precision < 17);
	for (const char *c = text; *c && *c != 'e'; c++)
		if (*c >= '0' && *c <= '9' && count < (int)sizeof(digits))
			digits[count++] = *c;
	if (strchr(text, 'e'))
		exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	while (count > 1 && digits[count - 1] == '0')
		count--;
	if (signbit(value))
		fputc('-', file);
	print_digits(digits, count, exponent, file);
}
