#include "program/origin.h"

#include "program/descriptor.h"
#include "program/insn.h"

enum { STEPS_MAX = 16 };

struct str origin_simple(struct str name)
{
	for (size_t i = name.n; i--;)
		if (name.p[i] == '/')
			return str_skip(name, i + 1);
	return name;
}

static bool is_box(const struct member_ref *m)
{
	static const struct str boxes[] = {
		STR("java/lang/Integer"),         STR("java/lang/Long"),
		STR("java/lang/Short"),           STR("java/lang/Byte"),
		STR("java/lang/Boolean"),         STR("java/lang/Character"),
		STR("java/lang/Double"),          STR("java/lang/Float"),
		STR("scala/runtime/BoxesRunTime")
	};
	struct str name = m->name;

	for (size_t i = 0; i < sizeof(boxes) / sizeof(*boxes); i++)
		if (str_eq(m->owner, boxes[i]))
			return str_eq(name, STR("valueOf")) || str_ends(name, STR("Value")) ||
			       str_starts(name, STR("boxTo")) || str_starts(name, STR("unbox"));
	return str_eq(m->owner, STR("java/util/Objects")) && str_eq(name, STR("requireNonNull"));
}

/* What a method gives back when it is one value and the method does nothing else. */
static bool only_result(const struct scope *s, uint32_t *value)
{
	const struct values *v = s->v;
	uint32_t nr = 0;

	if (v->nr > 12)
		return false;
	for (uint32_t i = 1; i < v->nr; i++) {
		if (v->v[i].kind == VALUE_RETURN && v->v[i].nr) {
			*value = v->args[v->v[i].first];
			nr++;
		} else if (v->v[i].kind == VALUE_PUT_FIELD || v->v[i].kind == VALUE_PUT_STATIC) {
			return false;
		}
	}
	return nr == 1;
}

/* One step closer to where the value comes from; false when this is it. */
static bool step(struct where *w, struct arena *a)
{
	const struct value *v = where_value(*w);
	const struct scope *inside;
	struct member_ref m;
	uint32_t callee, value;

	if (v->kind != VALUE_CALL || !where_member(*w, &m))
		return false;
	if (is_box(&m) && v->nr) {
		*w = where_arg(*w, 0);
		return true;
	}
	callee = where_callee(*w);
	if (callee == NO_METHOD || v->nr > 1)
		return false;
	inside = scope_enter(w->scope, w->value, callee, a);
	if (!inside || !only_result(inside, &value))
		return false;
	*w = (struct where){ inside, value };
	return where_value(*w)->kind == VALUE_FIELD || where_value(*w)->kind == VALUE_STATIC ||
	       where_value(*w)->kind == VALUE_CALL || where_value(*w)->kind == VALUE_PARAMETER ||
	       where_value(*w)->kind == VALUE_CAST;
}

struct where origin_of(struct where w, struct arena *a)
{
	struct where before;

	w = where_source(w);
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		before = w;
		if (!step(&w, a))
			return before;
		w = where_source(w);
	}
	return w;
}

static struct str member_name(struct where w, struct arena *a, const char *after)
{
	struct member_ref m;
	struct str owner;

	if (!where_member(w, &m))
		return STR("");
	owner = origin_simple(m.owner);
	return arena_fmt(a, STR_FMT "." STR_FMT "%s", STR_ARG(owner), STR_ARG(m.name), after);
}

static struct str parameter_name(struct where w, struct arena *a)
{
	const struct values *v = w.scope->v;
	struct str class = origin_simple(v->class->name);
	int64_t n = where_value(w)->number;

	if (!n && !(v->method->access & ACCESS_STATIC))
		return class;
	return arena_fmt(a, STR_FMT "." STR_FMT "#%d", STR_ARG(class), STR_ARG(v->method->name),
			 (int)n);
}

/* Names of all that a phi may be, if they agree. */
static struct str phi_name(struct where w, struct arena *a)
{
	const struct value *v = where_value(w);
	struct str name = STR("");

	for (uint32_t i = 0; i < v->nr; i++) {
		struct where arg = where_source(where_arg(w, i));
		struct str other;

		if (where_value(arg)->kind == VALUE_PHI || where_value(arg)->kind == VALUE_NULL)
			continue;
		other = origin_name(arg, a);
		if (name.n && !str_eq(name, other))
			return STR("");
		name = other;
	}
	return name;
}

