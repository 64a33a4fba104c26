/* What is exported of a value: a number, or its text. */
#include <string.h>

#include "agent/jvm/cell.h"

#define DEPTH 4 /* of collections within collections: one may hold itself */

static bool value_at(struct evaluation *e, const struct cell *c, unsigned depth,
		     struct advice_value *to);

static struct advice_value real_value(double d)
{
	struct advice_value v = { .type = ADVICE_REAL };

	memcpy(&v.real, &d, sizeof(d));
	return v;
}

static struct advice_value text_value(void)
{
	return (struct advice_value){ .type = ADVICE_TEXTUAL };
}

static void primitive_value(struct evaluation *e, const struct cell *c, struct advice_value *to)
{
	uint16_t unit = (uint16_t)c->v.j;
	uint32_t bits = (uint32_t)c->v.j;
	float f;

	switch (c->type) {
	case 'Z':
		*to = (struct advice_value){ .type = ADVICE_BOOL, .i = c->v.j != 0 };
		break;
	case 'C':
		bounded_add_utf16(&e->out, &unit, 1);
		*to = text_value();
		break;
	case 'F':
		memcpy(&f, &bits, sizeof(f));
		*to = real_value(f);
		break;
	case 'D':
		*to = (struct advice_value){ .type = ADVICE_REAL, .real = (uint64_t)c->v.j };
		break;
	default:
		*to = (struct advice_value){ .type = ADVICE_INT, .i = c->v.j };
	}
}

/* --- objects ---------------------------------------------------------------------------------- */

/* One unit more than fits, so that it is known to be cut. */
static void add_string(struct evaluation *e, jstring s)
{
	uint16_t units[ADVICE_TEXT + 1];
	jsize n = (*e->env)->GetStringLength(e->env, s);

	if (n > (jsize)(sizeof(units) / sizeof(*units)))
		n = (jsize)(sizeof(units) / sizeof(*units));
	(*e->env)->GetStringRegion(e->env, s, 0, n, units);
	if (!cell_threw(e))
		bounded_add_utf16(&e->out, units, (size_t)n);
}

/* The text that a method of it gives. */
static bool called_value(struct evaluation *e, jobject o, jmethodID m, struct advice_value *to)
{
	jstring s = (*e->env)->CallObjectMethodA(e->env, o, m, NULL);

	if (cell_threw(e))
		return false;
	if (s) {
		add_string(e, s);
		*to = text_value();
	}
	(*e->env)->DeleteLocalRef(e->env, s);
	return true;
}

bool cell_unboxed(struct evaluation *e, const struct cell *c, const struct shape *s,
		  struct cell *to)
{
	const struct shape_methods *m = shape_methods();
	double d = 0;

	*to = (struct cell){ .type = 'J' };
	if (s->kind == SHAPE_WHOLE) {
		to->v.j = (*e->env)->CallLongMethodA(e->env, c->v.l, m->number_long, NULL);
	} else if (s->kind == SHAPE_REAL) {
		to->type = 'D';
		d = (*e->env)->CallDoubleMethodA(e->env, c->v.l, m->number_double, NULL);
		memcpy(&to->v.j, &d, sizeof(d));
	} else if (s->kind == SHAPE_BOOL) {
		to->type = 'Z';
		to->v.j = (*e->env)->CallBooleanMethodA(e->env, c->v.l, m->boolean_value, NULL);
	} else {
		to->type = 'C';
		to->v.j = (*e->env)->CallCharMethodA(e->env, c->v.l, m->char_value, NULL);
	}
	return !cell_threw(e);
}

static bool boxed_value(struct evaluation *e, const struct cell *c, const struct shape *s,
			struct advice_value *to)
{
	struct cell inside;

	if (!cell_unboxed(e, c, s, &inside))
		return false;
	primitive_value(e, &inside, to);
	return true;
}

struct listing {
	unsigned depth, nr;
};

static bool add_element(struct evaluation *e, struct cell element, void *arg)
{
	struct listing *l = arg;
	struct advice_value v = { .type = ADVICE_NULL };

	if (l->nr++)
		bounded_add(&e->out, STR(","));
	value_at(e, &element, l->depth, &v);
	cell_add_value(e, &v);
	cell_release(e, &element);
	return !e->out.is_full;
}

