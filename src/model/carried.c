#include "model/carried.h"

#include "base/names.h"
#include "base/vec.h"
#include "model/attr.h"
#include "model/event.h"
#include "model/span.h"

static bool any_carried(struct str attrs)
{
	struct str prefix = STR(CARRIED_PREFIX);

	return attrs.n > prefix.n && memmem(attrs.p, attrs.n, prefix.p, prefix.n);
}

/* What the attributes say of each other by name: a table, so that many of them cost no more each.
 */
enum mark {
	MARK_JSON = 1,
	MARK_LIBRARY = 2,
};

struct marks {
	struct names keys;
	VEC(uint8_t) of; /* of[sym]: enum mark; of[0] is for the empty name */
};

static void marks_take(struct marks *m, struct str attrs)
{
	struct attr a;

	vec_push(&m->of, 0);
	while (attr_take(&attrs, &a)) {
		enum mark mark = str_eq(a.key, STR(CARRIED_JSON))      ? MARK_JSON
				 : str_eq(a.key, STR(CARRIED_LIBRARY)) ? MARK_LIBRARY
								       : 0;
		sym_t sym;

		if (!mark || a.type != ATTR_STRING)
			continue;
		sym = names_add(&m->keys, a.text);
		if (sym == m->of.nr)
			vec_push(&m->of, 0);
		m->of.v[sym] |= (uint8_t)mark;
	}
}

static void marks_done(struct marks *m)
{
	names_done(&m->keys);
	vec_done(&m->of);
}

static bool is_marked(const struct marks *m, struct str key, enum mark mark)
{
	sym_t sym = names_find(&m->keys, key);

	return (sym || !key.n) && (m->of.v[sym] & mark);
}

static bool restore_text(struct span *s, const struct attr *at)
{
	if (at->type == ATTR_BYTES && str_eq(at->key, STR(CARRIED_LINKS)))
		s->links = at->text;
	else if (at->type != ATTR_STRING)
		return false;
	else if (str_eq(at->key, STR(CARRIED_TRACE)))
		s->key = at->text;
	else if (str_eq(at->key, STR(CARRIED_SPAN)))
		s->id = at->text;
	else if (str_eq(at->key, STR(CARRIED_PARENT)))
		s->parent_id = at->text;
	else if (str_eq(at->key, STR(CARRIED_KIND)) && str_eq(at->text, STR("wait")))
		s->kind = SPAN_WAIT;
	else
		return str_eq(at->key, STR(CARRIED_JSON)) || str_eq(at->key, STR(CARRIED_LIBRARY));
	return true;
}

static bool restore_field(struct span *s, const struct attr *at)
{
	if (at->type == ATTR_INT && str_eq(at->key, STR(CARRIED_START)))
		s->start = at->i;
	else if (at->type == ATTR_INT && str_eq(at->key, STR(CARRIED_END)))
		s->end = at->i;
	else if (at->type == ATTR_BOOL && str_eq(at->key, STR(CARRIED_FOLLOWS)))
		s->follows = at->i != 0;
	else
		return restore_text(s, at);
	return true;
}

static void restore_type(const struct marks *m, struct attr *at)
{
	if (at->type == ATTR_STRING && is_marked(m, at->key, MARK_JSON))
		at->type = ATTR_JSON;
	if (at->scope == ATTR_SPAN && is_marked(m, at->key, MARK_LIBRARY))
		at->scope = ATTR_LIBRARY;
}

void carried_restore_span(struct span *s, struct arena *a)
{
	struct str rest = s->attrs;
	struct marks marks = { 0 };
	struct buf kept = { 0 };
	struct attr at;

	if (!any_carried(rest))
		return;
	marks_take(&marks, rest);
	while (attr_take(&rest, &at)) {
		if (str_starts(at.key, STR(CARRIED_PREFIX)) && restore_field(s, &at))
			continue;
		restore_type(&marks, &at);
		attr_add(&kept, &at);
	}
	if (s->end < s->start)
		s->end = s->start;
	s->attrs = arena_str(a, buf_str(&kept));
	buf_done(&kept);
	marks_done(&marks);
}

static bool restore_event_field(struct event *ev, const struct attr *at)
{
	if (at->type == ATTR_INT && str_eq(at->key, STR(CARRIED_NS)))
		ev->ns = at->i;
	else if (at->type != ATTR_STRING)
		return false;
	else if (str_eq(at->key, STR(CARRIED_LEVEL)))
		ev->level = level_of(at->text);
	else if (str_eq(at->key, STR(CARRIED_POINT)))
		ev->point = at->text;
	else if (str_eq(at->key, STR(CARRIED_NODE)))
		ev->node = at->text;
	else if (str_eq(at->key, STR(CARRIED_THREAD)))
		ev->thread = at->text;
	else
		return str_eq(at->key, STR(CARRIED_JSON));
	return true;
}

void carried_restore_event(struct event *ev, struct arena *a)
{
	struct str rest = ev->attrs;
	struct marks marks = { 0 };
	struct buf kept = { 0 };
	struct attr at;

	if (!any_carried(rest))
		return;
	marks_take(&marks, rest);
	while (attr_take(&rest, &at)) {
		if (str_starts(at.key, STR(CARRIED_PREFIX)) && restore_event_field(ev, &at))
			continue;
		restore_type(&marks, &at);
		attr_add(&kept, &at);
	}
	ev->attrs = arena_str(a, buf_str(&kept));
	buf_done(&kept);
	marks_done(&marks);
}
