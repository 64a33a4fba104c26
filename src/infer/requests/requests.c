/*
 * Windows of time one after the other, each with what is left of the one before. Of many windows
 * several chains are made, which go side by side:
 *
 *	chain 1   window 1  window 2  window 3 | a little more
 *	chain 2                 a little before | window 4  window 5 ...
 *
 * Requests belong to the chain in which they begin. Which chains there are depends on the lines
 * alone, and so does the result.
 */
#include "infer/requests/requests.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pipeline.h"
#include "infer/requests/course.h"
#include "infer/requests/harvest.h"
#include "infer/requests/tie.h"
#include "infer/requests/window.h"
#include "infer/inference.h"
#include "store/store.h"

enum { CHAIN_WINDOWS = 4 }; /* the most of one chain */

struct chain {
	struct chains *all;
	size_t first, end; /* windows */
	size_t at;         /* the next of them */
	struct harvest_cursor cursor;
	struct gather left; /* of the windows so far */
	struct course *course;
	bool has_families;
};

struct chains {
	const struct infer_options *o;
	struct harvest *h;
	struct outlet out;
	VEC(struct chain) v;
	pthread_mutex_t lock;
	size_t next; /* chain to be taken */
	int got;
	struct error err;
};

/* Clocks that were set right are told. */
static int tell_clocks(const struct harvest *h, struct store *s, struct error *err)
{
	int got = 0;

	for (sym_t log = 0; log < h->of_log.nr && got >= 0; log++) {
		const struct harvest_log *about = &h->of_log.v[log];
		struct clock_fix fix = { .node = names_str(&h->nodes, about->node),
					 .offset_ns = about->shift,
					 .pairs = about->things,
					 .agree = about->things,
					 .applied = true };

		if (!fix.offset_ns)
			continue;
		store_losses(s)->count[LOSS_CLOCKS_CORRECTED]++;
		got = store_add_clock_fix(s, &fix, err);
	}
	return got;
}

/* Where the chain begins: requests from then on are its own. */
static int64_t begin_of(const struct chain *c)
{
	return c->first ? c->all->h->bounds.v[c->first - 1] : INT64_MIN;
}

static bool is_stopped(const struct chains *all)
{
	return all->o->is_stopped && all->o->is_stopped();
}

static int take_window(struct chain *c, struct error *err)
{
	const struct harvest *h = c->all->h;
	size_t nr = c->at++;
	struct window n = { begin_of(c), h->bounds.v[nr], INT64_MAX, false };
	int got = harvest_upto(c->all->h, &c->cursor, &c->left, n.until, err);

	c->left.has_before = nr > 0;
	c->left.has_after = nr + 1 < h->bounds.nr;
	if (got >= 0)
		got = window_infer(&n, &c->left, c->course, &c->all->out, err);
	c->has_families |= n.has_families;
	if (got >= 0 && is_stopped(c->all))
		got = error_set(err, EINTR, "interrupted");
	return got;
}

/* What is left of the chain, with what may belong to it of the next one. */
static int end_chain(struct chain *c, struct error *err)
{
	const struct harvest *h = c->all->h;
	int64_t end = h->bounds.v[c->end - 1];
	struct window n = { begin_of(c), INT64_MAX, end, false };
	int got;

	if (end == INT64_MAX)
		return 0;
	got = harvest_upto(c->all->h, &c->cursor, &c->left, end + TIES_WINDOW_NS, err);
	c->left.has_before = c->left.has_after = true;
	return got < 0 ? got : window_infer(&n, &c->left, c->course, &c->all->out, err);
}

static int run_chain(struct chain *c, struct error *err)
{
	int got = 0;

	while (c->at < c->end && got >= 0)
		got = take_window(c, err);
	return got;
}

