#include "ask/findings.h"

#include <math.h>
#include <stdlib.h>

#include "ask/length.h"
#include "base/sort.h"
#include "store/store.h"

#define LEAST_SLOW 5
#define NORMAL_FROM 0.4
#define NORMAL_UNTIL 0.6
#define SLOW_TIMES 1.5   /* slower than normal by less is not slow */
#define KEPT 500         /* requests of each set that are kept for drawing lots */
#define OUTSIDE_FROM 0.3 /* a slow time that holds so many of all makes the median slow */
#define LEAST_OUTSIDE 5
#define LEAST_WHOLE 10
#define LOOKED_AT 5000 /* types, where most time is spent first */
#define EPISODES \
	500 /* types, where most time is spent first, that are searched for a slow time \
	     */

void findings_done(struct findings *f)
{
	vec_each (&f->sets, s) {
		vec_done(&s->ranks);
		vec_done(&s->outside);
	}
	vec_done(&f->sets);
	vec_done(&f->v);
	types_done(&f->types);
	contrast_done(&f->contrast);
	features_done(&f->features);
	arena_done(&f->arena);
}

static int fastest_first(const void *a, const void *b)
{
	const struct slow_rank *x = a, *y = b;

	if (x->duration != y->duration)
		return x->duration < y->duration ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static uint64_t duration_of(const void *rank)
{
	return sort_signed(((const struct slow_rank *)rank)->duration);
}

/* Requests that were cut off by the input's ends are left out where enough others are left. */
static void rank_requests(struct slow_sets *sets, const struct type_stat *t)
{
	bool whole_only = t->timings.nr - t->incomplete >= LEAST_WHOLE;
	const struct episode *e = &sets->since;
	bool outside = e->found && (double)e->nr >= OUTSIDE_FROM * (double)t->timings.nr &&
		       (double)e->mean_in >= SLOW_TIMES * (double)e->mean_out;

	vec_reserve(&sets->ranks, t->timings.nr);
	for (size_t i = 0; i < t->timings.nr; i++) {
		const struct timing *m = &t->timings.v[i];
		struct slow_rank rank = { m->duration, m->id };

		if (whole_only && m->incomplete)
			continue;
		vec_push(&sets->ranks, rank);
		if (outside && (i < e->first || i >= e->first + e->nr))
			vec_push(&sets->outside, rank);
	}
	if (sets->outside.nr < LEAST_OUTSIDE)
		vec_clear(&sets->outside);
	/* they stand in order of id: equal ones stay so */
	sort_records(sets->ranks.v, sets->ranks.nr, sizeof(*sets->ranks.v), duration_of);
	sort_records(sets->outside.v, sets->outside.nr, sizeof(*sets->outside.v), duration_of);
}

/* One request alone is an anecdote: a few are taken where the share gives less, but no more than a
 * tenth. */
static size_t slow_of(size_t nr, double slow_share)
{
	size_t slow = (size_t)(slow_share * (double)nr);
	size_t least = nr / 10 < LEAST_SLOW ? nr / 10 : LEAST_SLOW;

	if (slow < least)
		slow = least;
	return slow ? slow : 1;
}

static void split_ranks(struct slow_sets *sets, double slow_share)
{
	size_t nr = sets->ranks.nr;
	size_t base = sets->outside.nr ? sets->outside.nr : nr;

	if (!nr)
		return;
	sets->slow_from = nr - slow_of(nr, slow_share);
	sets->normal_from = (size_t)(NORMAL_FROM * (double)base);
	sets->normal_until = (size_t)ceil(NORMAL_UNTIL * (double)base);
	if (sets->outside.nr)
		return;
	if (sets->normal_until > sets->slow_from)
		sets->normal_until = sets->slow_from;
	if (sets->normal_from >= sets->normal_until)
		sets->normal_from = sets->normal_until ? sets->normal_until - 1 : 0;
}

static void look_at(struct findings *f, uint32_t type, enum contrast_side side, size_t place,
		    size_t nr, const struct request *r, const struct request_body *body)
{
	bool keep = place % (nr / KEPT + 1) == 0;

	contrast_add(&f->contrast, type, side, keep, r, body);
	if (keep)
		features_add(&f->features, type, side, r, body);
}

static size_t place_of(const struct slow_rank *ranks, size_t nr, const struct slow_rank *key)
{
	const struct slow_rank *found =
		nr ? bsearch(key, ranks, nr, sizeof(*key), fastest_first) : NULL;

	return found ? (size_t)(found - ranks) : SIZE_MAX;
}

static int see_request(void *ctx, const struct request *r, const struct request_body *body)
{
	struct findings *f = ctx;
	uint32_t type = types_find(&f->types, r->type);
	struct slow_rank key = { length_ns(r->start, r->end), r->id };
	const struct slow_sets *sets;
	size_t place;

	if (type == TYPE_NONE)
		return 0;
	types_see(&f->types, type, body);
	sets = &f->sets.v[type];
	place = place_of(sets->ranks.v, sets->ranks.nr, &key);
	if (place != SIZE_MAX && place >= sets->slow_from) {
		look_at(f, type, SIDE_OTHER, place - sets->slow_from,
			sets->ranks.nr - sets->slow_from, r, body);
		return 0;
	}
	if (sets->outside.nr)
		place = place_of(sets->outside.v, sets->outside.nr, &key);
	if (place != SIZE_MAX && place >= sets->normal_from && place < sets->normal_until)
		look_at(f, type, SIDE_BASE, place - sets->normal_from,
			sets->normal_until - sets->normal_from, r, body);
	return 0;
}

static double impact_of(const struct slow_sets *sets, int64_t median)
{
	double sum = 0;

	for (size_t i = sets->ranks.nr; i-- > 0;) {
		double d = (double)sets->ranks.v[i].duration;

		if (d <= SLOW_TIMES * (double)median)
			break;
		sum += d - (double)median;
	}
	return sum;
}

static bool same_step(const struct hops *h, uint32_t a, uint32_t b)
{
	while (a != HOP_NONE && b != HOP_NONE) {
		if (h->v.v[a].name != h->v.v[b].name)
			return false;
		a = h->v.v[a].parent;
		b = h->v.v[b].parent;
	}
	return a == b;
}

/* A node that does the step in several places of the path is one peer, as slow as it is anywhere.
 */
static bool is_known_peer(struct finding *one, const struct peer *p)
{
	for (size_t i = 0; i < one->nr_peers; i++) {
		struct peer *known = &one->peers[i];

		if (!str_eq(known->node, p->node))
			continue;
		known->mean = p->mean > known->mean ? p->mean : known->mean;
		known->spans += p->spans;
		return true;
	}
	return false;
}

/* How long the named step takes on the other nodes that do it, the busiest of them. */
static void find_peers(struct findings *f, struct finding *one)
{
	const struct hops *h = &f->contrast.hops;
	uint32_t named = one->answer.hops[0].hop;

	for (size_t i = 1; i < one->answer.nr_hops; i++) {
		const struct contrast_row *row = &one->answer.hops[i];
		const struct hop_sum *sum = &f->contrast.sums.v[row->hop];
		uint64_t spans = row->spans[SIDE_BASE] + row->spans[SIDE_OTHER];
		struct peer p = { hops_node(h, row->hop), 0, spans };
		size_t at = one->nr_peers;

		if (!spans || row->node == one->answer.hops[0].node ||
		    !same_step(h, named, row->hop))
			continue;
		p.mean = length_of((sum->busy[SIDE_BASE] + sum->busy[SIDE_OTHER]) / (double)spans);
		if (is_known_peer(one, &p))
			continue;
		while (at > 0 && one->peers[at - 1].spans < spans)
			at--;
		if (at == FINDING_PEERS)
			continue;
		if (one->nr_peers < FINDING_PEERS)
			one->nr_peers++;
		for (size_t j = one->nr_peers - 1; j > at; j--)
			one->peers[j] = one->peers[j - 1];
		one->peers[at] = p;
	}
}

static void find_in_type(struct findings *f, uint32_t type, struct finding *one)
{
	const struct type_stat *t = &f->types.v.v[type];
	const struct slow_sets *sets = &f->sets.v[type];

	*one = (struct finding){ .type = type, .nr = t->timings.nr, .median = t->p50 };
	one->since = sets->since;
	one->outside = sets->outside.nr;
	if (one->outside)
		one->median = sets->outside.v[(sets->outside.nr - 1) / 2].duration;
	one->nr_slow = sets->ranks.nr - sets->slow_from;
	one->nr_normal = sets->normal_until - sets->normal_from;
	one->verdict = VERDICT_FEW;
	if (type >= f->contrast.sets.nr || !f->contrast.sets.v[type].nr[SIDE_BASE] ||
	    !f->contrast.sets.v[type].nr[SIDE_OTHER])
		return;
	one->seen_slow = f->contrast.sets.v[type].nr[SIDE_OTHER];
	one->seen_normal = f->contrast.sets.v[type].nr[SIDE_BASE];
	contrast_answer(&f->contrast, type, &f->arena, &one->answer);
	one->slow_mean = length_of(one->answer.mean[SIDE_OTHER]);
	one->normal_mean = length_of(one->answer.mean[SIDE_BASE]);
	one->verdict = VERDICT_EVEN;
	if (one->answer.mean[SIDE_OTHER] < SLOW_TIMES * one->answer.mean[SIDE_BASE] ||
	    one->slow_mean <= one->normal_mean || !one->answer.nr_hops)
		return;
	one->verdict = VERDICT_SLOW;
	one->impact = impact_of(sets, one->median);
	contrast_confidence(&f->contrast, type, &f->arena, &one->answer);
	/* what is said of requests that are a guess is no surer than the guess */
	one->answer.confidence *= t->confidence / (double)t->timings.nr;
	one->nr_features = features_telling(&f->features, type, one->features, FINDING_FEATURES);
	find_peers(f, one);
	one->nr_examples = contrast_witnesses(&f->contrast, type, one->answer.hops[0].hop,
					      one->examples, FINDING_EXAMPLES);
}

/* What matters and is known comes before what might matter more. */
static int largest_impact(const void *a, const void *b, void *ctx)
{
	const struct finding *x = a, *y = b;
	const struct types *t = ctx;
	double known_x = x->impact * x->answer.confidence,
	       known_y = y->impact * y->answer.confidence;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (known_x != known_y)
		return known_x > known_y ? -1 : 1;
	return str_cmp(t->v.v[x->type].name, t->v.v[y->type].name);
}

static void make_sets(struct findings *f, double slow_share)
{
	for (size_t i = 0; i < f->types.v.nr; i++)
		vec_push(&f->sets, (struct slow_sets){ 0 });
	for (size_t i = 0; i < f->types.order.nr && i < LOOKED_AT; i++) {
		uint32_t type = f->types.order.v[i];
		const struct type_stat *t = &f->types.v.v[type];

		if (i < EPISODES)
			f->sets.v[type].since = *types_episode(&f->types, type);
		rank_requests(&f->sets.v[type], t);
		split_ranks(&f->sets.v[type], slow_share);
	}
}

/* --- a sample -------------------------------------------------------------------------------- */

/* Slow requests are few: drawn by lot, hardly any would be read. So many of each type and side are
 * read as there are to be read in all, spread over the set. */

enum { LEAST_OF_SIDE = 8, MOST_OF_SIDE = 250 };

struct drawn {
	VEC(uint64_t) ids;
	size_t of_side;
	uint64_t nr_left; /* of the sets */
};

static void draw(struct drawn *d, const struct slow_rank *ranks, size_t from, size_t until)
{
	size_t nr = until > from ? until - from : 0, want = nr < d->of_side ? nr : d->of_side;

	for (size_t i = 0; i < want; i++)
		vec_push(&d->ids, ranks[from + (size_t)((double)i * (double)nr / (double)want)].id);
	d->nr_left += nr - want;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int see_drawn(struct findings *f, struct store *s, uint64_t sample, struct error *err)
{
	struct drawn d = { 0 };
	int r;

	d.of_side = sample / 2 / (f->types.order.nr ? f->types.order.nr : 1);
	d.of_side = d.of_side < LEAST_OF_SIDE ? LEAST_OF_SIDE : d.of_side;
	d.of_side = d.of_side > MOST_OF_SIDE ? MOST_OF_SIDE : d.of_side;
	for (size_t i = 0; i < f->types.order.nr && i < LOOKED_AT && d.ids.nr < sample; i++) {
		const struct slow_sets *sets = &f->sets.v[f->types.order.v[i]];

		draw(&d, sets->ranks.v, sets->slow_from, sets->ranks.nr);
		draw(&d, sets->outside.nr ? sets->outside.v : sets->ranks.v, sets->normal_from,
		     sets->normal_until);
	}
	if (d.ids.nr)
		qsort(d.ids.v, d.ids.nr, sizeof(*d.ids.v), ascending);
	r = store_each_body_of(s, d.ids.v, d.ids.nr, see_request, f, err);
	store_was_sampled(s, d.nr_left);
	vec_done(&d.ids);
	return r;
}

int findings_collect(struct findings *f, struct store *s, const struct request_filter *filter,
		     double slow_share, struct error *err)
{
	int r;

	*f = (struct findings){ .slow_share = slow_share };
	r = types_collect(&f->types, s, filter, err);
	if (r < 0)
		return r;
	make_sets(f, slow_share);
	if (f->types.order.nr > LOOKED_AT)
		f->nr_skipped = f->types.order.nr - LOOKED_AT;
	if (store_sample_of(s) && store_sample_of(s) < f->types.nr_requests)
		r = see_drawn(f, s, store_sample_of(s), err);
	else
		r = store_each_body(s, filter, see_request, f, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < f->types.order.nr && i < LOOKED_AT; i++) {
		struct finding one;

		find_in_type(f, f->types.order.v[i], &one);
		vec_push(&f->v, one);
	}
	if (f->v.nr)
		qsort_r(f->v.v, f->v.nr, sizeof(*f->v.v), largest_impact, &f->types);
	return 0;
}
