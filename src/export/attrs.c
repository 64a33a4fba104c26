#include "export/attrs.h"

#include "model/carried.h"
#include "model/link.h"
#include "export/ids.h"

#define EDGE_KEY "culprit.edge" /* stays an attribute of its link */

bool attrs_take(struct str *packed, enum attr_scope scope, struct attr *a)
{
	while (attr_take(packed, a))
		if (a->scope == scope)
			return true;
	return false;
}

static bool reads(const struct attr *a, struct str text)
{
	struct buf b = { 0 };
	bool same;

	if (a->type == ATTR_STRING)
		return str_eq(a->text, text);
	attr_text(&b, a);
	same = str_eq(buf_str(&b), text);
	buf_done(&b);
	return same;
}

bool attrs_say(struct str packed, enum attr_scope scope, struct str text)
{
	struct attr a;

	while (attrs_take(&packed, scope, &a))
		if (reads(&a, text))
			return true;
	return false;
}

bool attrs_key_says(struct str packed, struct str key, struct str text)
{
	struct attr a;

	return attr_find(packed, key, &a) && reads(&a, text);
}

struct str attrs_service(const struct span *s)
{
	size_t tail = s->host.n + 1;

	if (s->host.n && s->node.n > tail && str_ends(s->node, s->host) &&
	    s->node.p[s->node.n - tail] == '@')
		return str_head(s->node, s->node.n - tail);
	return s->node;
}

static void add(struct buf *packed, enum attr_scope scope, struct str key, struct str text)
{
	attr_add(packed,
		 &(struct attr){ .scope = scope, .type = ATTR_STRING, .key = key, .text = text });
}

void attrs_of_process(const struct span *s, struct buf *packed)
{
	struct attr a;

	if (s->host.n && !attr_find(s->attrs, STR("host.name"), &a) &&
	    !attrs_say(s->attrs, ATTR_RESOURCE, s->host))
		add(packed, ATTR_RESOURCE, STR("host.name"), s->host);
}

void attrs_of_thread(const struct span *s, struct buf *packed)
{
	if (s->thread.n && !attrs_key_says(s->attrs, STR("thread.name"), s->thread) &&
	    !attrs_key_says(s->attrs, STR("thread.id"), s->thread))
		add(packed, ATTR_SPAN, STR("thread.name"), s->thread);
}

double attrs_sure(const struct span *s)
{
	return (double)(int)(1000 * s->confidence + 0.5f) / 1000;
}

void attrs_of_confidence(const struct span *s, struct buf *packed)
{
	if (s->confidence < 1)
		attr_add(packed, &(struct attr){ .type = ATTR_DOUBLE,
						 .key = STR("culprit.confidence"),
						 .d = attrs_sure(s) });
}

void attrs_of_event(const struct event *ev, const struct span *in, struct buf *packed)
{
	if (ev->level != LEVEL_NONE)
		add(packed, ATTR_SPAN, STR(CARRIED_LEVEL), str_of(level_name(ev->level)));
	if (ev->point.n)
		add(packed, ATTR_SPAN, STR(CARRIED_POINT), ev->point);
	if (ev->node.n && !str_eq(ev->node, in->node) && !str_eq(ev->node, attrs_service(in)))
		add(packed, ATTR_SPAN, STR(CARRIED_NODE), ev->node);
	if (ev->thread.n && !str_eq(ev->thread, in->thread))
		add(packed, ATTR_SPAN, STR(CARRIED_THREAD), ev->thread);
}

struct str attrs_links(const struct fed *x, size_t position)
{
	const struct request_body *b = x->body;
	struct buf links = { 0 }, kind = { 0 };
	struct str all;

	buf_add(&links, b->spans[position].links);
	for (uint32_t i = x->first_edge[position]; i != FED_END; i = x->next_edge[i]) {
		const struct edge *e = &b->edges[i];
		struct link l = { .kind = LINK_OTHER };

		/* those of a link stand there already */
		if (e->kind == EDGE_LINK || e->from >= b->nr_spans)
			continue;
		buf_clear(&kind);
		attr_add_str(&kind, STR(EDGE_KEY), str_of(edge_kind_name(e->kind)));
		l.trace = ids_trace(x, &b->spans[e->from]);
		l.span = ids_span(x, e->from);
		l.attrs = buf_str(&kind);
		link_add(&links, &l);
	}
	all = arena_str(x->arena, buf_str(&links));
	buf_done(&links);
	buf_done(&kind);
	return all;
}
