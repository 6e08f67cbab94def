/* SPDX-License-Identifier: MIT */
/* number.h - int and float objects of another process, and their text as repr() has it. */
#ifndef SDW_DUMP_NUMBER_H
#define SDW_DUMP_NUMBER_H

#include "dump/states.h"

#define SDW_MAX_INT_DIGITS 32u /* of 30 bits: larger ones are only measured */

struct sdw_python_int {
	bool negative;
	uint64_t digits;		    /* of 30 bits; 0: the number is 0 */
	uint32_t digit[SDW_MAX_INT_DIGITS]; /* lowest first; valid if digits <= the maximum */
};

/* Returns 0 or -errno (-EINVAL: not an int). */
int sdw_number_read_int(const struct sdw_dump_memory *memory, uint64_t address,
			struct sdw_python_int *number);
void sdw_number_print_int(const struct sdw_python_int *number, FILE *file);

/* The shortest digits that give this number again, as Python's repr(). */
void sdw_number_print_float(double value, FILE *file);

#endif
