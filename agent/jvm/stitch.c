#include "agent/jvm/stitch.h"

#include <stdarg.h>
#include <stdio.h>

#include "program/class.h"
#include "program/descriptor.h"
#include "program/insn.h"
#include "program/parameters.h"

#define AT_TYPE_MAX (STITCH_LONGS_MAX + STITCH_OBJECTS_MAX * sizeof("Ljava/lang/Object;") + 5)

/* While the instructions of one place are made. */
struct stitching {
	struct stitch *s;
	const struct stitch_place *p;
	struct parameters parameters;
	unsigned depth; /* words on the stack besides what was there */
	uint16_t kept;  /* slot of what is returned or thrown */
	bool has_kept;
};

void stitch_done(struct stitch *s)
{
	buf_done(&s->code);
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct stitch *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->refused, sizeof(s->refused), fmt, ap);
	va_end(ap);
	buf_clear(&s->code);
	return false;
}

static bool no_room(struct stitching *k)
{
	return refuse(k->s, "its class has no room for more constants");
}

/* --- instructions -------------------------------------------------------------------------- */

static void u1(struct stitching *k, unsigned v)
{
	buf_char(&k->s->code, (char)v);
}

static void u2(struct stitching *k, unsigned v)
{
	u1(k, v >> 8 & 0xff);
	u1(k, v & 0xff);
}

static void grow(struct stitching *k, unsigned words)
{
	k->depth += words;
	if (k->depth > k->s->stack)
		k->s->stack = (uint16_t)k->depth;
}

/* Of loads and stores: int, long, float, double, reference. */
static unsigned sort_of(char type)
{
	switch (type) {
	case 'J':
		return 1;
	case 'F':
		return 2;
	case 'D':
		return 3;
	case 'L':
	case '[':
		return 4;
	default:
		return 0;
	}
}

static unsigned words_of(char type)
{
	return type == 'J' || type == 'D' ? 2 : 1;
}

/* op: the first of five, brief: the first of five times four for the first locals. */
static void local(struct stitching *k, unsigned op, unsigned brief, char type, uint16_t slot)
{
	if (slot < 4) {
		u1(k, brief + 4 * sort_of(type) + slot);
	} else if (slot <= UINT8_MAX) {
		u1(k, op + sort_of(type));
		u1(k, slot);
	} else {
		u1(k, OP_WIDE);
		u1(k, op + sort_of(type));
		u2(k, slot);
	}
}

static void load(struct stitching *k, char type, uint16_t slot)
{
	local(k, OP_ILOAD, OP_ILOAD_0, type, slot);
	grow(k, words_of(type));
}

static void store(struct stitching *k, char type, uint16_t slot)
{
	local(k, OP_ISTORE, OP_ISTORE_0, type, slot);
	k->depth -= words_of(type);
}

static bool call(struct stitching *k, struct str owner, struct str name, struct str type)
{
	uint16_t method = rewrite_method(k->p->r, owner, name, type);

	if (!method)
		return no_room(k);
	u1(k, OP_INVOKESTATIC);
	u2(k, method);
	return true;
}

static bool push_number(struct stitching *k)
{
	grow(k, 1);
	return rewrite_push(k->p->r, &k->s->code, k->p->number) || no_room(k);
}

/* What is returned or thrown stays on the stack, and is at hand in a local. */
static void keep(struct stitching *k, char type)
{
	if (k->has_kept)
		return;
	k->has_kept = true;
	k->kept = k->p->method->code->max_locals;
	k->s->locals = (uint16_t)words_of(type);
	u1(k, words_of(type) == 2 ? OP_DUP2 : OP_DUP);
	grow(k, words_of(type));
	store(k, type, k->kept);
}

/* --- roots --------------------------------------------------------------------------------- */

/* Where a root is; type V: it is not there. */
struct found {
	char type;
	uint16_t slot;
	uint8_t of; /* of a hash: the root that is hashed */
	uint16_t field;
};

/* Why a parameter is not seen after the entry: it is overwritten, or frames do not tell of it. */
static bool refuse_unseen(struct stitching *k, const struct found *f, const char *what)
{
	const struct code *code = k->p->method->code;
	bool is_kept = rewrite_parameter_is_kept(code, f->slot) &&
		       (words_of(f->type) == 1 ||
			rewrite_parameter_is_kept(code, (uint16_t)(f->slot + 1)));

	return refuse(k->s,
		      is_kept ? "frames of the method do not tell of %s"
			      : "%s is changed in the method",
		      what);
}

