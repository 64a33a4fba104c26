#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/bodies.h"
#include "store/body.h"
#include "store/code.h"
#include "store/run.h"
#include "store/sorter.h"

static int check_body(const struct request_body *b, struct error *err)
{
	bool ok = b->nr_spans < SPAN_NONE && b->nr_events < UINT32_MAX;

	for (size_t i = 0; i < b->nr_spans && ok; i++)
		ok = b->spans[i].parent == SPAN_NONE || b->spans[i].parent < i;
	for (size_t i = 0; i < b->nr_edges && ok; i++)
		ok = b->edges[i].from < b->nr_spans && b->edges[i].to < b->nr_spans;
	for (size_t i = 0; i < b->nr_events && b->event_span && ok; i++)
		ok = b->event_span[i] == SPAN_NONE || b->event_span[i] < b->nr_spans;
	return ok ? 0 : error_set(err, EINVAL, "a request whose spans do not form a tree");
}

/* number.c reads the row. */
static int add_pending(struct store *s, const struct request *r, uint64_t ordinal, uint64_t set,
		       struct error *err)
{
	buf_clear(&s->scratch);
	buf_varint(&s->scratch, set);
	buf_varint(&s->scratch, ordinal);
	code_add_request(&s->scratch, &s->syms, r);
	return sorter_add(s->sorter, r->start, r->end, r->key, buf_str(&s->scratch), err);
}

static int add_request(struct store *s, const struct request *r, const struct request_body *body,
		       struct error *err)
{
	struct store_totals *t = &s->catalog.totals;
	int result;

	if (t->nr_requests >= UINT32_MAX)
		return error_set(err, EFBIG, "more requests than a run can hold");
	result = add_pending(s, r, t->nr_requests, nodesets_of(&s->sets, body), err);
	if (result)
		return result;
	buf_clear(&s->scratch);
	code_add_request(&s->scratch, &s->syms, r);
	body_add(&s->scratch, &s->syms, r, body);
	result = bodies_add(s, buf_str(&s->scratch), err);
	if (!t->nr_requests || r->start < s->first_start)
		s->first_start = r->start;
	if (!t->nr_requests || r->start > s->last_start)
		s->last_start = r->start;
	t->nr_requests++;
	t->nr_spans += body->nr_spans;
	catalog_saw(&s->catalog, r->start);
	catalog_saw(&s->catalog, r->end);
	return result;
}

static void mark_placed(struct store *s, const struct request_body *body)
{
	size_t nr = s->placed.nr, want = s->catalog.totals.nr_events / 8 + 1;

	if (nr < want && body->nr_events) {
		vec_reserve(&s->placed, want);
		s->placed.nr = want;
		memset(s->placed.v + nr, 0, want - nr);
	}
	for (size_t i = 0; i < body->nr_events; i++)
		if (body->events[i] / 8 < s->placed.nr)
			s->placed.v[body->events[i] / 8] |= (uint8_t)(1 << body->events[i] % 8);
}

bool store_is_placed(const struct store *s, uint64_t event)
{
	return event / 8 < s->placed.nr && s->placed.v[event / 8] >> event % 8 & 1;
}

int store_add_request(struct store *s, const struct request *r, const struct request_body *body,
		      struct error *err)
{
	static const struct request_body nothing;
	struct request whole = *r;
	int result = run_writable(s, err);

	if (!body)
		body = &nothing;
	if (!result)
		result = check_body(body, err);
	if (result)
		return result;
	whole.nr_spans = (uint32_t)body->nr_spans;
	whole.nr_events = (uint32_t)body->nr_events;
	mark_placed(s, body);
	return run_wrote(s, add_request(s, &whole, body, err));
}
