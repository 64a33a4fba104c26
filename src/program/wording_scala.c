/*
 * The ways in which Scala writes a text: "%d of %d".format(a, b), s"$a of $b", and the wrappers
 * that its compilers put around strings and arrays for that.
 */
#include "program/insn.h"
#include "program/wording.h"

enum { ELEMENTS_MAX = 64 };

/* What an object was made with, for classes that hold just one thing. */
static struct where made_with(struct where object)
{
	const struct values *v = object.scope->v;
	struct member_ref m;

	for (uint32_t i = object.value + 1; i < v->nr; i++) {
		const struct value *call = &v->v[i];

		if (call->kind == VALUE_CALL && call->nr > 1 &&
		    v->args[call->first] == object.value &&
		    class_member(v->class, call->constant, &m) && str_eq(m.name, STR("<init>")))
			return (struct where){ object.scope, v->args[call->first + 1] };
	}
	return object;
}

struct where wording_unwrapped(struct where at)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct value *v;
		struct member_ref m;

		at = where_source(at);
		v = where_value(at);
		if (v->kind == VALUE_CALL && v->nr && where_member(at, &m) &&
		    str_starts(m.owner, STR("scala/")) &&
		    (str_starts(m.name, STR("wrap")) || str_starts(m.name, STR("genericWrap")) ||
		     str_eq(m.name, STR("augmentString"))))
			at = where_arg(at, v->nr - 1);
		else if (v->kind == VALUE_NEW &&
			 str_ends(class_named(at.scope->v->class, v->constant), STR("StringOps")))
			at = made_with(at);
		else
			return at;
	}
	return at;
}

/* "…".format(…): the text is the receiver, or the first argument of the static form. */
static bool format_text(struct wording *w, struct where at, const struct member_ref *m,
			struct text *t, unsigned depth)
{
	bool is_plain = str_eq(m->name, STR("format"));
	struct where args[1];

	if (!is_plain && !str_eq(m->name, STR("format$extension")))
		return false;
	args[0] = wording_unwrapped(where_arg(at, is_plain ? 1 : 2));
	*t = wording_format(w, FORMAT_PERCENT, wording_unwrapped(where_arg(at, is_plain ? 0 : 1)),
			    args, 1, depth);
	return true;
}

/* s"…": the constant parts, and an argument between each two. */
static bool context_text(struct wording *w, struct where at, const struct member_ref *m,
			 struct text *t, unsigned depth)
{
	struct where parts[ELEMENTS_MAX], args[ELEMENTS_MAX];
	struct where context = where_source(where_arg(at, 0));
	uint32_t nr_parts, nr_args;

	if (!str_eq(m->name, STR("s")) || where_value(context)->kind != VALUE_NEW)
		return false;
	nr_parts = wording_elements(wording_unwrapped(made_with(context)), parts, ELEMENTS_MAX);
	nr_args = wording_elements(wording_unwrapped(where_arg(at, 1)), args, ELEMENTS_MAX);
	*t = text_empty(w->arena);
	for (uint32_t i = 0; i < nr_parts; i++) {
		*t = text_join(w->arena, *t, wording_part(w, parts[i], STR(""), depth + 1));
		if (i < nr_args)
			*t = text_join(w->arena, *t, wording_part(w, args[i], STR(""), depth + 1));
	}
	return nr_parts > 0;
}

bool wording_scala(struct wording *w, struct where at, const struct member_ref *m, struct text *t,
		   unsigned depth)
{
	if (!str_starts(m->owner, STR("scala/")) || where_value(at)->op == OP_INVOKEDYNAMIC)
		return false;
	if (str_ends(m->owner, STR("StringOps")) || str_ends(m->owner, STR("StringOps$")) ||
	    str_ends(m->owner, STR("StringLike")))
		return format_text(w, at, m, t, depth);
	if (str_ends(m->owner, STR("StringContext")))
		return context_text(w, at, m, t, depth);
	if (!str_eq(m->name, STR("augmentString")))
		return false;
	*t = wording_of(w, wording_unwrapped(at), depth);
	return true;
}
