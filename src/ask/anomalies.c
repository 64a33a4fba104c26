/*
 * Each detector looks for one kind and knows nothing of the others. Here they are shown the run and
 * what they found is sorted out: of two that explain the same waiting the nearer to the cause is
 * kept, so that a stopped node is not told a second time as a slow one, nor those that waited for
 * it as slow themselves.
 */
#include "ask/anomalies.h"

#include <stdlib.h>

#include "ask/courses.h"
#include "ask/gone.h"
#include "ask/length.h"
#include "ask/repeats.h"
#include "ask/shifts.h"
#include "ask/silence.h"
#include "ask/spells.h"
#include "ask/stats.h"
#include "ask/stutter.h"
#include "ask/teams.h"
#include "ask/toll.h"
#include "ask/types.h"
#include "ask/warnings.h"
#include "ask/words.h"
#include "base/time.h"
#include "store/store.h"

#define SLOW_TIMES 1.5     /* as in findings.c: less beyond the median is not slow */
#define WORTH_TELLING 0.01 /* of all slowness, by a slow node */
#define WORTH_A_START 0.1  /* likewise, when it is slow at the beginning only */
#define WORTH_A_WAY 0.05   /* by a way between nodes, which is guessed more often */
#define WAY_SLOWER 3.0     /* than other ways: much of what comes late waits for its turn */
#define EXPLAINED 0.5      /* of its time, by another finding */
#define VICTIM 0.7         /* of whose slow requests belong to another finding */
#define POINTS_ASKED 4     /* where lines that may be about pauses are said */
#define ABOUT_SILENCE 0.6  /* of what is said there, at least */
#define SLOWEST_SHARE 0.02
#define SLOWEST_LEAST 5
#define SLOWEST_MOST 50

void anomalies_done(struct anomalies *a)
{
	vec_done(&a->v);
	arena_done(&a->arena);
}

double anomalies_share(const struct anomalies *a, const struct anomaly *one)
{
	double share = a->slowness > 0 ? one->lost / a->slowness : 0;

	return share > 1 ? 1 : share;
}

/* A point that words of pauses came from. */
struct point_said {
	struct str point;
	bool about; /* silences, as a rule */
};

struct looking {
	struct anomalies *a;
	struct store *store;
	const struct types *types;
	const struct activity *activity;
	struct activity *own_activity; /* unless others ask for it, too */
	struct silences silences;
	struct teams teams;
	struct toll toll;
	struct peer_faults faults, way_faults;
	struct repeats repeats;
	struct courses courses;
	VEC(struct point_said) points;
};

static void looking_done(struct looking *l)
{
	activity_free(l->own_activity);
	silences_done(&l->silences);
	teams_done(&l->teams);
	toll_done(&l->toll);
	peer_faults_done(&l->faults);
	peer_faults_done(&l->way_faults);
	repeats_done(&l->repeats);
	courses_done(&l->courses);
	vec_done(&l->points);
}

static int see_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct looking *l = ctx;
	uint32_t type = types_find(l->types, r->type);

	if (type == TYPE_NONE)
		return 0;
	silences_see(&l->silences, l->activity, r, body, l->types->v.v[type].p50);
	teams_add(&l->teams, type, r, body);
	toll_add(&l->toll, &l->teams.nodes, type, r, body);
	repeats_add(&l->repeats, type, r, body);
	courses_add(&l->courses, type, r, body);
	return 0;
}

static double slowness_of(const struct types *t)
{
	double sum = 0;

	vec_each (&t->v, s)
		vec_each (&s->timings, m)
			if ((double)m->duration > SLOW_TIMES * (double)s->p50)
				sum += (double)(m->duration - s->p50);
	return sum;
}

/* --- silences -------------------------------------------------------------------------------- */

/* Whether such lines are about silences and not about work. Few points are asked for. */
static int is_about_silence(struct looking *l, struct str point, bool *about, struct error *err)
{
	double part;
	int r = 0;

	*about = false;
	vec_each (&l->points, p)
		if (str_eq(p->point, point)) {
			*about = p->about;
			return 0;
		}
	if (l->points.nr >= POINTS_ASKED || !point.n)
		return 0;
	r = words_are_about_silence(l->store, l->activity, point, &part, err);
	*about = part >= ABOUT_SILENCE;
	vec_push(&l->points, (struct point_said){ point, *about });
	return r;
}

