/* Whether a parameter is still where it was handed over: instructions that store, and frames, which
 * may forget it although nothing is stored there. */
#include "program/bytes.h"
#include "program/insn.h"
#include "program/parameters.h"
#include "program/rewrite/own.h"

enum {
	NR_SHORT = 4,   /* locals that a store names by itself */
	STORE_LONG = 1, /* of int, long, float, double, reference */
	STORE_DOUBLE = 3,
};

/* --- instructions -------------------------------------------------------------------------- */

/* The local that an instruction stores into, how many words; 0: none. */
static unsigned stores(const struct insn *i, uint32_t *slot)
{
	unsigned kind;

	*slot = i->operand;
	if (i->op == OP_IINC)
		return 1;
	if (i->op >= OP_ISTORE && i->op <= OP_ASTORE) {
		kind = i->op - OP_ISTORE;
	} else if (i->op >= OP_ISTORE_0 && i->op <= OP_ASTORE_3) {
		kind = (i->op - OP_ISTORE_0) / NR_SHORT;
		*slot = (i->op - OP_ISTORE_0) % NR_SHORT;
	} else {
		return 0;
	}
	return kind == STORE_LONG || kind == STORE_DOUBLE ? 2 : 1;
}

bool rewrite_parameter_is_kept(const struct code *code, uint16_t slot)
{
	struct insn i;
	uint32_t at;

	for (uint32_t pc = 0; pc < code->bytes.n; pc = i.next) {
		unsigned words;

		if (!insn_read(code->bytes, pc, &i))
			return false;
		words = stores(&i, &at);
		if (words && slot >= at && slot < at + words)
			return false;
	}
	return true;
}

/* --- frames -------------------------------------------------------------------------------- */

/* What is looked for in frames, which have values one after the other, however many words each. */
struct looking {
	struct str s;
	uint16_t slot;
	char type;
	bool is_this;       /* of a constructor: not made yet */
	int64_t number, nr; /* of the value, and of all, in the frame before */
};

static bool fits(const struct looking *l, uint8_t value)
{
	switch (l->type) {
	case 'J':
		return value == VALUE_LONG;
	case 'D':
		return value == VALUE_DOUBLE;
	case 'F':
		return value == VALUE_FLOAT;
	case 'L':
	case '[':
		return value == VALUE_OBJECT || value == VALUE_NULL ||
		       (value == VALUE_THIS && l->is_this);
	default:
		return value == VALUE_INTEGER;
	}
}

/* Takes one value; how many words it has, 0 when damaged. */
static unsigned take_value(struct looking *l, uint8_t *value)
{
	uint16_t more;

	if (!bytes_take_u1(&l->s, value) || *value > VALUE_NOT_MADE ||
	    (*value >= VALUE_OBJECT && !bytes_take_u2(&l->s, &more)))
		return 0;
	return *value == VALUE_LONG || *value == VALUE_DOUBLE ? 2 : 1;
}

static bool skip_values(struct looking *l, unsigned nr)
{
	uint8_t value;

	for (unsigned i = 0; i < nr; i++)
		if (!take_value(l, &value))
			return false;
	return true;
}

/* All locals anew. */
static bool full_holds(struct looking *l)
{
	uint32_t at = 0;
	uint16_t nr;
	bool holds = false;

	if (!bytes_take_u2(&l->s, &nr))
		return false;
	for (uint16_t i = 0; i < nr; i++) {
		uint8_t value;
		unsigned words = take_value(l, &value);

		if (!words)
			return false;
		if (at == l->slot) {
			holds = fits(l, value);
			l->number = i;
		}
		at += words;
	}
	l->nr = nr;
	return holds && bytes_take_u2(&l->s, &nr) && skip_values(l, nr);
}

static bool frame_holds(struct looking *l)
{
	uint16_t by;
	uint8_t kind, value;

	if (!bytes_take_u1(&l->s, &kind))
		return false;
	if (kind < FRAME_ONE)
		return true;
	if (kind < 2 * FRAME_ONE)
		return take_value(l, &value);
	if (kind < FRAME_ONE_FAR || !bytes_take_u2(&l->s, &by))
		return false;
	if (kind == FRAME_ONE_FAR)
		return take_value(l, &value);
	if (kind == FRAME_FULL)
		return full_holds(l);
	l->nr += kind - FRAME_SAME_FAR;
	return l->number < l->nr && (kind < FRAME_APPEND || skip_values(l, kind - FRAME_SAME_FAR));
}

static bool frames_hold(struct looking *l)
{
	uint16_t nr;

	if (!l->s.n)
		return true;
	if (!bytes_take_u2(&l->s, &nr))
		return false;
	for (uint16_t i = 0; i < nr; i++)
		if (!frame_holds(l))
			return false;
	return true;
}

/* Finds which value of the first frame it is. */
static bool find_first(struct looking *l, const struct parameters *p)
{
	l->nr = p->nr + p->has_this;
	if (p->has_this && l->slot == 0)
		return l->type == 'L';
	for (uint16_t i = 0; i < p->nr; i++) {
		l->number = i + p->has_this;
		if (p->v[i].slot == l->slot)
			return p->v[i].type.p[0] == l->type;
	}
	return false;
}

bool rewrite_sees(const struct member *method, uint16_t slot, char type)
{
	struct looking l = { .slot = slot, .type = type };
	struct parameters p;
	bool is_static = method->access & ACCESS_STATIC;
	bool is_wide = type == 'J' || type == 'D';

	if (!method->code || !parameters_read(&p, method->type, is_static) || !find_first(&l, &p))
		return false;
	l.s = method->code->frames;
	l.is_this = !slot && str_eq(method->name, STR("<init>"));
	return rewrite_parameter_is_kept(method->code, slot) &&
	       (!is_wide || rewrite_parameter_is_kept(method->code, (uint16_t)(slot + 1))) &&
	       frames_hold(&l);
}