static bool listed_value(struct evaluation *e, const struct cell *c, const struct shape *s,
			 unsigned depth, struct advice_value *to)
{
	struct listing l = { .depth = depth + 1 };

	bounded_add(&e->out, s->kind == SHAPE_MAP ? STR("{") : STR("["));
	if (depth == DEPTH)
		bounded_add(&e->out, STR("…"));
	else if (!cell_each(e, c, s, add_element, &l))
		return false;
	bounded_add(&e->out, s->kind == SHAPE_MAP ? STR("}") : STR("]"));
	*to = text_value();
	return true;
}

static bool object_value(struct evaluation *e, const struct cell *c, const struct shape *s,
			 unsigned depth, struct advice_value *to)
{
	switch (s->kind) {
	case SHAPE_TEXT:
		add_string(e, c->v.l);
		*to = text_value();
		return true;
	case SHAPE_WHOLE:
	case SHAPE_REAL:
	case SHAPE_BOOL:
	case SHAPE_CHAR:
		return boxed_value(e, c, s, to);
	case SHAPE_ENUM:
		return called_value(e, c->v.l, shape_methods()->enum_name, to);
	case SHAPE_ARRAY:
	case SHAPE_LIST:
	case SHAPE_COLLECTION:
	case SHAPE_MAP:
		return listed_value(e, c, s, depth, to);
	case SHAPE_OTHER:
		break;
	}
	return called_value(e, c->v.l, shape_methods()->to_string, to);
}

static bool value_at(struct evaluation *e, const struct cell *c, unsigned depth,
		     struct advice_value *to)
{
	struct bounded before = e->out;
	struct shape *s;
	bool is_there;

	*to = (struct advice_value){ .type = ADVICE_NULL };
	if (c->type != 'L') {
		primitive_value(e, c, to);
		return true;
	}
	if (!c->v.l)
		return true;
	s = cell_shape(e, c);
	if (!s)
		return false;
	is_there = object_value(e, c, s, depth, to);
	cell_shape_done(s);
	if (!is_there)
		e->out = before;
	return is_there;
}

bool cell_value(struct evaluation *e, const struct cell *c, struct advice_value *to)
{
	return value_at(e, c, 0, to);
}

/* --- as text ---------------------------------------------------------------------------------- */

void cell_add_value(struct evaluation *e, const struct advice_value *v)
{
	double d;

	switch (v->type) {
	case ADVICE_BOOL:
		bounded_add(&e->out, v->i ? STR("true") : STR("false"));
		break;
	case ADVICE_INT:
		bounded_add_int(&e->out, v->i);
		break;
	case ADVICE_REAL:
		memcpy(&d, &v->real, sizeof(d));
		bounded_add_real(&e->out, d);
		break;
	case ADVICE_NULL:
		bounded_add(&e->out, STR("null"));
		break;
	default:
		break; /* a text is there already */
	}
}

static struct str primitive_name(char type)
{
	static const struct {
		char type;
		struct str name;
	} names[] = {
		{ 'Z', STR("boolean") }, { 'B', STR("byte") },   { 'C', STR("char") },
		{ 'S', STR("short") },   { 'I', STR("int") },    { 'J', STR("long") },
		{ 'F', STR("float") },   { 'D', STR("double") },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].type == type)
			return names[i].name;
	return (struct str){ 0 };
}

/* So many packages are left out in front that the rest fits: the end of a name tells most. */
static struct str fitting(struct str name, size_t room, bool *is_cut)
{
	while (name.n > room && str_find_char(name, '/') < name.n) {
		name = str_skip(name, str_find_char(name, '/') + 1);
		*is_cut = true;
	}
	return name;
}

void cell_add_class(struct evaluation *e, const char *signature)
{
	size_t from = e->out.n, depth = strspn(signature, "[");
	struct str name = str_of(signature + depth);

	if (name.p[0] == 'L')
		name = (struct str){ name.p + 1, name.n - 2 };
	else
		name = primitive_name(name.p[0]);
	bounded_add(&e->out, fitting(name, ADVICE_TEXT, &e->out.is_cut));
	for (size_t i = from; i < e->out.n; i++)
		if (e->out.p[i] == '/')
			e->out.p[i] = '.';
	while (depth--)
		bounded_add(&e->out, STR("[]"));
}