static void *run_chains(void *to)
{
	struct chains *all = to;
	struct error err;

	pthread_mutex_lock(&all->lock);
	while (all->next < all->v.nr && all->got >= 0) {
		struct chain *c = &all->v.v[all->next++];
		int got;

		pthread_mutex_unlock(&all->lock);
		got = run_chain(c, &err);
		pthread_mutex_lock(&all->lock);
		if (got < 0 && all->got >= 0) {
			all->got = got;
			all->err = err;
		}
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

static void add_chain(struct chains *all, size_t first, size_t end)
{
	struct chain c = { .all = all, .first = first, .end = end, .at = first };
	int64_t from = begin_of(&c);

	harvest_cursor(all->h, &c.cursor, first ? from - TIES_WINDOW_NS : INT64_MIN);
	c.course = course_new(all->o->matcher);
	vec_push(&all->v, c);
}

/* Requests of any length go on from one chain to the next: then there is one only. The first window
 * shows whether there are such. Else there is an even number of chains of about the same length, so
 * that two cores end at about the same time. */
static int begin_chains(struct chains *all, struct error *err)
{
	size_t nr = all->h->bounds.nr;
	size_t nr_chains = 2 * ((nr + 2 * CHAIN_WINDOWS - 1) / (2 * CHAIN_WINDOWS));
	int got;

	add_chain(all, 0, nr);
	got = take_window(&all->v.v[0], err);
	if (nr < 2 * CHAIN_WINDOWS || all->v.v[0].has_families)
		return got;
	all->v.v[0].end = nr / nr_chains;
	for (size_t i = 1; i < nr_chains; i++)
		add_chain(all, i * nr / nr_chains, (i + 1) * nr / nr_chains);
	return got;
}

static int work_side_by_side(struct chains *all, struct error *err)
{
	unsigned cores = pipeline_cores();
	pthread_t thread[64];
	unsigned nr = 0;

	while (nr + 1 < cores && nr + 1 < all->v.nr && nr < 64 &&
	       !pthread_create(&thread[nr], NULL, run_chains, all))
		nr++;
	run_chains(all);
	while (nr)
		pthread_join(thread[--nr], NULL);
	if (all->got < 0)
		*err = all->err;
	return all->got;
}

static void chains_done(struct chains *all)
{
	vec_each (&all->v, c) {
		harvest_cursor_done(&c->cursor);
		gather_done(&c->left);
		course_free(c->course);
	}
	vec_done(&all->v);
	pthread_mutex_destroy(&all->lock);
}

/* All chains ask for the same methods, by and large. */
static void tell_orders(const struct chains *all, struct store *s)
{
	uint64_t *count = &store_losses(s)->count[LOSS_ORDERS_LEFT];

	vec_each (&all->v, c)
		if (course_nr_left(c->course) > *count)
			*count = course_nr_left(c->course);
}

/* --- while more is to come ------------------------------------------------------------------- */

/* One chain, of windows that are told as they come. */
struct requests_begun {
	struct chains all;
};

static void prepare_begun(struct requests_begun *b, struct store *s, const struct infer_options *o)
{
	struct chain *c;

	b->all.o = o;
	b->all.h = o->harvest;
	b->all.out = (struct outlet){ s, o->matcher, &b->all.lock, false };
	if (!b->all.v.nr)
		add_chain(&b->all, 0, 0);
	c = &b->all.v.v[0];
	c->all = &b->all;
	c->end = o->harvest->nr_over;
}

int requests_go_on(struct requests_begun **b, struct store *s, const struct infer_options *o,
		   struct error *err)
{
	if (!*b) {
		*b = mem_zalloc(sizeof(**b));
		pthread_mutex_init(&(*b)->all.lock, NULL);
	}
	prepare_begun(*b, s, o);
	return run_chain(&(*b)->all.v.v[0], err);
}

void requests_begun_free(struct requests_begun *b)
{
	if (b)
		chains_done(&b->all);
	free(b);
}

/* The windows that are left. */
static int end_begun(struct requests_begun *b, struct store *s, const struct infer_options *o,
		     struct error *err)
{
	int got = tell_clocks(o->harvest, s, err);

	store_losses(s)->count[LOSS_NAMES_LEFT] += o->harvest->block.nr_cut;
	prepare_begun(b, s, o);
	b->all.v.v[0].end = o->harvest->bounds.nr;
	if (got >= 0)
		got = run_chain(&b->all.v.v[0], err);
	tell_orders(&b->all, s);
	return got;
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct harvest *h = o->harvest;
	struct chains all = { .o = o, .h = h };
	int got;

	if (!h || 2 * harvest_nr_keyed(h) >= h->nr_lines)
		return 0;
	if (o->begun)
		return end_begun(o->begun, s, o, err);
	pthread_mutex_init(&all.lock, NULL);
	all.out = (struct outlet){ s, o->matcher, &all.lock, false };
	store_losses(s)->count[LOSS_NAMES_LEFT] += h->block.nr_cut;
	got = tell_clocks(h, s, err);
	if (got >= 0)
		got = begin_chains(&all, err);
	if (got >= 0)
		got = work_side_by_side(&all, err);
	/* a line at a seam that two chains lay claim to is that of the later one */
	all.out.skips_placed = true;
	for (size_t i = 0; i < all.v.nr && got >= 0; i++)
		got = end_chain(&all.v.v[i], err);
	tell_orders(&all, s);
	chains_done(&all);
	return got;
}

const struct inference infer_requests = {
	.name = "requests",
	.summary = "log lines of one piece of work, by threads, names and the program's own course",
	.run = run,
};
