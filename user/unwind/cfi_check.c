// SPDX-License-Identifier: MIT
/*
 * cfi_check.c - walks call frame instructions and expressions by the lengths of their operands.
 *
 * In:  bytes of .eh_frame or .debug_frame. Out: yes or no. Source: DWARF 5,
 * sections 2.5, 6.4.2, 7.24.
 */
#include <dwarf.h>

#include "unwind/bytes.h"
#include "unwind/cfi_check.h"

#define MAX_REGISTER  16 /* the return address; libunwind keeps no more */
#define PRIMARY_MASK  0xc0
#define MAX_REMEMBERS 64 /* compilers nest none; each one costs memory */

struct progress {
	bool cfa_defined; /* must be before the first row is complete */
	bool depends_on_pc;
	unsigned int remembered;
};

/* True if the operator and its operands are among those that always end and never trap. */
static bool skip_operator(struct sdw_bytes *bytes, struct progress *progress)
{
	uint8_t code = (uint8_t)sdw_bytes_unsigned(bytes, 1);

	switch (code) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		return sdw_bytes_skip(bytes, 8) != NULL;
	case DW_OP_const4u:
	case DW_OP_const4s:
		return sdw_bytes_skip(bytes, 4) != NULL;
	case DW_OP_const2u:
	case DW_OP_const2s:
		return sdw_bytes_skip(bytes, 2) != NULL;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick:
		return sdw_bytes_skip(bytes, 1) != NULL;
	case DW_OP_constu:
	case DW_OP_plus_uconst:
		sdw_bytes_uleb(bytes);
		return !bytes->bad;
	case DW_OP_consts:
		sdw_bytes_sleb(bytes);
		return !bytes->bad;
	case DW_OP_deref:
	case DW_OP_dup ... DW_OP_over:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_abs:
	case DW_OP_and:
	case DW_OP_minus:
	case DW_OP_mul ... DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
	case DW_OP_lit0 ... DW_OP_lit31:
	case DW_OP_nop:
		return true;
	default:
		if (code < DW_OP_breg0 || code > DW_OP_breg0 + MAX_REGISTER)
			return false;
		progress->depends_on_pc |= code == DW_OP_breg0 + MAX_REGISTER;
		sdw_bytes_sleb(bytes);
		return !bytes->bad;
	}
}

static bool skip_expression(struct sdw_bytes *bytes, struct progress *progress)
{
	uint64_t size = sdw_bytes_uleb(bytes);
	const uint8_t *start = sdw_bytes_skip(bytes, size);
	struct sdw_bytes expression = {.at = start};

	if (!start)
		return false;
	expression.end = start + size;
	while (expression.at < expression.end) {
		if (!skip_operator(&expression, progress))
			return false;
	}
	return true;
}

static bool skip_register(struct sdw_bytes *bytes)
{
	return sdw_bytes_uleb(bytes) <= MAX_REGISTER;
}

static bool skip_extended(struct sdw_bytes *bytes, uint8_t opcode, struct progress *progress)
{
	switch (opcode) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		return progress->cfa_defined && ++progress->remembered <= MAX_REMEMBERS;
	case DW_CFA_restore_state:
		return progress->remembered-- > 0;
	case DW_CFA_advance_loc1:
		return progress->cfa_defined && sdw_bytes_skip(bytes, 1);
	case DW_CFA_advance_loc2:
		return progress->cfa_defined && sdw_bytes_skip(bytes, 2);
	case DW_CFA_advance_loc4:
		return progress->cfa_defined && sdw_bytes_skip(bytes, 4);
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
		return skip_register(bytes);
	case DW_CFA_register:
		return skip_register(bytes) && skip_register(bytes);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		progress->cfa_defined = true;
		/* fall through */
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return skip_register(bytes) && (sdw_bytes_sleb(bytes), !bytes->bad);
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		sdw_bytes_sleb(bytes);
		return !bytes->bad;
	case DW_CFA_def_cfa_expression:
		progress->cfa_defined = true;
		return skip_expression(bytes, progress);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return skip_register(bytes) && skip_expression(bytes, progress);
	default: /* also DW_CFA_set_loc: its operand is not position independent */
		return false;
	}
}

static bool check(const uint8_t *program, size_t size, struct progress *progress)
{
	struct sdw_bytes bytes = {.at = program, .end = program + size};

	progress->remembered = 0;
	while (bytes.at < bytes.end) {
		uint8_t opcode = (uint8_t)sdw_bytes_unsigned(&bytes, 1);
		bool good;

		switch (opcode & PRIMARY_MASK) {
		case DW_CFA_advance_loc:
			good = progress->cfa_defined;
			break;
		case DW_CFA_offset:
			sdw_bytes_uleb(&bytes);
			/* fall through */
		case DW_CFA_restore:
			good = (opcode & ~PRIMARY_MASK) <= MAX_REGISTER;
			break;
		default:
			good = skip_extended(&bytes, opcode, progress);
		}
		if (!good || bytes.bad)
			return false;
	}
	return true;
}

bool sdw_cfi_is_safe(const uint8_t *initial, size_t initial_size, const uint8_t *program,
		     size_t program_size, bool *depends_on_pc)
{
	struct progress progress = {.cfa_defined = false};
	bool safe = check(initial, initial_size, &progress) &&
		    check(program, program_size, &progress) && progress.cfa_defined;

	*depends_on_pc = progress.depends_on_pc;
	return safe;
}
