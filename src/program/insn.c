/* Instructions as in the Java Virtual Machine Specification, chapter 6. */
#include "program/insn.h"

#include "program/bytes.h"

enum shape {
	PLAIN,
	BYTE,      /* a number of one byte */
	SHORT,     /* a number of two bytes */
	INDEX,     /* a constant or a local, one byte */
	INDEX2,    /* a constant, two bytes */
	INTERFACE, /* a constant, a count, a zero */
	DYNAMIC,   /* a constant, two zeros */
	INCREMENT, /* a local and a number */
	BRANCH,
	BRANCH4,
	TABLE,
	LOOKUP,
	WIDE,
	DIMENSIONS,
};

static enum shape shape_of(uint8_t op)
{
	switch (op) {
	case OP_BIPUSH:
		return BYTE;
	case OP_SIPUSH:
		return SHORT;
	case OP_LDC:
	case OP_RET:
	case OP_NEWARRAY:
	case OP_ILOAD ... OP_ALOAD:
	case OP_ISTORE ... OP_ASTORE:
		return INDEX;
	case OP_LDC_W:
	case OP_LDC2_W:
	case OP_GETSTATIC ... OP_INVOKESTATIC:
	case OP_NEW:
	case OP_ANEWARRAY:
	case OP_CHECKCAST:
	case OP_INSTANCEOF:
		return INDEX2;
	case OP_INVOKEINTERFACE:
		return INTERFACE;
	case OP_INVOKEDYNAMIC:
		return DYNAMIC;
	case OP_IINC:
		return INCREMENT;
	case OP_IFEQ ... OP_JSR:
	case OP_IFNULL:
	case OP_IFNONNULL:
		return BRANCH;
	case OP_GOTO_W:
	case OP_JSR_W:
		return BRANCH4;
	case OP_TABLESWITCH:
		return TABLE;
	case OP_LOOKUPSWITCH:
		return LOOKUP;
	case OP_WIDE:
		return WIDE;
	case OP_MULTIANEWARRAY:
		return DIMENSIONS;
	default:
		return PLAIN;
	}
}

static bool take_index(struct str *s, struct insn *i, bool is_wide)
{
	uint8_t narrow;
	uint16_t wide;

	if (is_wide ? !bytes_take_u2(s, &wide) : !bytes_take_u1(s, &narrow))
		return false;
	i->operand = is_wide ? wide : narrow;
	return true;
}

static bool take_number(struct str *s, struct insn *i, bool is_wide)
{
	uint8_t narrow;
	uint16_t wide;

	if (is_wide ? !bytes_take_u2(s, &wide) : !bytes_take_u1(s, &narrow))
		return false;
	i->number = is_wide ? (int16_t)wide : (int8_t)narrow;
	return true;
}

/* Where the jump leads, if it stays in the code. */
static bool land(struct str code, uint32_t pc, int64_t by, uint32_t *to)
{
	int64_t at = (int64_t)pc + by;

	if (at < 0 || at >= (int64_t)code.n)
		return false;
	*to = (uint32_t)at;
	return true;
}

static bool take_branch(struct str code, struct str *s, struct insn *i, bool is_wide)
{
	uint32_t wide;
	uint16_t narrow;

	if (is_wide ? !bytes_take_u4(s, &wide) : !bytes_take_u2(s, &narrow))
		return false;
	return land(code, i->pc, is_wide ? (int32_t)wide : (int16_t)narrow, &i->operand);
}

static bool take_switch(struct str code, struct str *s, struct insn *i, bool is_lookup)
{
	size_t pad = 3 - i->pc % 4;
	uint32_t otherwise, low, high, nr;
	struct str skipped;

	if (!bytes_take(s, pad, &skipped) || !bytes_take_u4(s, &otherwise) ||
	    !bytes_take_u4(s, is_lookup ? &nr : &low) || (!is_lookup && !bytes_take_u4(s, &high)))
		return false;
	if (!is_lookup) {
		if ((int32_t)high < (int32_t)low)
			return false;
		nr = high - low + 1;
	}
	i->has_keys = is_lookup;
	i->nr_targets = nr;
	if (nr > s->n / 4 || !bytes_take(s, (size_t)nr * (is_lookup ? 8 : 4), &i->table))
		return false;
	return land(code, i->pc, (int32_t)otherwise, &i->operand);
}

bool insn_target(struct str code, const struct insn *i, uint32_t n, uint32_t *pc)
{
	struct str at =
		str_skip(i->table, (size_t)n * (i->has_keys ? 8 : 4) + (i->has_keys ? 4 : 0));
	uint32_t by;

	return bytes_take_u4(&at, &by) && land(code, i->pc, (int32_t)by, pc);
}

static bool take_wide(struct str *s, struct insn *i)
{
	if (!bytes_take_u1(s, &i->op))
		return false;
	if (shape_of(i->op) == INCREMENT)
		return take_index(s, i, true) && take_number(s, i, true);
	return shape_of(i->op) == INDEX && take_index(s, i, true);
}

static bool take_operands(struct str code, struct str *s, struct insn *i)
{
	struct str skipped;
	uint8_t count;

	switch (shape_of(i->op)) {
	case PLAIN:
		return true;
	case BYTE:
		return take_number(s, i, false);
	case SHORT:
		return take_number(s, i, true);
	case INDEX:
		return take_index(s, i, false);
	case INDEX2:
		return take_index(s, i, true);
	case INTERFACE:
	case DYNAMIC:
		return take_index(s, i, true) && bytes_take(s, 2, &skipped);
	case INCREMENT:
		return take_index(s, i, false) && take_number(s, i, false);
	case BRANCH:
		return take_branch(code, s, i, false);
	case BRANCH4:
		return take_branch(code, s, i, true);
	case TABLE:
		return take_switch(code, s, i, false);
	case LOOKUP:
		return take_switch(code, s, i, true);
	case WIDE:
		return take_wide(s, i);
	case DIMENSIONS:
		if (!take_index(s, i, true) || !bytes_take_u1(s, &count))
			return false;
		i->number = count;
		return true;
	}
	return false;
}

bool insn_read(struct str code, uint32_t pc, struct insn *i)
{
	struct str s = str_skip(code, pc);

	*i = (struct insn){ .pc = pc };
	if (!bytes_take_u1(&s, &i->op) || i->op > OP_LAST || !take_operands(code, &s, i))
		return false;
	i->next = (uint32_t)(s.p - code.p);
	return true;
}
