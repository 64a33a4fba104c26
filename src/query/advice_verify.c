#include "query/advice_verify.h"

#include <errno.h>
#include <stdbool.h>

#include "base/error.h"
#include "lib/advice/bag.h"
#include "wire/advice.h"

struct proof {
	const struct advice_program *p;
	uint64_t set;      /* registers, as bits */
	uint32_t unpacked; /* children, as bits */
	size_t nr_unpacked;
	struct error *err;
};

_Static_assert(ADVICE_REGISTERS == 64 && ADVICE_INPUTS == 64, "sets of them are one number");

static int refuse(const struct proof *f, const char *why)
{
	return error_set(f->err, EINVAL, "advice is not sound: %s", why);
}

static bool is_set(const struct proof *f, uint8_t reg)
{
	return reg < ADVICE_REGISTERS && f->set >> reg & 1;
}

/* --- what the program says of itself ---------------------------------------------------------- */

static bool constant_is_sound(const struct advice_constant *c)
{
	return c->type <= ADVICE_TEXTUAL && c->length <= ADVICE_TEXT;
}

static bool shares_are_sound(const struct advice_program *p, const struct advice_child *c)
{
	if (c->nr_values > ADVICE_TOTALS || c->nr_values > c->nr_columns ||
	    (c->nr_values && !c->is_summed))
		return false;
	for (size_t i = 0; i < c->nr_values; i++)
		if (c->shares[i] >= p->nr_constants ||
		    p->constants[c->shares[i]].type != ADVICE_REAL)
			return false;
	return true;
}

static bool child_is_sound(const struct proof *f, const struct advice_child *c)
{
	/* a run changes its own slot while it reads those of its children */
	if (c->nr_columns > ADVICE_COLUMNS || c->nr_totals > ADVICE_TOTALS ||
	    c->take > ADVICE_RECENT || c->is_summed > 1 || c->slot == f->p->slot)
		return false;
	for (size_t i = 0; i < c->nr_totals; i++)
		if (c->functions[i] > ADVICE_AVERAGE)
			return false;
	return shares_are_sound(f->p, c);
}

static int verify_head(const struct proof *f)
{
	const struct advice_program *p = f->p;

	if (p->magic != ADVICE_MAGIC)
		return refuse(f, "it is of another version");
	if (!p->nr_ops || p->nr_ops > ADVICE_OPS || p->nr_constants > ADVICE_CONSTANTS ||
	    p->nr_children > ADVICE_CHILDREN || p->nr_columns > ADVICE_COLUMNS ||
	    p->nr_totals > ADVICE_TOTALS)
		return refuse(f, "it is too large");
	if (p->take > ADVICE_RECENT || (p->take != ADVICE_ALL && !p->at_most) ||
	    p->flags & ~(ADVICE_EMITS | ADVICE_GROUPED) ||
	    (p->take != ADVICE_ALL && p->flags & (ADVICE_GROUPED | ADVICE_EMITS)))
		return refuse(f, "how tuples are kept makes no sense");
	for (size_t i = 0; i < p->nr_constants; i++)
		if (!constant_is_sound(&p->constants[i]))
			return refuse(f, "a constant makes no sense");
	for (size_t i = 0; i < p->nr_children; i++)
		if (!child_is_sound(f, &p->children[i]))
			return refuse(f, "a join makes no sense");
	return 0;
}

/* --- operations ------------------------------------------------------------------------------- */

static int verify_unpack(struct proof *f, const struct advice_operation *o)
{
	const struct advice_child *c = &f->p->children[o->n < ADVICE_CHILDREN ? o->n : 0];
	uint32_t nr = c->nr_columns + (c->is_summed ? c->nr_totals : 0u);

	if (o->n >= f->p->nr_children || f->unpacked >> o->n & 1)
		return refuse(f, "it unpacks what is not there, or twice");
	if (o->to + nr > ADVICE_REGISTERS)
		return refuse(f, "it unpacks too much");
	for (uint32_t i = 0; i < nr; i++)
		f->set |= (uint64_t)1 << (o->to + i);
	f->unpacked |= 1u << o->n;
	f->nr_unpacked++;
	return 0;
}

