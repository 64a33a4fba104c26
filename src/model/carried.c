#include "model/carried.h"

#include "model/attr.h"
#include "model/event.h"
#include "model/span.h"

static bool any_carried(struct str attrs)
{
	struct str prefix = STR(CARRIED_PREFIX);

	return attrs.n > prefix.n && memmem(attrs.p, attrs.n, prefix.p, prefix.n);
}

/* Whether one of the attributes called mark names this key. */
static bool is_marked(struct str attrs, struct str mark, struct str key)
{
	struct attr a;

	while (attr_take(&attrs, &a))
		if (str_eq(a.key, mark) && a.type == ATTR_STRING && str_eq(a.text, key))
			return true;
	return false;
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

static void restore_type(struct str attrs, struct attr *at)
{
	if (at->type == ATTR_STRING && is_marked(attrs, STR(CARRIED_JSON), at->key))
		at->type = ATTR_JSON;
	if (at->scope == ATTR_SPAN && is_marked(attrs, STR(CARRIED_LIBRARY), at->key))
		at->scope = ATTR_LIBRARY;
}

void carried_restore_span(struct span *s, struct arena *a)
{
	struct str all = s->attrs, rest = s->attrs;
	struct buf kept = { 0 };
	struct attr at;

	if (!any_carried(all))
		return;
	while (attr_take(&rest, &at)) {
		if (str_starts(at.key, STR(CARRIED_PREFIX)) && restore_field(s, &at))
			continue;
		restore_type(all, &at);
		attr_add(&kept, &at);
	}
	if (s->end < s->start)
		s->end = s->start;
	s->attrs = arena_str(a, buf_str(&kept));
	buf_done(&kept);
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
	struct str all = ev->attrs, rest = ev->attrs;
	struct buf kept = { 0 };
	struct attr at;

	if (!any_carried(all))
		return;
	while (attr_take(&rest, &at)) {
		if (str_starts(at.key, STR(CARRIED_PREFIX)) && restore_event_field(ev, &at))
			continue;
		restore_type(all, &at);
		attr_add(&kept, &at);
	}
	ev->attrs = arena_str(a, buf_str(&kept));
	buf_done(&kept);
}
