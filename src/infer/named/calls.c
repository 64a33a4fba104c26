/* Messages with ids: a call and the return that answers it are one request on the receiver. */
#include "infer/named/group.h"

#include "base/time.h"
#include "base/vec.h"
#include "infer/clock.h"
#include "model/loss.h"

static bool answers(const struct event *ret, const struct event *call)
{
	return str_eq(ret->node, call->peer) && str_eq(ret->peer, call->node);
}

static int store_call(struct named *n, const struct group *g, uint32_t call, uint32_t ret,
		      struct error *err)
{
	const struct event *c = &g->events[call], *e = &g->events[ret];
	struct request r = { .key = g->key, .key_kind = KEY_CALL, .confidence = 1 };
	uint64_t events[] = { g->numbers[call], g->numbers[ret] };
	uint32_t at[] = { 0, 0 };
	struct span s = { .parent = SPAN_NONE, .kind = SPAN_SERVER, .confidence = 1, .id = g->key };
	struct request_body body = { .spans = &s, .nr_spans = 1, .nr_events = 2 };

	body.events = events;
	body.event_span = at;
	s.name = arena_fmt(&n->arena, STR_FMT " \xe2\x86\x92 " STR_FMT, STR_ARG(c->node),
			   STR_ARG(c->peer));
	s.node = c->peer;
	s.start = r.start = c->ns;
	s.end = r.end = e->ns > c->ns ? e->ns : c->ns;
	r.type = s.name;
	return group_store(n, &r, &body, err);
}

/* The latest call that this return can answer; taken out of the list. */
static bool take_call(const struct group *g, uint32_t *open, size_t *nr_open, uint32_t ret,
		      uint32_t *call)
{
	for (size_t k = *nr_open; k > 0; k--) {
		if (!answers(&g->events[ret], &g->events[open[k - 1]]))
			continue;
		*call = open[k - 1];
		memmove(&open[k - 1], &open[k], (*nr_open - k) * sizeof(*open));
		(*nr_open)--;
		return true;
	}
	return false;
}

int call_requests(struct named *n, const struct group *g, struct error *err)
{
	uint32_t *picked, *open, call;
	size_t nr = group_select(g, EVENT_MESSAGE, &n->arena, &picked), nr_open = 0;

	open = arena_array(&n->arena, uint32_t, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct event *ev = &g->events[picked[i]];
		int got;

		if (ev->op == MESSAGE_CALL)
			open[nr_open++] = picked[i];
		if (ev->op != MESSAGE_RETURN)
			continue;
		if (!take_call(g, open, &nr_open, picked[i], &call)) {
			n->losses->count[LOSS_RETURNS_OPEN]++;
			continue;
		}
		got = store_call(n, g, call, picked[i], err);
		if (got < 0)
			return got;
	}
	n->losses->count[LOSS_CALLS_OPEN] += nr_open;
	return 0;
}
