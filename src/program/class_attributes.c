#include "program/class_attributes.h"

#include <stdlib.h>

#include "program/bytes.h"
#include "program/class.h"

/* One reader for each attribute that is used: false when its body is damaged. */
struct place {
	struct class *class;
	struct member *member; /* may be NULL */
	struct code *code;     /* may be NULL */
	struct arena *arena;
};

struct attribute {
	struct str name;
	bool (*read)(const struct place *at, struct str body);
};

static bool read_table(const struct place *at, struct str *s, const struct attribute *known);

static int by_pc(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* A method may have several of these; they add up. */
static bool read_lines(const struct place *at, struct str body)
{
	struct code *code = at->code;
	struct line *lines;
	uint16_t nr;

	if (!bytes_take_u2(&body, &nr) || body.n < 4 * (size_t)nr)
		return false;
	lines = arena_array(at->arena, struct line, (size_t)code->nr_lines + nr + 1);
	if (code->nr_lines)
		memcpy(lines, code->lines, code->nr_lines * sizeof(*lines));
	for (uint16_t i = 0; i < nr; i++) {
		struct line *l = &lines[code->nr_lines + i];

		if (!bytes_take_u2(&body, &l->pc) || !bytes_take_u2(&body, &l->line))
			return false;
	}
	code->lines = lines;
	code->nr_lines += nr;
	qsort(lines, code->nr_lines, sizeof(*lines), by_pc);
	return true;
}

static bool read_frames(const struct place *at, struct str body)
{
	at->code->frames = body;
	return true;
}

static const struct attribute of_code[] = {
	{ STR("LineNumberTable"), read_lines },
	{ STR("StackMapTable"), read_frames },
	{ { NULL, 0 }, NULL },
};

static bool read_guards(struct code *code, struct str *body, struct arena *a)
{
	if (!bytes_take_u2(body, &code->nr_guards) || body->n < 8 * (size_t)code->nr_guards)
		return false;
	code->guards = arena_array(a, struct guard, (size_t)code->nr_guards + 1);
	for (uint16_t i = 0; i < code->nr_guards; i++) {
		struct guard *g = &code->guards[i];

		if (!bytes_take_u2(body, &g->from) || !bytes_take_u2(body, &g->to) ||
		    !bytes_take_u2(body, &g->handler) || !bytes_take_u2(body, &g->type))
			return false;
	}
	return true;
}

static bool read_code(const struct place *at, struct str body)
{
	struct code *code = arena_new(at->arena, struct code);
	struct place inside = { at->class, at->member, code, at->arena };
	uint32_t nr;

	if (!at->member || !bytes_take_u2(&body, &code->max_stack) ||
	    !bytes_take_u2(&body, &code->max_locals) || !bytes_take_u4(&body, &nr) || !nr ||
	    nr > UINT16_MAX || !bytes_take(&body, nr, &code->bytes) ||
	    !read_guards(code, &body, at->arena))
		return false;
	at->member->code = code;
	return read_table(&inside, &body, of_code);
}

static bool read_constant(const struct place *at, struct str body)
{
	return bytes_take_u2(&body, &at->member->constant);
}

static bool read_throws(const struct place *at, struct str body)
{
	struct member *m = at->member;

	if (!bytes_take_u2(&body, &m->nr_throws) || body.n < 2 * (size_t)m->nr_throws) {
		m->nr_throws = 0;
		return false;
	}
	m->throws = arena_array(at->arena, uint16_t, (size_t)m->nr_throws + 1);
	for (uint16_t i = 0; i < m->nr_throws; i++)
		bytes_take_u2(&body, &m->throws[i]);
	return true;
}

static bool read_member_signature(const struct place *at, struct str body)
{
	uint16_t text;

	if (!bytes_take_u2(&body, &text))
		return false;
	at->member->signature = class_utf8(at->class, text);
	return true;
}

static bool read_annotations(const struct place *at, struct str body)
{
	if (at->member)
		at->member->annotations = body;
	else
		at->class->annotations = body;
	return true;
}

#define ANNOTATIONS "RuntimeVisibleAnnotations"

static const struct attribute of_member[] = {
	{ STR("Code"), read_code },
	{ STR("ConstantValue"), read_constant },
	{ STR("Exceptions"), read_throws },
	{ STR("Signature"), read_member_signature },
	{ STR(ANNOTATIONS), read_annotations },
	{ { NULL, 0 }, NULL },
};

static bool read_source(const struct place *at, struct str body)
{
	uint16_t text;

	if (!bytes_take_u2(&body, &text))
		return false;
	at->class->source = class_utf8(at->class, text);
	return true;
}

static bool read_class_signature(const struct place *at, struct str body)
{
	uint16_t text;

	if (!bytes_take_u2(&body, &text))
		return false;
	at->class->signature = class_utf8(at->class, text);
	return true;
}

static bool read_bootstrap(const struct place *at, struct str *body, struct bootstrap *b)
{
	if (!bytes_take_u2(body, &b->handle) || !bytes_take_u2(body, &b->nr) ||
	    body->n < 2 * (size_t)b->nr)
		return false;
	b->args = arena_array(at->arena, uint16_t, (size_t)b->nr + 1);
	for (uint16_t i = 0; i < b->nr; i++)
		bytes_take_u2(body, &b->args[i]);
	return true;
}

static bool read_bootstraps(const struct place *at, struct str body)
{
	struct class *c = at->class;
	uint16_t nr;

	if (!bytes_take_u2(&body, &nr) || body.n < 4 * (size_t)nr)
		return false;
	c->bootstraps = arena_array(at->arena, struct bootstrap, (size_t)nr + 1);
	for (c->nr_bootstraps = 0; c->nr_bootstraps < nr; c->nr_bootstraps++)
		if (!read_bootstrap(at, &body, &c->bootstraps[c->nr_bootstraps]))
			return false;
	return true;
}

static bool read_inner(const struct place *at, struct str *body, struct inner *i)
{
	uint16_t inner, outer, name;

	if (!bytes_take_u2(body, &inner) || !bytes_take_u2(body, &outer) ||
	    !bytes_take_u2(body, &name) || !bytes_take_u2(body, &i->access))
		return false;
	i->inner = class_named(at->class, inner);
	i->outer = class_named(at->class, outer);
	i->name = class_utf8(at->class, name);
	return true;
}

static bool read_inners(const struct place *at, struct str body)
{
	struct class *c = at->class;
	uint16_t nr;

	if (!bytes_take_u2(&body, &nr) || body.n < 8 * (size_t)nr)
		return false;
	c->inners = arena_array(at->arena, struct inner, (size_t)nr + 1);
	for (c->nr_inners = 0; c->nr_inners < nr; c->nr_inners++)
		if (!read_inner(at, &body, &c->inners[c->nr_inners]))
			return false;
	return true;
}

static bool read_enclosing(const struct place *at, struct str body)
{
	struct member_ref m = { .name = STR("") };
	uint16_t outer, method;

	if (!bytes_take_u2(&body, &outer) || !bytes_take_u2(&body, &method))
		return false;
	at->class->outer_class = class_named(at->class, outer);
	if (class_name_and_type(at->class, method, &m))
		at->class->outer_method = m.name;
	return true;
}

static bool read_record(const struct place *at, struct str body)
{
	(void)body; /* its components are private final fields as well */
	at->class->is_record = true;
	return true;
}

static const struct attribute of_class[] = {
	{ STR("SourceFile"), read_source },         { STR("BootstrapMethods"), read_bootstraps },
	{ STR("InnerClasses"), read_inners },       { STR("EnclosingMethod"), read_enclosing },
	{ STR("Signature"), read_class_signature }, { STR("Record"), read_record },
	{ STR(ANNOTATIONS), read_annotations },     { { NULL, 0 }, NULL },
};

static bool read_table(const struct place *at, struct str *s, const struct attribute *known)
{
	uint16_t nr, name;
	uint32_t length;
	struct str body;

	if (!bytes_take_u2(s, &nr))
		return false;
	for (uint16_t i = 0; i < nr; i++) {
		if (!bytes_take_u2(s, &name) || !bytes_take_u4(s, &length) ||
		    !bytes_take(s, length, &body))
			return false;
		for (const struct attribute *k = known; k->read; k++)
			if (str_eq(k->name, class_utf8(at->class, name)) && !k->read(at, body))
				at->class->nr_damaged++;
	}
	return true;
}

bool class_member_attributes(struct class *c, struct str *s, struct member *m, struct arena *a)
{
	struct place at = { c, m, NULL, a };

	return read_table(&at, s, of_member);
}

bool class_own_attributes(struct class *c, struct str *s, struct arena *a)
{
	struct place at = { c, NULL, NULL, a };

	return read_table(&at, s, of_class);
}