static int verify_end(const struct proof *f, size_t at)
{
	const struct advice_program *p = f->p;
	bool emits = p->ops[at].op == ADVICE_EMIT;

	if (at + 1 != p->nr_ops || emits != !!(p->flags & ADVICE_EMITS))
		return refuse(f, "it packs or emits in the middle");
	for (size_t i = 0; i < p->nr_columns; i++)
		if (!is_set(f, p->columns[i]))
			return refuse(f, "a column has no value");
	for (size_t i = 0; i < p->nr_totals; i++) {
		const struct advice_part *t = &p->totals[i];
		bool is_half = t->child != ADVICE_NO_CHILD;

		if (t->function > ADVICE_AVERAGE)
			return refuse(f, "an aggregate is not known");
		if (is_half && (t->child >= p->nr_children || !(f->unpacked >> t->child & 1) ||
				t->half >= p->children[t->child].nr_totals ||
				p->children[t->child].is_summed ||
				p->children[t->child].functions[t->half] != t->function))
			return refuse(f, "an aggregate has another half");
		if (!is_half && !is_set(f, t->from) &&
		    !(t->from == ADVICE_NO_REGISTER && t->function == ADVICE_COUNT))
			return refuse(f, "an aggregate has no value");
	}
	return 0;
}

static int verify_op(struct proof *f, size_t at)
{
	const struct advice_operation *o = &f->p->ops[at];
	bool is_last = at + 1 == f->p->nr_ops;

	if (o->op >= ADVICE_NR_OPS || o->to >= ADVICE_REGISTERS)
		return refuse(f, "an operation is not known");
	if (o->op == ADVICE_PACK || o->op == ADVICE_EMIT)
		return verify_end(f, at);
	if (is_last)
		return refuse(f, "it neither packs nor emits");
	if (o->op == ADVICE_UNPACK)
		return verify_unpack(f, o);
	if (o->op == ADVICE_OBSERVE && (o->n >= ADVICE_INPUTS || !(f->p->inputs >> o->n & 1)))
		return refuse(f, "it reads an input that it does not name");
	if (o->op == ADVICE_CONST && o->n >= f->p->nr_constants)
		return refuse(f, "it reads a constant that is not there");
	if (o->op > ADVICE_CONST && o->op != ADVICE_EXISTS &&
	    (!is_set(f, o->a) || (o->op < ADVICE_NOT && !is_set(f, o->b))))
		return refuse(f, "it reads a register that has no value");
	if (o->op != ADVICE_FILTER && o->op != ADVICE_EXISTS)
		f->set |= (uint64_t)1 << o->to;
	return 0;
}

/* --- what it can cost ------------------------------------------------------------------------- */

static size_t half_bytes(uint8_t function)
{
	return function == ADVICE_COUNT                           ? 8
	       : function == ADVICE_MIN || function == ADVICE_MAX ? 16 + ADVICE_TEXT
								  : 24;
}

/* Texts are taken to be as long as they can. */
static void estimate(const struct proof *f, struct advice_bounds *b)
{
	const struct advice_program *p = f->p;

	*b = (struct advice_bounds){ .nr_ops = p->nr_ops, .joined_slots = f->nr_unpacked };
	if (p->flags & ADVICE_EMITS)
		return;
	b->tuple_bytes = 8 + p->nr_columns * (8u + ADVICE_TEXT);
	/* where all are kept, those of one thread share a head */
	if (p->take != ADVICE_ALL || p->flags & ADVICE_GROUPED)
		b->tuple_bytes += sizeof(struct bag_entry);
	for (size_t i = 0; i < p->nr_totals; i++)
		b->tuple_bytes += half_bytes(p->totals[i].function);
	b->nr_fitting = BAG_WORDS * 8 / b->tuple_bytes;
	b->nr_kept = p->take == ADVICE_ALL ? SIZE_MAX : p->at_most;
	if (p->flags & ADVICE_GROUPED && !p->nr_columns)
		b->nr_kept = 1;
}

int advice_verify(const struct advice_program *p, struct advice_bounds *bounds, struct error *err)
{
	struct proof f = { .p = p, .err = err };
	int got = verify_head(&f);

	for (size_t i = 0; i < p->nr_ops && got >= 0; i++)
		got = verify_op(&f, i);
	if (got >= 0 && bounds)
		estimate(&f, bounds);
	return got;
}
