#include "ask/paths/calls.h"

#include <stdlib.h>

#include "ask/length.h"
#include "model/attr.h"

#define MESSAGE STR("message")
#define CLIENT STR("from")

void calls_done(struct calls *c)
{
	vec_done(&c->v);
	vec_done(&c->of_span);
	vec_done(&c->first);
	vec_done(&c->kid);
}

static bool is_message(const struct span *s)
{
	struct attr a;

	return s->attrs.n && attr_find(s->attrs, MESSAGE, &a);
}

uint64_t calls_message(const struct request_body *body, uint32_t span)
{
	struct attr a;

	if (attr_find(body->spans[span].attrs, MESSAGE, &a) && a.type == ATTR_INT && a.i > 0)
		return (uint64_t)a.i;
	return (uint64_t)span + 1;
}

struct str calls_not_seen(const struct request_body *body, uint32_t span)
{
	struct attr a;

	if (attr_find(body->spans[span].attrs, STR("not_seen"), &a) && a.type == ATTR_STRING)
		return a.text;
	return STR("");
}

struct str calls_alternatives(const struct request_body *body, uint32_t span)
{
	struct attr a;

	if (attr_find(body->spans[span].attrs, STR("alternatives"), &a) && a.type == ATTR_JSON)
		return a.text;
	return STR("");
}

/* The inference writes "[[12,0.31],[17,0.05]]", with two digits behind the point. */
bool calls_take_alternative(struct str *packed, uint64_t *message, double *confidence)
{
	uint64_t whole, hundredths;

	while (str_take_char(packed, '[') || str_take_char(packed, ','))
		;
	if (!str_take_uint(packed, message) || !str_take_char(packed, ',') ||
	    !str_take_uint(packed, &whole) || !str_take_char(packed, '.') ||
	    !str_take_uint(packed, &hundredths) || !str_take_char(packed, ']'))
		return false;
	*confidence = (double)whole + (double)hundredths / 100;
	return true;
}

struct str calls_client(const struct request_body *body, uint32_t span)
{
	struct attr a;

	if (attr_find(body->spans[span].attrs, CLIENT, &a) && a.type == ATTR_STRING)
		return a.text;
	return STR("");
}

/* A span on its parent's node (or on none that is known) is part of the parent's work, unless a
 * message began it: a node may call itself. */
static bool is_inside(const struct request_body *body, uint32_t i)
{
	const struct span *s = &body->spans[i], *up = &body->spans[s->parent];

	return !s->node.n || (str_eq(s->node, up->node) && !is_message(s));
}

static void find_calls(struct calls *c, struct names *names, const struct request *r,
		       const struct request_body *body)
{
	vec_clear(&c->v);
	vec_clear(&c->of_span);
	for (uint32_t i = 0; i < body->nr_spans; i++) {
		const struct span *s = &body->spans[i];
		bool root = s->parent >= i;
		uint32_t up = root ? CALL_NONE : c->of_span.v[s->parent];

		if (!root && is_inside(body, i)) {
			vec_push(&c->of_span, up);
			continue;
		}
		vec_push(&c->of_span, (uint32_t)c->v.nr);
		vec_push(&c->v, (struct call){
					.parent = up,
					.span = i,
					.node = names_add(names, s->node),
					.start = s->start,
					.end = s->end,
					.delay = length_signed(root ? r->start : c->v.v[up].start,
							       s->start),
				});
	}
}

struct by_start {
	const struct calls *c;
	const struct names *names;
};

/* What starts at the same time has no order of its own; the names give one that is always the
 * same. */
static int by_start(const void *a, const void *b, void *ctx)
{
	const struct by_start *s = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct call *x = &s->c->v.v[i], *y = &s->c->v.v[j];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->node != y->node)
		return str_cmp(names_str(s->names, x->node), names_str(s->names, y->node));
	return i < j ? -1 : i > j;
}

static void list_kids(struct calls *c, const struct names *names)
{
	uint32_t nr = (uint32_t)c->v.nr;
	struct by_start by = { c, names };
	uint32_t *at;

	vec_clear(&c->first);
	vec_reserve(&c->first, nr + 3);
	memset(c->first.v, 0, (nr + 3) * sizeof(*c->first.v));
	c->first.nr = nr + 3;
	vec_reserve(&c->kid, nr + 1);
	c->kid.nr = nr;
	at = c->first.v + 1; /* moves to first[i + 1] while the kids of i are placed */
	vec_each (&c->v, x)
		at[(x->parent == CALL_NONE ? nr : x->parent) + 1]++;
	for (uint32_t i = 1; i <= nr; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < nr; i++)
		c->kid.v[at[c->v.v[i].parent == CALL_NONE ? nr : c->v.v[i].parent]++] = i;
	for (uint32_t i = 0; i <= nr; i++)
		if (c->first.v[i + 1] - c->first.v[i] > 1)
			qsort_r(c->kid.v + c->first.v[i], c->first.v[i + 1] - c->first.v[i],
				sizeof(*c->kid.v), by_start, &by);
}

static int64_t self_of(const struct calls *c, uint32_t i)
{
	const struct call *x = &c->v.v[i];
	int64_t at = x->start;
	uint64_t self = 0;

	for (uint32_t k = c->first.v[i]; k < c->first.v[i + 1]; k++) {
		const struct call *y = &c->v.v[c->kid.v[k]];

		if (y->start >= x->end)
			break;
		self += (uint64_t)length_ns(at, y->start);
		if (y->end > at)
			at = y->end;
	}
	self += (uint64_t)length_ns(at, x->end);
	return self > INT64_MAX ? INT64_MAX : (int64_t)self;
}

void calls_make(struct calls *c, struct names *names, const struct request *r,
		const struct request_body *body)
{
	find_calls(c, names, r, body);
	list_kids(c, names);
	for (uint32_t i = 0; i < c->v.nr; i++)
		c->v.v[i].self = self_of(c, i);
}
