#include "ask/novel.h"

#include "base/time.h"
#include "store/store.h"

#define POINTS_MOST 65536
#define FOUND_MOST 64

struct point_first {
	int64_t ns;
	uint64_t event;
};

struct finding {
	const struct activity *a;
	sym_t but;
	struct names points;
	VEC(struct point_first) v; /* by point - 1 */
};

void novel_done(struct novel *n)
{
	vec_done(&n->events);
}

static int see(void *ctx, uint64_t number, const struct event *ev)
{
	struct finding *f = ctx;
	sym_t point;

	if (ev->ns == NS_NONE || !ev->point.n || names_find(&f->a->nodes, ev->node) == f->but)
		return 0;
	point = names_find(&f->points, ev->point);
	if (!point) {
		if (f->v.nr >= POINTS_MOST)
			return 0;
		names_add(&f->points, ev->point);
		vec_push(&f->v, (struct point_first){ ev->ns, number });
	} else if (ev->ns < f->v.v[point - 1].ns) {
		f->v.v[point - 1] = (struct point_first){ ev->ns, number };
	}
	return 0;
}

int novel_find(struct novel *n, struct store *s, const struct activity *a, sym_t but, int64_t from,
	       int64_t until, struct error *err)
{
	struct finding f = { .a = a, .but = but };
	struct store_totals totals;
	int r = store_totals(s, &totals, err);

	if (r >= 0 && totals.nr_events)
		r = store_each_event(s, 0, totals.nr_events, see, &f, err);
	vec_each (&f.v, p)
		if (r >= 0 && p->ns >= from && p->ns < until && n->events.nr < FOUND_MOST)
			vec_push(&n->events, p->event);
	vec_done(&f.v);
	names_done(&f.points);
	return r < 0 ? r : 0;
}