struct str origin_name(struct where w, struct arena *a)
{
	const struct value *v;
	struct str inner;

	w = origin_of(w, a);
	v = where_value(w);
	switch ((enum value_kind)v->kind) {
	case VALUE_FIELD:
	case VALUE_STATIC:
		return member_name(w, a, "");
	case VALUE_CALL:
		return member_name(w, a, "()");
	case VALUE_PARAMETER:
		return parameter_name(w, a);
	case VALUE_ELEMENT:
		inner = origin_name(where_arg(w, 0), a);
		return inner.n ? arena_fmt(a, STR_FMT "[]", STR_ARG(inner)) : inner;
	case VALUE_LENGTH:
		inner = origin_name(where_arg(w, 0), a);
		return inner.n ? arena_fmt(a, STR_FMT ".length", STR_ARG(inner)) : inner;
	case VALUE_CAUGHT:
	case VALUE_NEW:
		return origin_simple(class_named(w.scope->v->class, v->constant));
	case VALUE_PHI:
		return phi_name(w, a);
	default:
		return STR("");
	}
}

/* Puts a field in front; the first ones are given up when there are too many. */
static void add_field(struct path *p, struct str name)
{
	if (p->nr == PATH_MAX_FIELDS)
		return;
	for (uint16_t i = p->nr; i; i--)
		p->fields[i] = p->fields[i - 1];
	p->fields[0] = name;
	p->nr++;
}

struct path origin_path(struct where w, struct arena *a)
{
	struct path p = { .root = ROOT_LOCAL,
			  .fields = arena_array(a, struct str, PATH_MAX_FIELDS) };

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		const struct value *v;

		w = origin_of(w, a);
		v = where_value(w);
		p.method = w.scope->method;
		if (v->kind == VALUE_FIELD) {
			add_field(&p, member_name(w, a, ""));
			w = where_arg(w, 0);
		} else if (v->kind == VALUE_STATIC) {
			add_field(&p, member_name(w, a, ""));
			p.root = ROOT_STATIC;
			return p;
		} else if (v->kind == VALUE_PARAMETER) {
			p.root = (int16_t)v->number;
			return p;
		} else {
			return p;
		}
	}
	return p;
}

static bool is_error(struct where w, struct str class)
{
	const struct program *p = w.scope->all->program;

	return str_ends(class, STR("Exception")) || str_ends(class, STR("Error")) ||
	       str_eq(class, STR("java/lang/Throwable")) ||
	       program_is_a(p, program_class(p, class), STR("java/lang/Throwable")) ||
	       program_is_a(p, program_class(p, class), STR("java/lang/Exception"));
}

static enum hole_type hole_of_type(struct where w, struct str type)
{
	struct str class = descriptor_class(type);

	if (!type.n)
		return HOLE_OBJECT;
	switch (type.p[0]) {
	case 'I':
	case 'J':
	case 'S':
	case 'B':
		return HOLE_INTEGER;
	case 'F':
	case 'D':
		return HOLE_DECIMAL;
	case 'Z':
		return HOLE_BOOLEAN;
	case 'C':
		return HOLE_CHAR;
	default:
		break;
	}
	if (str_eq(class, STR("java/lang/String")))
		return HOLE_TEXT;
	if (str_eq(class, STR("java/lang/Integer")) || str_eq(class, STR("java/lang/Long")))
		return HOLE_INTEGER;
	return is_error(w, class) ? HOLE_ERROR : HOLE_OBJECT;
}

enum hole_type origin_hole(struct where w)
{
	return hole_of_type(w, where_type(w));
}

struct text origin_field_hole(struct where object, const struct member_ref *field, struct arena *a)
{
	struct str name = arena_fmt(a, STR_FMT "." STR_FMT, STR_ARG(origin_simple(field->owner)),
				    STR_ARG(field->name));
	struct path *path = arena_new(a, struct path);

	*path = origin_path(object, a);
	if (path->nr == PATH_MAX_FIELDS)
		memmove(path->fields, path->fields + 1, --path->nr * sizeof(*path->fields));
	path->fields[path->nr++] = name;
	return text_hole_at(a, hole_of_type(object, field->type), name, path);
}