/* What nodes say of their pauses themselves. */
static int ask_nodes(struct looking *l, struct error *err)
{
	vec_each (&l->silences.v, s) {
		struct pause_words w = { 0 };
		bool about = true;
		int r = 0;

		if (!s->for_good)
			r = words_of_pause(l->store, &l->activity->v.v[s->node - 1], s->begin,
					   s->end, &l->a->arena, &w, err);
		if (r >= 0 && w.said.n && (s->doubtful || !s->requests))
			r = is_about_silence(l, w.point, &about, err);
		if (r < 0)
			return r;
		s->said = about ? w.said : STR("");
	}
	return 0;
}

static int add_silences(struct looking *l, struct error *err)
{
	int r = ask_nodes(l, err);

	if (r < 0)
		return r;
	silences_judge(&l->silences, l->activity);
	vec_each (&l->silences.v, s) {
		struct anomaly one = s->found;

		if (!s->told)
			continue;
		one.node = arena_str(&l->a->arena, one.node);
		one.said = s->said;
		if (one.kind != ANOMALY_DEAD) {
			vec_push(&l->a->v, one);
			continue;
		}
		r = gone_bears_out(l->store, l->activity, s, &l->a->arena, &one, err);
		if (r < 0)
			return r;
		if (r)
			vec_push(&l->a->v, one);
	}
	return 0;
}

/* --- slow nodes and ways --------------------------------------------------------------------- */

struct excess {
	int64_t ns;
	uint64_t id;
};

static int most_first(const void *a, const void *b)
{
	const struct excess *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool holds(const struct peer_fault *f, uint64_t request)
{
	size_t low = 0, high = f->requests.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->requests.v[mid] < request)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->requests.nr && f->requests.v[low] == request;
}

/* Of the slowest requests of its time, how many it touches. */
static void count_slowest(const struct types *t, const struct peer_fault *f, struct anomaly *one)
{
	VEC(struct excess) v = { 0 };
	size_t nr;

	vec_each (&t->v, s)
		vec_each (&s->timings, m)
			if (m->start <= f->end && length_after(m->start, m->duration) >= f->begin)
				vec_push(&v, (struct excess){ m->duration - s->p50, m->id });
	nr = (size_t)(SLOWEST_SHARE * (double)v.nr);
	nr = nr < SLOWEST_LEAST ? SLOWEST_LEAST : nr > SLOWEST_MOST ? SLOWEST_MOST : nr;
	nr = nr > v.nr ? v.nr : nr;
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), most_first);
	one->slowest_of = nr;
	for (size_t i = 0; i < nr; i++) {
		if (!holds(f, v.v[i].id))
			continue;
		one->slowest++;
		anomaly_example(one, v.v[i].id);
	}
	vec_done(&v);
}

/* First those that show it best. */
static void add_examples(const struct types *t, const struct peer_fault *f, struct anomaly *one)
{
	for (size_t i = 0; i < PEERS_WITNESSES && f->worst[i].request; i++)
		anomaly_example(one, f->worst[i].request);
	count_slowest(t, f, one);
}

static bool meet(int64_t a, int64_t a_end, int64_t b, int64_t b_end)
{
	return a <= b_end && b <= a_end;
}

/* Whether a stopped node is reason enough: the slow time is no longer than the silence, about. */
static bool is_silence(const struct looking *l, const struct peer_fault *f)
{
	vec_each (&l->silences.v, s) {
		int64_t len = length_ns(s->begin, s->end);

		if (!s->told || s->for_good ||
		    !meet(f->begin, f->end, length_after(s->begin, -len / 2),
			  length_after(s->end, len / 2)))
			continue;
		if (length_ns(f->begin, f->end) / 2 <= len)
			return true;
	}
	return false;
}

static size_t shared_requests(const struct peer_fault *a, const struct peer_fault *b)
{
	size_t nr = 0;

	vec_each (&a->requests, r)
		nr += holds(b, *r);
	return nr;
}

/* Whether an earlier one, which lost more, is the same or the reason of this one. */
static bool is_covered(const struct peer_faults *all, const struct peer_fault *f)
{
	vec_each (&all->v, g) {
		if (g == f)
			return false;
		if (!meet(f->begin, f->end, g->begin, g->end))
			continue;
		if (f->label == g->label ||
		    (f->requests.nr &&
		     (double)shared_requests(f, g) >= VICTIM * (double)f->requests.nr))
			return true;
	}
	return false;
}

