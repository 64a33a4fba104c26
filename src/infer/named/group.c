#include "infer/named/group.h"

#include <stdlib.h>

#include "base/time.h"
#include "infer/clock.h"
#include "infer/named/services.h"
#include "store/store.h"

struct picked {
	int64_t ns;
	uint32_t at;
};

static int picked_cmp(const void *pa, const void *pb)
{
	const struct picked *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

size_t group_select(const struct group *g, enum event_kind kind, struct arena *arena,
		    uint32_t **picked)
{
	struct picked *all = arena_array(arena, struct picked, g->nr_events);
	size_t nr = 0;

	for (uint32_t i = 0; i < g->nr_events; i++)
		if (g->events[i].kind == kind && g->events[i].ns != NS_NONE)
			all[nr++] = (struct picked){ g->events[i].ns, i };
	/* as delivered is the true order of one file even within a millisecond: positions break
	 * ties */
	qsort(all, nr, sizeof(*all), picked_cmp);
	*picked = arena_array(arena, uint32_t, nr);
	for (size_t i = 0; i < nr; i++)
		(*picked)[i] = all[i].at;
	return nr;
}

static uint64_t sequence_of(const struct request_body *b)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];

		h = (h ^ str_hash(s->name)) * 0x100000001b3ULL;
		h = (h ^ (s->parent == SPAN_NONE ? 0 : i - s->parent)) * 0x100000001b3ULL;
	}
	return h;
}

int group_store(struct named *n, struct request *r, struct request_body *body, struct error *err)
{
	r->method = STR("named");
	r->nr_spans = (uint32_t)body->nr_spans;
	r->nr_events = (uint32_t)body->nr_events;
	r->sequence = sequence_of(body);
	for (size_t i = 0; i < body->nr_spans; i++)
		r->error |= body->spans[i].status == STATUS_ERROR;
	return store_add_request(n->store, r, body, err);
}
