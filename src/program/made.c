#include "program/made.h"

#include "program/origin.h"

enum { CONSTRUCTORS_MAX = 4 }; /* that call each other */

struct where made_only(struct where w)
{
	struct where only;
	const struct value *v;
	uint32_t nr = 0;

	w = only = where_source(w);
	v = where_value(w);
	for (uint32_t i = 0; v->kind == VALUE_PHI && i < v->nr; i++) {
		struct where arg = where_source(where_arg(w, i));

		if (where_value(arg)->kind == VALUE_NULL || arg.value == w.value)
			continue;
		if (nr && (arg.value != only.value || arg.scope != only.scope))
			return w;
		only = arg;
		nr++;
	}
	return only;
}

static bool is_field(struct where put, struct str field)
{
	struct member_ref m;
	struct str owner;

	if (!where_member(put, &m))
		return false;
	owner = origin_simple(m.owner);
	return str_take(&field, owner) && str_take_char(&field, '.') && str_eq(field, m.name);
}

static bool is_this(struct where w)
{
	const struct value *v = where_value(w);

	return v->kind == VALUE_PARAMETER && !v->number;
}

static bool constructs(struct where call)
{
	struct member_ref m;

	return where_value(call)->kind == VALUE_CALL && where_member(call, &m) &&
	       str_eq(m.name, STR("<init>"));
}

static bool field_after(const struct scope *s, uint32_t call, struct str field, struct arena *a,
			unsigned depth, struct where *value)
{
	uint32_t callee = where_callee((struct where){ s, call });
	const struct scope *inside;
	bool found = false;

	if (callee == NO_METHOD || depth > CONSTRUCTORS_MAX ||
	    !(inside = scope_enter(s, call, callee, a)))
		return false;
	for (uint32_t i = 1; i < inside->v->nr; i++) {
		struct where at = { inside, i };

		if (where_value(at)->kind == VALUE_PUT_FIELD && is_this(where_arg(at, 0)) &&
		    is_field(at, field)) {
			*value = where_source(where_arg(at, 1));
			found = true;
		} else if (!found && constructs(at) && is_this(where_arg(at, 0))) {
			found = field_after(inside, i, field, a, depth + 1, value);
		}
	}
	return found;
}

bool made_field(struct where object, struct str field, struct arena *a, struct where *value)
{
	const struct values *v;

	object = made_only(object);
	v = object.scope->v;
	if (where_value(object)->kind != VALUE_NEW)
		return false;
	for (uint32_t i = object.value + 1; i < v->nr; i++) {
		struct where at = { object.scope, i };

		if (constructs(at) && v->v[i].nr && v->args[v->v[i].first] == object.value)
			return field_after(object.scope, i, field, a, 0, value);
	}
	return false;
}