static void add_fault(struct looking *l, const struct peers *p, const struct peer_fault *f,
		      enum anomaly_kind kind)
{
	const struct peer_group *g = &p->v.v[f->group];
	struct arena *arena = &l->a->arena;
	struct anomaly one = { .kind = kind,
			       .node = arena_str(arena, names_str(&p->labels, f->label)),
			       .type = p == &l->activity->spent
					       ? STR("")
					       : arena_str(arena, l->types->v.v[g->type].name),
			       .name = arena_str(arena, names_str(&p->names, g->name)),
			       .begin = f->from_first ? NS_NONE : f->begin,
			       .end = f->to_last ? NS_NONE : f->end,
			       .took = f->took,
			       .usual = f->usual,
			       .often = (double)f->nr,
			       .before = (double)f->nr_peers,
			       .requests = f->requests.nr,
			       .lost = f->lost,
			       .confidence = f->confidence };

	add_examples(l->types, f, &one);
	for (size_t i = 0; i < f->requests.nr && one.nr_examples < ANOMALY_EXAMPLES; i++)
		anomaly_example(&one, f->requests.v[i]);
	vec_push(&l->a->v, one);
}

/* Whether requests tell that the node was slow at that time already. */
static bool is_known(const struct looking *l, const struct peer_fault *f)
{
	struct str node = names_str(&l->activity->spent.labels, f->label);

	vec_each (&l->a->v, x)
		if (x->kind == ANOMALY_SLOW_NODE && str_eq(x->node, node) &&
		    (x->begin == NS_NONE || x->begin <= f->end) &&
		    (x->end == NS_NONE || x->end >= f->begin))
			return true;
	return false;
}

/* What lines themselves say that something took is compared as steps are. */
static void add_spent(struct looking *l)
{
	const struct peer_faults *faults = &l->activity->spent_faults;

	vec_each (&faults->v, f)
		if (f->lost >= WORTH_TELLING * l->a->slowness && !is_silence(l, f) &&
		    !is_covered(faults, f) && !is_known(l, f))
			add_fault(l, &l->activity->spent, f, ANOMALY_SLOW_NODE);
}

/* Nodes warm up, each at its own pace: what was slow to begin with must explain more. */
static double least_worth(const struct peer_fault *f)
{
	return f->from_first && !f->to_last ? WORTH_A_START : WORTH_TELLING;
}

/* Adds what the node's stops cost the requests that visit it. */
static void add_stutters(struct looking *l)
{
	struct stutters found = { 0 };

	stutters_find(&found, l->activity);
	vec_each (&found.v, s) {
		struct str node = names_str(&l->activity->nodes, s->node);
		struct peer_fault f = { .label = peers_label(&l->teams.nodes, node),
					.begin = s->begin,
					.end = s->end };
		struct anomaly one = { .kind = ANOMALY_STUTTER,
				       .node = arena_str(&l->a->arena, node),
				       .begin = s->begin,
				       .end = s->end,
				       .took = s->usual,
				       .usual = s->stopped,
				       .often = (double)s->stops,
				       .before = (double)s->of_peers,
				       .confidence = s->confidence };

		if (is_silence(l, &f))
			continue;
		toll_count(&l->toll, &f);
		one.requests = f.requests.nr;
		one.lost = f.lost;
		add_examples(l->types, &f, &one);
		vec_done(&f.requests);
		vec_push(&l->a->v, one);
	}
	stutters_done(&found);
}

static void add_faults(struct looking *l)
{
	peers_find(&l->teams.nodes, &l->faults);
	spells_find(&l->teams.nodes, l->types, &l->faults);
	vec_each (&l->faults.v, f)
		if (!is_silence(l, f) && !is_covered(&l->faults, f)) {
			toll_count(&l->toll, f);
			if (f->lost >= least_worth(f) * l->a->slowness)
				add_fault(l, &l->teams.nodes, f, ANOMALY_SLOW_NODE);
		}
	peers_find(&l->teams.ways, &l->way_faults);
	vec_each (&l->way_faults.v, f)
		if (f->lost >= WORTH_A_WAY * l->a->slowness &&
		    (double)f->took >= WAY_SLOWER * (double)f->usual && !is_silence(l, f) &&
		    !is_covered(&l->way_faults, f))
			add_fault(l, &l->teams.ways, f, ANOMALY_SLOW_HOP);
	l->a->nr_left_out += l->teams.nodes.nr_left_out + l->teams.ways.nr_left_out;
}

