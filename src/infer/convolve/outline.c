/*
 * Messages with the same routes from their root on share a vertex. Noise, as the paper suppresses
 * it: a vertex of fewer messages than least, or than least_share of those before it. A path begins
 * on a route of which a good part has no cause; elsewhere a message without one is what was missed.
 */
#include "infer/convolve/outline.h"

#include <math.h>
#include <stdlib.h>

#include "infer/convolve/follow.h"
#include "infer/convolve/traffic.h"

#define VERTICES_MOST (1 << 16)
#define NEARLY_ALL 0.9  /* so many of a kind go on: the others should too */
#define SPONTANEOUS 0.2 /* part of a route without cause that makes it one that begins requests */

struct place {
	uint32_t child, next; /* vertices: the first below, the next beside; SENT_NONE ends */
	double sum, squares;  /* of delays */
	uint64_t nr_on;       /* messages that cause others */
	bool is_noise;
};

struct outliner {
	struct traffic *t;
	const struct follow_options *o;
	struct followed *f;
	uint32_t *order;  /* messages by time: causes before effects */
	uint32_t *vertex; /* of each message */
	uint32_t *root;   /* vertex by route, of those without a cause */
	VEC(struct place) places;
};

static int by_time(const void *a, const void *b, void *ctx)
{
	const struct sent *v = ctx, *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static uint32_t add_vertex(struct outliner *w, uint32_t parent, uint32_t route)
{
	uint32_t added = (uint32_t)w->f->v.nr;
	struct vertex x = { .route = route, .parent = parent };

	if (added >= VERTICES_MOST)
		return SENT_NONE;
	x.depth = parent == SENT_NONE ? 0 : w->f->v.v[parent].depth + 1;
	vec_push(&w->f->v, x);
	vec_push(&w->places, (struct place){ .child = SENT_NONE });
	if (parent == SENT_NONE) {
		w->places.v[added].next = SENT_NONE;
		w->root[route] = added;
	} else {
		w->places.v[added].next = w->places.v[parent].child;
		w->places.v[parent].child = added;
	}
	return added;
}

static uint32_t vertex_of(struct outliner *w, const struct sent *s)
{
	uint32_t parent = s->cause == SENT_NONE ? SENT_NONE : w->vertex[s->cause], at;

	if (s->cause != SENT_NONE && parent == SENT_NONE)
		return SENT_NONE;
	at = parent == SENT_NONE ? w->root[s->route] : w->places.v[parent].child;
	while (at != SENT_NONE && w->f->v.v[at].route != s->route)
		at = w->places.v[at].next;
	return at == SENT_NONE ? add_vertex(w, parent, s->route) : at;
}

static void place_all(struct outliner *w)
{
	for (size_t i = 0; i < w->t->v.nr; i++) {
		const struct sent *s = &w->t->v.v[w->order[i]];
		uint32_t x = vertex_of(w, s);

		w->vertex[w->order[i]] = x;
		if (x == SENT_NONE)
			continue;
		w->f->v.v[x].nr++;
		if (s->cause != SENT_NONE) {
			double delay = (double)s->ns - (double)w->t->v.v[s->cause].ns;

			w->places.v[x].sum += delay;
			w->places.v[x].squares += delay * delay;
		}
	}
}

static void judge(struct outliner *w)
{
	for (size_t i = 0; i < w->f->v.nr; i++) {
		struct vertex *x = &w->f->v.v[i];
		struct place *p = &w->places.v[i];
		double nr = (double)x->nr;

		x->delay = p->sum / nr;
		x->spread = sqrt(fmax(p->squares / nr - x->delay * x->delay, 0));
		if (x->parent == SENT_NONE)
			p->is_noise = nr < SPONTANEOUS * w->t->routes.v[x->route].nr;
		else
			p->is_noise = w->places.v[x->parent].is_noise || nr < w->o->least ||
				      nr < w->o->least_share * (double)w->f->v.v[x->parent].nr;
	}
}

/* Messages on noise have no place; of the others, those that should have gone on are marked. */
static void mark(struct outliner *w)
{
	for (size_t i = 0; i < w->t->v.nr; i++) {
		struct sent *s = &w->t->v.v[i];
		uint32_t x = w->vertex[i];

		s->is_cause = false;
		s->placed = x != SENT_NONE && !w->places.v[x].is_noise;
		if (!s->placed)
			s->cause = SENT_NONE;
	}
	for (size_t i = 0; i < w->t->v.nr; i++) {
		uint32_t cause = w->t->v.v[i].cause;

		if (cause == SENT_NONE || w->t->v.v[cause].is_cause)
			continue;
		w->t->v.v[cause].is_cause = true;
		w->places.v[w->vertex[cause]].nr_on++;
	}
	for (size_t i = 0; i < w->t->v.nr; i++) {
		struct sent *s = &w->t->v.v[i];
		uint32_t x = w->vertex[i];

		s->is_short = s->placed && !s->is_cause &&
			      (double)w->places.v[x].nr_on >= NEARLY_ALL * (double)w->f->v.v[x].nr;
	}
}

static void drop_noise(struct outliner *w)
{
	uint32_t *now = mem_alloc(mem_bytes(w->f->v.nr + 1, sizeof(*now))), kept = 0;

	for (size_t i = 0; i < w->f->v.nr; i++) {
		struct vertex x = w->f->v.v[i];

		if (w->places.v[i].is_noise)
			continue;
		now[i] = kept;
		if (x.parent != SENT_NONE)
			x.parent = now[x.parent];
		w->f->v.v[kept++] = x;
	}
	w->f->v.nr = kept;
	free(now);
}

void outline(struct traffic *t, const struct follow_options *o, struct followed *f)
{
	struct outliner w = { .t = t, .o = o, .f = f };
	size_t nr = t->v.nr;

	w.order = mem_alloc(mem_bytes(nr + 1, sizeof(*w.order)));
	w.vertex = mem_alloc(mem_bytes(nr + 1, sizeof(*w.vertex)));
	w.root = mem_alloc(mem_bytes(t->routes.nr + 1, sizeof(*w.root)));
	for (size_t i = 0; i < t->routes.nr; i++)
		w.root[i] = SENT_NONE;
	for (uint32_t i = 0; i < nr; i++)
		w.order[i] = i;
	qsort_r(w.order, nr, sizeof(*w.order), by_time, t->v.v);
	place_all(&w);
	judge(&w);
	mark(&w);
	drop_noise(&w);
	free(w.order);
	free(w.vertex);
	free(w.root);
	vec_done(&w.places);
}
