#include "ask/novel.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "store/store.h"

#define POINTS_MOST 65536
#define FOUND_MOST 64
#define LINES_AT_START 2000 /* of each node */

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

struct asking {
	struct store *s;
	const struct activity *a;
	const struct str *texts;
	size_t nr;
	sym_t *who;
	int64_t first[NOVEL_ASKED];
	uint32_t *lines; /* by node - 1 */
	struct buf text;
};

static int hear(void *ctx, uint64_t number, const struct event *ev)
{
	struct asking *q = ctx;
	sym_t node = names_find(&q->a->nodes, ev->node);
	struct error err = { 0 };

	(void)number;
	if (!node || ev->ns == NS_NONE || q->lines[node - 1]++ >= LINES_AT_START)
		return 0;
	buf_clear(&q->text);
	if (ev->text.n)
		buf_add(&q->text, ev->text);
	else if (store_event_text(q->s, ev, &q->text, &err) <= 0)
		return 0;
	for (size_t i = 0; i < q->nr; i++) {
		struct str line = buf_str(&q->text);

		if ((q->who[i] && ev->ns >= q->first[i]) || str_find(line, q->texts[i]) >= line.n)
			continue;
		q->who[i] = node;
		q->first[i] = ev->ns;
	}
	return 0;
}

int novel_said_first(struct store *s, const struct activity *a, const struct str *texts, size_t nr,
		     sym_t *who, struct error *err)
{
	struct asking q = { .s = s, .a = a, .texts = texts, .nr = nr, .who = who };
	struct arena arena = { 0 };
	struct store_totals totals;
	int r = store_totals(s, &totals, err);

	q.nr = nr < NOVEL_ASKED ? nr : NOVEL_ASKED;
	q.lines = arena_array(&arena, uint32_t, a->v.nr + 1);
	for (size_t i = 0; i < nr; i++)
		who[i] = 0;
	if (r >= 0 && totals.nr_events && nr)
		r = store_each_event(s, 0, totals.nr_events, hear, &q, err);
	buf_done(&q.text);
	arena_done(&arena);
	return r < 0 ? r : 0;
}