static bool find_this(struct stitching *k, struct found *f)
{
	bool is_making = str_eq(k->p->method->name, STR("<init>"));

	*f = (struct found){ .type = 'V' };
	if (!k->parameters.has_this || (is_making && k->p->where == REWRITE_ENTRY))
		return true;
	if (is_making && k->p->where != REWRITE_EXIT)
		return refuse(k->s, "this may not be made yet there");
	f->type = 'L';
	if (k->p->where != REWRITE_ENTRY && !rewrite_sees(k->p->method, 0, 'L'))
		return refuse_unseen(k, f, "this");
	return true;
}

static bool find_argument(struct stitching *k, uint8_t number, struct found *f)
{
	char what[16];

	if (number >= k->parameters.nr)
		return refuse(k->s, "the method has no argument %u", number);
	*f = (struct found){ .type = k->parameters.v[number].type.p[0],
			     .slot = k->parameters.v[number].slot };
	if (k->p->where == REWRITE_ENTRY || rewrite_sees(k->p->method, f->slot, f->type))
		return true;
	snprintf(what, sizeof(what), "argument %u", number);
	return refuse_unseen(k, f, what);
}

static bool find_last(struct stitching *k, enum rewrite_where where, char type, struct found *f)
{
	if (k->p->where != where)
		return refuse(k->s, where == REWRITE_EXIT ? "what is returned is not known there"
							  : "what is thrown is not known there");
	if (type != 'V')
		keep(k, type);
	*f = (struct found){ .type = type, .slot = k->kept };
	return true;
}

static bool find_object(struct stitching *k, const struct stitch_root *root, struct found *f)
{
	switch (root->kind) {
	case ROOT_THIS:
		return find_this(k, f);
	case ROOT_ARGUMENT:
		return find_argument(k, root->number, f);
	case ROOT_RETURN:
		return find_last(k, REWRITE_EXIT, k->parameters.result.p[0], f);
	case ROOT_THROWN:
		return find_last(k, REWRITE_THROW, 'L', f);
	case ROOT_HASH:
		*f = (struct found){ .type = 'H', .of = root->number };
		return true;
	}
	return refuse(k->s, "there is no such root");
}

static bool find(struct stitching *k, const struct stitch_root *root, struct found *f)
{
	if (!find_object(k, root, f))
		return false;
	if (root->field && (k->p->where != REWRITE_ENTRY || f->type != 'L'))
		return refuse(k->s, "there is no such field there");
	f->field = root->field;
	return true;
}

static bool is_long(char type)
{
	return type != 'L' && type != '[' && type != 'V';
}

static void load_object(struct stitching *k, const struct found *f)
{
	if (f->type != 'V') {
		load(k, 'L', f->slot);
		if (f->field) {
			u1(k, OP_GETFIELD);
			u2(k, f->field);
		}
		return;
	}
	u1(k, OP_ACONST_NULL);
	grow(k, 1);
}

/* all: the roots, of which one may be hashed. */
static bool load_long(struct stitching *k, const struct found *f, const struct found *all)
{
	if (f->type == 'H')
		load_object(k, &all[f->of]);
	else
		load(k, f->type, f->slot);
	if (f->type == 'J')
		return true;
	if (f->type == 'D')
		return call(k, STR("java/lang/Double"), STR("doubleToRawLongBits"), STR("(D)J"));
	if (f->type == 'F' &&
	    !call(k, STR("java/lang/Float"), STR("floatToRawIntBits"), STR("(F)I")))
		return false;
	if (f->type == 'H' && !call(k, STR("java/lang/System"), STR("identityHashCode"),
				    STR("(Ljava/lang/Object;)I")))
		return false;
	u1(k, OP_I2L);
	grow(k, 1);
	return true;
}

/* --- places -------------------------------------------------------------------------------- */

static bool begin(struct stitching *k, struct stitch *s, const struct stitch_place *p)
{
	buf_clear(&s->code);
	*s = (struct stitch){ .code = s->code };
	*k = (struct stitching){ .s = s, .p = p };
	if (!p->method->code)
		return refuse(s, "it has no code: it is abstract or native");
	if (!parameters_read(&k->parameters, p->method->type, p->method->access & ACCESS_STATIC))
		return refuse(s, "its descriptor is damaged");
	return true;
}

static bool call_at(struct stitching *k, unsigned longs, unsigned objects)
{
	char type[AT_TYPE_MAX];
	size_t n = 0;

	type[n++] = '(';
	for (unsigned i = 0; i < longs; i++)
		type[n++] = 'J';
	for (unsigned i = 0; i < objects; i++)
		n += (size_t)snprintf(type + n, sizeof(type) - n, "Ljava/lang/Object;");
	n += (size_t)snprintf(type + n, sizeof(type) - n, "I)V");
	return push_number(k) && call(k, k->p->advice, STR("at"), (struct str){ type, n });
}