/* --- the rest -------------------------------------------------------------------------------- */

static int64_t begin_of(const struct looking *l, const struct anomaly *x)
{
	return x->begin == NS_NONE ? l->types->first : x->begin;
}

static int64_t end_of(const struct looking *l, const struct anomaly *x)
{
	return x->end == NS_NONE ? l->types->last : x->end;
}

/* Whether a node is known to be the reason of what is odd at that time. */
static bool is_explained(const struct looking *l, const struct anomaly *x)
{
	int64_t begin = begin_of(l, x), end = end_of(l, x);

	vec_each (&l->a->v, other) {
		int64_t from = begin_of(l, other), until = end_of(l, other);

		if (other->kind > ANOMALY_SLOW_HOP)
			continue;
		from = from > begin ? from : begin;
		until = until < end ? until : end;
		if (from <= until &&
		    (double)length_ns(from, until) >= EXPLAINED * (double)length_ns(begin, end))
			return true;
	}
	return false;
}

/* A warning of a node that is known to be slow bears that out. */
static bool bears_out(struct looking *l, const struct anomaly *warning)
{
	vec_each (&l->a->v, x)
		if (x->kind <= ANOMALY_SLOW_NODE && str_eq(x->node, warning->node)) {
			if (!x->said.n)
				x->said = warning->said;
			return true;
		}
	return false;
}

static void keep(struct looking *l, const struct anomaly *x)
{
	struct arena *arena = &l->a->arena;
	struct anomaly one = *x;

	one.node = arena_str(arena, x->node);
	one.type = arena_str(arena, x->type);
	one.name = arena_str(arena, x->name);
	vec_push(&l->a->v, one);
}

static int add_rest(struct looking *l, struct error *err)
{
	struct anomaly_list found = { 0 };
	int r = warnings_find(l->store, l->activity, &l->a->arena, &found, err);

	repeats_find(&l->repeats, l->types, &found);
	courses_find(&l->courses, l->types, &found);
	shifts_find(l->types, &found);
	vec_each (&found.v, x) {
		if (x->kind == ANOMALY_WARNINGS ? bears_out(l, x)
						: x->kind != ANOMALY_RETRIES && is_explained(l, x))
			continue;
		if (x->kind == ANOMALY_LATENCY && x->lost < WORTH_TELLING * l->a->slowness)
			continue;
		keep(l, x);
	}
	vec_done(&found.v);
	l->a->nr_left_out += l->courses.nr_left_out;
	return r;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int most_lost_first(const void *a, const void *b, void *ctx)
{
	const struct anomaly *x = a, *y = b;
	const double *slowness = ctx;
	double known_x = x->lost * x->confidence, known_y = y->lost * y->confidence;
	int rank_x = anomaly_rank(x, *slowness), rank_y = anomaly_rank(y, *slowness);

	if (rank_x != rank_y)
		return rank_x - rank_y;
	if (known_x != known_y)
		return known_x > known_y ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return str_cmp(x->node, y->node);
}

int anomalies_collect(struct anomalies *a, struct store *s, const struct types *types,
		      const struct request_filter *f, struct error *err)
{
	struct looking l = { .a = a, .store = s, .types = types };
	int r;

	*a = (struct anomalies){ .slowness = slowness_of(types) };
	r = activity_take(&l.activity, &l.own_activity, s, err);
	if (r >= 0) {
		silences_find(&l.silences, l.activity);
		r = store_each_body(s, f, see_request, &l, err);
	}
	if (r >= 0)
		r = add_silences(&l, err);
	if (r >= 0) {
		add_stutters(&l);
		add_faults(&l);
		add_spent(&l);
		r = add_rest(&l, err);
	}
	if (a->v.nr)
		qsort_r(a->v.v, a->v.nr, sizeof(*a->v.v), most_lost_first, &a->slowness);
	looking_done(&l);
	return r < 0 ? r : 0;
}
