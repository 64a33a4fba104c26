/* What a plan wants to know of the events of a run: where each stands, what happened before it, and
 * the variables that are observed. */
#ifndef CULPRIT_ASK_QUERY_MOMENTS_H
#define CULPRIT_ASK_QUERY_MOMENTS_H

#include "base/map.h"
#include "query/run.h"

struct store;

/* One moment as a source tells it. */
struct moment {
	int64_t ns;
	struct str point;
	struct str host, process, thread;
	struct str id, request;
	int64_t start, end; /* of the span; both NS_NONE where there is none */
	struct str attrs;   /* packed */
	struct str more;    /* likewise, looked at after those */
};

struct gathered {
	const struct plan *plan;
	struct names names;          /* of values */
	struct names points;         /* tracepoints */
	VEC(uint64_t) stages;        /* by point: which observe it */
	VEC(uint64_t) nr_of_point;   /* by point */
	VEC(uint8_t) wants;          /* by variable: enum */
	bool is_seen[VARIABLES_MAX]; /* variables that some event has */
	struct names fields;         /* attributes of events that are observed */

	/* Events by number. */
	VEC(int64_t) ns;
	VEC(uint32_t) point;
	VEC(uint32_t) first; /* of values */
	VEC(struct value) values;
	VEC(uint64_t) at; /* one more: where its causes begin */
	VEC(uint32_t) before;
	uint64_t nr_missing, nr_twice; /* causes that are not there; ids that come again */
};

void moments_init(struct gathered *g, const struct plan *plan);
void moments_done(struct gathered *g);
/* The next event; what happened before it is to be pushed to before, then moments_caused. */
uint32_t moments_add(struct gathered *g, const struct moment *m);
static inline void moments_caused(struct gathered *g)
{
	vec_push(&g->at, g->before.nr);
}
/* All of a run. Events of causal graphs: exactly what they say happened before them. */
int moments_run(struct gathered *g, struct store *s, struct error *err);
struct happened moments_happened(const struct gathered *g);
struct observer_of_events moments_observer(struct gathered *g);

/* graph.c: events of causal graphs. Which ones, by their number in the store, in *is_point (from
 * malloc); whether there is nothing else in the run in *is_all. */
int moments_graph(struct gathered *g, struct store *s, uint8_t **is_point, uint64_t *nr_events,
		  bool *is_all, struct error *err);
/* spans.c: what is in all other requests. */
int moments_spans(struct gathered *g, struct store *s, const uint8_t *is_point, uint64_t nr_events,
		  struct error *err);

#endif