/* Which root is where, counted by sort. */
static bool find_all(struct stitching *k, const struct stitch_root *roots, size_t nr,
		     struct found *found, unsigned *longs, unsigned *objects)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned *sort;

		if (!find(k, &roots[i], &found[i]))
			return false;
		sort = is_long(found[i].type) ? longs : objects;
		k->s->handed[i] = (struct stitch_handed){ .type = found[i].type,
							  .number = (uint8_t)(*sort)++ };
	}
	if (*longs > STITCH_LONGS_MAX)
		return refuse(k->s, "more than %d primitive values", STITCH_LONGS_MAX);
	return *objects <= STITCH_OBJECTS_MAX ||
	       refuse(k->s, "more than %d references", STITCH_OBJECTS_MAX);
}

bool stitch_at(struct stitch *s, const struct stitch_place *p, const struct stitch_root *roots,
	       size_t nr)
{
	struct stitching k;
	struct found found[STITCH_ROOTS_MAX] = { 0 };
	unsigned longs = 0, objects = 0;

	if (!begin(&k, s, p))
		return false;
	if (nr > STITCH_ROOTS_MAX)
		return refuse(s, "more than %d values", STITCH_ROOTS_MAX);
	if (!find_all(&k, roots, nr, found, &longs, &objects))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (is_long(found[i].type) && !load_long(&k, &found[i], found))
			return false;
	for (size_t i = 0; i < nr; i++)
		if (!is_long(found[i].type))
			load_object(&k, &found[i]);
	return call_at(&k, longs, objects);
}

bool stitch_element(struct stitch *s, const struct stitch_place *p, const struct stitch_root *root,
		    struct str method)
{
	struct stitching k;
	struct found f = { 0 };

	if (!begin(&k, s, p))
		return false;
	if (!find(&k, root, &f))
		return false;
	if (f.type != 'L' && f.type != '[')
		return refuse(s, "it is no reference");
	s->handed[0] = (struct stitch_handed){ .type = f.type };
	s->handed[1] = (struct stitch_handed){ .type = 'H' };
	load_object(&k, &f);
	return push_number(&k) &&
	       call(&k, p->advice, method, STR("(Ljava/lang/Object;I)V"));
}

/* On the stack an object for another of the declared type. */
static bool change(struct stitching *k, struct str type)
{
	struct str name = descriptor_class(type);
	uint16_t class = 0;

	if (!push_number(k) ||
	    !call(k, k->p->advice, STR("change"), STR("(Ljava/lang/Object;I)Ljava/lang/Object;")))
		return false;
	k->depth--;
	if (str_eq(name, STR("java/lang/Object")))
		return true;
	class = rewrite_class_named(k->p->r, name);
	if (!class)
		return no_room(k);
	u1(k, OP_CHECKCAST);
	u2(k, class);
	return true;
}

bool stitch_replace(struct stitch *s, const struct stitch_place *p, struct stitch_root root)
{
	struct stitching k;
	struct found f = { .type = 'V' };

	if (!begin(&k, s, p))
		return false;
	if (root.kind == ROOT_RETURN && p->where == REWRITE_EXIT)
		return parameter_is_reference(k.parameters.result)
			       ? change(&k, k.parameters.result)
			       : refuse(s, "what is returned is no reference");
	if (root.kind != ROOT_ARGUMENT || p->where != REWRITE_ENTRY)
		return refuse(s, "it cannot be exchanged there");
	if (!find_argument(&k, root.number, &f))
		return false;
	if (is_long(f.type))
		return refuse(s, "argument %u is no reference", root.number);
	load(&k, 'L', f.slot);
	if (!change(&k, k.parameters.v[root.number].type))
		return false;
	store(&k, 'L', f.slot);
	return true;
}

bool stitch_receiver(struct stitch *s, const struct stitch_place *p,
		     const struct rewrite_call *called)
{
	struct stitching k;

	if (!begin(&k, s, p))
		return false;
	if (p->where != REWRITE_BEFORE_CALL)
		return refuse(s, "there is no call there");
	if (called->is_static || str_eq(called->name, STR("<init>")))
		return refuse(s, "the call has no receiver yet");
	if (!str_starts(called->type, STR("()")))
		return refuse(s, "the call has arguments");
	u1(&k, OP_DUP);
	grow(&k, 1);
	return call_at(&k, 0, 1);
}
