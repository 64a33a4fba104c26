/*
 * A silence that waits for something ends when that is over: a container is granted when another is
 * released. One such coincidence says nothing; many of the same kind do, unless ends are so
 * frequent that any moment has one near it.
 *
 * For each kind of silence, each class of ends (a type, and the line that stands late in its
 * objects' lives) and a few windows: in how many silences did such an end of an unrelated object
 * come shortly before the silence ended (hits), and in how many would it by chance? The chance of
 * one silence is the part of it in which any moment has such an end just before it, and at least
 * what that part is in the whole run. All of them together are at least as probable as an end as
 * shortly after the silence: work that is begun together ends together, which is no waiting.
 * Hoeffding's bound (1963, theorem 1), which holds for silences
 * of different chance, says how improbable so many hits are; it is multiplied by how much was
 * tried. Silences that end together count once: they are one piece of evidence.
 *
 * Time: silences (500 of a kind at the most) x classes x windows, a binary search each; of classes
 * that cannot be hit by half of the silences any more, the rest is not looked at.
 */
#include "ask/object_causes.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "base/time.h"

#define SAMPLE 500
#define LATE 0.75         /* of a life: what stands behind this may tell of its end */
#define SLACK (2 * NS_MS) /* lines of one moment are written in any order */
#define SURE_LEAST 0.9
#define HITS_LEAST 5
#define DISTINCT \
	0.6 /* of the hits are of different objects: one that ends again and again does not end */

static const int64_t windows[] = { 5 * NS_MS, 20 * NS_MS, 100 * NS_MS, 500 * NS_MS, 2 * NS_S };
enum { WINDOWS = sizeof(windows) / sizeof(*windows) };

struct moment {
	int64_t ns;
	uint32_t object, class;
};

struct class
{
	uint32_t type, template;
	uint32_t first, nr;      /* in moments */
	double covered[WINDOWS]; /* the time that has an end less than the window before it */
};

struct object_ends {
	const struct object_graph *g;
	VEC(struct moment) moments; /* by class, then by ns */
	VEC(struct class) classes;
	struct map by_name;
	int64_t from, to; /* of the run */
};

/* --- ends ------------------------------------------------------------------------------------- */

static void add_moment(struct object_ends *e, uint32_t object, uint32_t template, int64_t ns)
{
	const struct object *o = &e->g->objects[object];
	uint64_t *at = map_at(&e->by_name, map_pair(o->type, template));

	if (!*at) {
		vec_push(&e->classes, (struct class){ .type = o->type, .template = template });
		*at = e->classes.nr;
	}
	e->classes.v[*at - 1].nr++;
	vec_push(&e->moments, (struct moment){ ns, object, (uint32_t)(*at - 1) });
}

static int by_class(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static void see_object(struct object_ends *e, uint32_t i)
{
	const struct object *o = &e->g->objects[i];
	double late;

	if (!object_has_time(o))
		return;
	if (o->first_ns < e->from)
		e->from = o->first_ns;
	if (o->last_ns > e->to)
		e->to = o->last_ns;
	/* a moment is no end of anything */
	if (o->last_ns == o->first_ns)
		return;
	add_moment(e, i, CAUSE_END, o->last_ns);
	late = LATE * (double)length_ns(o->first_ns, o->last_ns);
	for (size_t j = 0; o->events && j < o->nr_parts; j++)
		if (o->events[j].last_ns != NS_NONE &&
		    (double)length_ns(o->first_ns, o->events[j].last_ns) >= late)
			add_moment(e, i, o->events[j].template, o->events[j].last_ns);
}

/* What the moment covers: the window, or the time until the next one of the class. */
static double covers(const struct moment *v, size_t i, size_t nr, int64_t window)
{
	double width = (double)(window + SLACK);

	if (i + 1 < nr && (double)length_ns(v[i].ns, v[i + 1].ns) < width)
		width = (double)length_ns(v[i].ns, v[i + 1].ns);
	return width;
}

static void cover_all(struct object_ends *e)
{
	vec_each (&e->classes, c)
		for (size_t w = 0; w < WINDOWS; w++)
			for (size_t i = 0; i < c->nr; i++)
				c->covered[w] +=
					covers(e->moments.v + c->first, i, c->nr, windows[w]);
}

struct object_ends *object_ends_new(const struct object_graph *g)
{
	struct object_ends *e = mem_zalloc(sizeof(*e));

	e->g = g;
	e->from = INT64_MAX;
	e->to = INT64_MIN;
	for (uint32_t i = 0; i < g->nr_objects; i++)
		see_object(e, i);
	if (e->moments.nr > 1)
		qsort(e->moments.v, e->moments.nr, sizeof(*e->moments.v), by_class);
	for (size_t i = e->moments.nr; i--;)
		e->classes.v[e->moments.v[i].class].first = (uint32_t)i;
	cover_all(e);
	return e;
}

void object_ends_free(struct object_ends *e)
{
	if (!e)
		return;
	vec_done(&e->moments);
	vec_done(&e->classes);
	map_done(&e->by_name);
	free(e);
}

const struct object_graph *object_ends_graph(const struct object_ends *e)
{
	return e->g;
}

/* The first moment of the class at or after ns, as a place in moments. */
static size_t moment_at(const struct object_ends *e, const struct class *c, int64_t ns)
{
	size_t low = c->first, high = c->first + c->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->moments.v[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- one class and one window ----------------------------------------------------------------- */

struct trial {
	const struct object_ends *e;
	const struct class *c;
	uint32_t after; /* what ends the silences */
	size_t at;      /* in windows */
	int64_t window;
	VEC(double) covered; /* by moment: the time before it that has an end of this class near */
	uint32_t hits, mirrored, nr;
	struct map seen; /* whose ends were hit */
	double expected;
};

/* How much of the time has an end less than the window before it: moments apart from each other
 * cover a window each. */
static void cover(struct trial *t)
{
	const struct moment *v = t->e->moments.v + t->c->first;
	double sum = 0;

	vec_clear(&t->covered);
	for (size_t i = 0; i <= t->c->nr; i++) {
		vec_push(&t->covered, sum);
		if (i < t->c->nr)
			sum += covers(v, i, t->c->nr, t->window);
	}
}

static double chance(const struct trial *t, const struct object_wait *w)
{
	double width = (double)(t->window + SLACK), run, near, p;
	int64_t until = length_after(w->to, -t->window);
	size_t first = moment_at(t->e, t->c, w->from) - t->c->first;
	size_t end = moment_at(t->e, t->c, until) - t->c->first;

	run = t->covered.v[t->c->nr] / ((double)length_ns(t->e->from, t->e->to) + width);
	near = (t->covered.v[end] - t->covered.v[first]) / (double)length_ns(w->from, until);
	p = width / (double)length_ns(w->from, w->to);
	p = p > run ? p : run;
	p = p > near ? p : near;
	return p < 1 ? p : 1;
}

/* Ends of a class around the end of one silence. */
struct search {
	const struct object_ends *e;
	const struct class *c;
	const struct object_wait *wait;
	uint32_t after; /* what ends it */
};

static bool is_kin(const struct object_graph *g, uint32_t a, uint32_t b)
{
	return a == b || object_is_above(g, a, b) || object_is_above(g, b, a);
}

/* The line that ends the silence names this one too: that says nothing of what ended it. */
static bool is_named_with(const struct object_graph *g, const struct moment *m, uint32_t after)
{
	const struct object *o = &g->objects[m->object];

	for (size_t i = 0; o->events && i < o->nr_parts; i++)
		if (o->events[i].template == after && o->events[i].last_ns == m->ns)
			return true;
	return false;
}

/* The last end in [from, to) of who is not related. */
static bool find_end(const struct search *s, int64_t from, int64_t to, struct moment *hit)
{
	const struct moment *first = s->e->moments.v + s->c->first;
	const struct moment *m = s->e->moments.v + moment_at(s->e, s->c, to);

	while (m > first && m[-1].ns >= from) {
		m--;
		if (!is_kin(s->e->g, s->wait->object, m->object) &&
		    !is_named_with(s->e->g, m, s->after)) {
			*hit = *m;
			return true;
		}
	}
	return false;
}

/* The end nearest before that of the wait, or just behind it. */
static bool find_hit(const struct search *s, int64_t window, struct moment *hit)
{
	return find_end(s, length_after(s->wait->to, -window), length_after(s->wait->to, SLACK + 1),
			hit);
}

/* One as far behind it: what is done side by side ends around the same time, before and after. */
static bool has_mirror(const struct search *s, int64_t window)
{
	struct moment hit;

	return find_end(s, length_after(s->wait->to, SLACK + 1),
			length_after(s->wait->to, window + 2 * SLACK + 2), &hit);
}

/* Silences that are long enough for the window, and end at different times. */
static size_t pick(const struct object_wait *v, size_t nr, int64_t window, struct object_wait *to)
{
	int64_t last = INT64_MIN;
	size_t picked = 0;

	for (size_t i = 0; i < nr; i++) {
		if ((last != INT64_MIN && length_ns(last, v[i].to) <= window) ||
		    length_ns(v[i].from, v[i].to) < 4 * window)
			continue;
		last = v[i].to;
		to[picked++] = v[i];
	}
	return picked;
}

/* Half of the silences must be hit: less than that is nothing to reckon with. */
static bool count_hits(struct trial *t, const struct object_wait *v, size_t nr)
{
	struct moment hit;

	t->hits = 0;
	t->nr = (uint32_t)nr;
	map_clear(&t->seen);
	for (size_t i = 0; i < nr && 2 * (t->hits + nr - i) >= nr; i++) {
		const struct search around = { t->e, t->c, &v[i], t->after };

		if (find_hit(&around, t->window, &hit)) {
			t->hits++;
			*map_at(&t->seen, hit.object) = 1;
		}
	}
	return t->hits >= HITS_LEAST && nr >= CAUSE_WAITS_LEAST && 2 * (size_t)t->hits >= nr &&
	       (double)t->seen.nr >= DISTINCT * t->hits;
}

static void reckon(struct trial *t, const struct object_wait *v, size_t nr)
{
	cover(t);
	t->mirrored = 0;
	t->expected = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct search around = { t->e, t->c, &v[i], t->after };

		t->expected += chance(t, &v[i]);
		t->mirrored += has_mirror(&around, t->window);
	}
	if (t->mirrored > t->expected)
		t->expected = t->mirrored;
}

/* The logarithm of Hoeffding's bound for so many hits. */
static double bound(const struct trial *t)
{
	double n = t->nr, k = t->hits / n, p = t->expected / n;

	if (k <= p || p <= 0)
		return 0;
	return -n * (k * log(k / p) + (k < 1 ? (1 - k) * log((1 - k) / (1 - p)) : 0));
}

/* --- the best of all -------------------------------------------------------------------------- */

static int by_to(const void *a, const void *b)
{
	const struct object_wait *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

/* At most SAMPLE of a kind, evenly over the run, by their ends. Who is over with the silence has
 * not waited: it has worked. */
static struct object_wait *sample(const struct object_ends *e, const struct object_waits *w,
				  const struct wait_kind *k, size_t *nr)
{
	size_t step = (k->nr + SAMPLE - 1) / SAMPLE;
	struct object_wait *v = mem_alloc(mem_bytes(k->nr / step + 1, sizeof(*v)));

	*nr = 0;
	for (size_t i = 0; i < k->nr; i += step) {
		const struct object_wait *one = &w->waits.v[k->first + i];

		if (e->g->objects[one->object].last_ns > one->to)
			v[(*nr)++] = *one;
	}
	qsort(v, *nr, sizeof(*v), by_to);
	return v;
}

/* How many hits have the same owner of a type as the one that waits, and how many another. */
static void count_owners(const struct object_ends *e, const struct object_cause *c, uint32_t type,
			 const struct object_wait *v, size_t nr, uint32_t count[3])
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t mine, theirs, other;
		int64_t ns;

		if (!object_cause_of(e, c, &v[i], &other, &ns))
			continue;
		mine = object_above_of_type(e->g, v[i].object, type);
		theirs = object_above_of_type(e->g, other, type);
		count[2]++;
		if (mine != UINT32_MAX && theirs != UINT32_MAX)
			count[mine == theirs]++;
	}
}

/* The higher a type of owners is, the fewer there are of it. */
static void find_owners(const struct object_ends *e, struct object_cause *c,
			const struct object_wait *v, size_t nr)
{
	const struct object_type *types = e->g->types;

	c->elsewhere = c->together = UINT32_MAX;
	for (uint32_t t = 0; t < e->g->nr_types; t++) {
		uint32_t count[3] = { 0 };

		if (!types[t].is_in_graph || types[t].nr_objects < 2)
			continue;
		count_owners(e, c, t, v, nr, count);
		if (2 * count[0] > count[2] &&
		    (c->elsewhere == UINT32_MAX ||
		     types[t].nr_objects < types[c->elsewhere].nr_objects))
			c->elsewhere = t;
		if (2 * count[1] > count[2] &&
		    (c->together == UINT32_MAX ||
		     types[t].nr_objects > types[c->together].nr_objects))
			c->together = t;
	}
}

static void consider(const struct trial *t, double *best, struct object_cause *c)
{
	double log_p = bound(t);

	if (log_p >= *best)
		return;
	*best = log_p;
	*c = (struct object_cause){ .type = t->c->type,
				    .template = t->c->template,
				    .after = t->after,
				    .within_ns = t->window,
				    .hits = t->hits,
				    .nr = t->nr,
				    .expected = t->expected };
}

/* Classes of so few ends cannot be hit often enough, and those of so many by any moment. */
static bool is_hopeless(const struct trial *t, size_t nr)
{
	double width = (double)(t->window + SLACK), run;

	if (t->c->nr < CAUSE_WAITS_LEAST || (double)t->c->nr < DISTINCT / 2 * (double)nr)
		return true;
	run = (double)length_ns(t->e->from, t->e->to) + width;
	return t->c->covered[t->at] > run / 2;
}

int object_cause(const struct object_ends *e, const struct object_waits *w, uint32_t kind,
		 struct object_cause *c)
{
	const struct wait_kind *k = &w->kinds.v[kind];
	struct trial t = { .e = e, .after = k->after };
	double best = 0, tried = 0;
	struct object_wait *v, *picked;
	size_t nr, nr_picked;

	if (k->nr < CAUSE_WAITS_LEAST)
		return 0;
	v = sample(e, w, k, &nr);
	picked = mem_alloc(mem_bytes(nr + 1, sizeof(*picked)));
	for (size_t i = 0; i < WINDOWS && windows[i] <= k->median_ns / 4; i++) {
		t.at = i;
		t.window = windows[i];
		nr_picked = pick(v, nr, t.window, picked);
		vec_each (&e->classes, class) {
			t.c = class;
			if (class->template == k->after || is_hopeless(&t, nr_picked))
				continue;
			tried++;
			if (!count_hits(&t, picked, nr_picked))
				continue;
			reckon(&t, picked, nr_picked);
			consider(&t, &best, c);
		}
	}
	vec_done(&t.covered);
	map_done(&t.seen);
	if (best < 0)
		c->confidence = 1 - exp(fmin(0, best + log(tried)));
	if (best < 0 && c->confidence >= SURE_LEAST)
		find_owners(e, c, v, nr);
	free(picked);
	free(v);
	return best < 0 && c->confidence >= SURE_LEAST;
}

int object_cause_of(const struct object_ends *e, const struct object_cause *c,
		    const struct object_wait *wait, uint32_t *object, int64_t *ns)
{
	const uint64_t *at = map_find(&e->by_name, map_pair(c->type, c->template));
	struct search around = { .e = e, .wait = wait, .after = c->after };
	struct moment hit;

	if (!at)
		return 0;
	around.c = &e->classes.v[*at - 1];
	if (!find_hit(&around, c->within_ns, &hit))
		return 0;
	*object = hit.object;
	*ns = hit.ns;
	return 1;
}
