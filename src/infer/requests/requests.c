/*
 * Of many windows several chains are made, which go side by side:
 *
 *	chain 1   window 1  window 2  window 3 | a little more
 *	chain 2                 a little before | window 4  window 5 ...
 *
 * Requests belong to the chain in which they begin. Which chains there are depends on the lines
 * alone, and so does the result, wherever each of them is worked on: in threads here (map, combine
 * and reduce of one machine), or by reducers elsewhere.
 */
#include "infer/requests/requests.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pipeline.h"
#include "infer/requests/chain.h"
#include "infer/requests/course.h"
#include "infer/requests/fragment.h"
#include "infer/requests/harvest.h"
#include "infer/requests/merge.h"
#include "infer/requests/shuffle.h"
#include "infer/inference.h"
#include "store/store.h"

struct chains {
	const struct infer_options *o;
	struct harvest *h;
	struct merge merge;
	VEC(struct chain) v;
	pthread_mutex_t lock;
	size_t next; /* chain to be taken */
	int got;
	struct error err;
};

static void tell_left(const struct harvest *h, struct store *s)
{
	store_losses(s)->count[LOSS_NAMES_LEFT] += h->block.nr_cut;
	store_losses(s)->count[LOSS_LINES_WORDS_LEFT] += h->block.nr_lacking;
}

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

static bool is_stopped(const struct infer_options *o)
{
	return o->is_stopped && o->is_stopped();
}

static int take_window(const struct infer_options *o, struct chain *c, const struct outlet *out,
		       struct error *err)
{
	int got = chain_window(c, out, err);

	if (got >= 0 && is_stopped(o))
		got = error_set(err, EINTR, "interrupted");
	return got;
}

/* The end of a chain: what others lay claim to is not known before all chains are done. */
struct seam {
	struct merge *merge;
	struct packet packet;
};

static int pack(void *to, struct fragment *f, struct error *err)
{
	(void)err;
	packet_add(&((struct seam *)to)->packet, f);
	return 0;
}

static void count(void *to, const struct losses *losses)
{
	merge_count(((struct seam *)to)->merge, losses);
}

static int run_seam(struct chains *all, struct chain *c, struct error *err)
{
	struct seam seam = { .merge = &all->merge };
	const struct outlet out = { &seam, pack, count, all->o->matcher };
	struct buf *bytes = &seam.packet.bytes;
	int got = chain_seam(c, &out, err);

	if (got >= 0 && bytes->n)
		got = merge_seam(&all->merge, (size_t)(c - all->v.v), buf_str(bytes), err);
	packet_done(&seam.packet);
	return got;
}

static int run_chain(struct chains *all, struct chain *c, struct error *err)
{
	struct merge_out to = { .m = &all->merge, .chain = (size_t)(c - all->v.v) };
	const struct outlet out = merge_outlet(&to, all->o->matcher);
	int got = 0;

	while (c->at < c->end && got >= 0)
		got = take_window(all->o, c, &out, err);
	if (got >= 0)
		got = merge_over(&to, err);
	packet_done(&to.packet);
	if (got >= 0)
		got = run_seam(all, c, err);
	merge_orders(&all->merge, course_nr_left(c->course));
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
		got = run_chain(all, c, &err);
		pthread_mutex_lock(&all->lock);
		if (got < 0 && all->got >= 0) {
			all->got = got;
			all->err = err;
		}
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* The first window shows whether requests go on from one chain to the next: then there is one only.
 */
static int begin_chains(struct chains *all, struct error *err)
{
	struct merge_out to = { .m = &all->merge };
	const struct outlet out = merge_outlet(&to, all->o->matcher);
	struct chain c;
	size_t nr;
	int got;

	chain_begin(&c, all->h, 0, all->h->bounds.nr, all->o->matcher);
	got = take_window(all->o, &c, &out, err);
	nr = chain_nr(all->h, c.has_families);
	c.end = chain_first(all->h, 1, nr);
	vec_push(&all->v, c);
	for (size_t i = 1; i < nr; i++) {
		chain_begin(&c, all->h, chain_first(all->h, i, nr), chain_first(all->h, i + 1, nr),
			    all->o->matcher);
		vec_push(&all->v, c);
	}
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

static int work_here(struct chains *all, struct error *err)
{
	int got;

	pthread_mutex_init(&all->lock, NULL);
	got = begin_chains(all, err);
	if (got >= 0)
		got = work_side_by_side(all, err);
	vec_each (&all->v, c)
		chain_done(c);
	vec_done(&all->v);
	pthread_mutex_destroy(&all->lock);
	return got;
}

/* --- elsewhere ------------------------------------------------------------------------------ */

static int drop(void *to, struct fragment *f, struct error *err)
{
	(void)to;
	(void)f;
	(void)err;
	return 0;
}

static void count_nothing(void *to, const struct losses *losses)
{
	(void)to;
	(void)losses;
}

/* How many chains there are; the reducer of the first one will do its first window again. */
static int count_chains(struct chains *all, size_t *nr, struct error *err)
{
	const struct outlet out = { NULL, drop, count_nothing, all->o->matcher };
	struct chain c;
	int got = 0;

	*nr = chain_nr(all->h, false);
	if (*nr == 1)
		return 0;
	chain_begin(&c, all->h, 0, all->h->bounds.nr, all->o->matcher);
	got = take_window(all->o, &c, &out, err);
	*nr = chain_nr(all->h, c.has_families);
	chain_done(&c);
	return got;
}

static int work_elsewhere(struct chains *all, size_t nr_chains, struct error *err)
{
	const struct shuffle sh = { all->h, nr_chains > 1 ? nr_chains : 0 };
	const struct reducers *r = all->o->reducers;
	int got = r->run(r->to, &sh, &all->merge, err);

	return got < 0 ? got : merge_check(&all->merge, err);
}

/* --- while more is to come ------------------------------------------------------------------- */

/* One chain, of windows that are told as they come. */
struct requests_begun {
	struct merge merge;
	struct chain chain;
};

/* Up to that window. */
static int run_begun(struct requests_begun *b, size_t end, const struct infer_options *o,
		     struct error *err)
{
	struct merge_out to = { .m = &b->merge };
	const struct outlet out = merge_outlet(&to, o->matcher);
	int got = 0;

	b->chain.end = end;
	while (b->chain.at < b->chain.end && got >= 0)
		got = take_window(o, &b->chain, &out, err);
	return got;
}

int requests_go_on(struct requests_begun **b, struct store *s, const struct infer_options *o,
		   struct error *err)
{
	if (!*b) {
		*b = mem_zalloc(sizeof(**b));
		merge_init(&(*b)->merge, s, 1);
		chain_begin(&(*b)->chain, o->harvest, 0, 0, o->matcher);
	}
	return run_begun(*b, o->harvest->nr_over, o, err);
}

void requests_begun_free(struct requests_begun *b)
{
	if (!b)
		return;
	chain_done(&b->chain);
	merge_done(&b->merge);
	free(b);
}

/* The windows that are left. */
static int end_begun(struct requests_begun *b, struct store *s, const struct infer_options *o,
		     struct error *err)
{
	int got = tell_clocks(o->harvest, s, err);

	tell_left(o->harvest, s);
	if (got >= 0)
		got = run_begun(b, o->harvest->bounds.nr, o, err);
	merge_orders(&b->merge, course_nr_left(b->chain.course));
	return got < 0 ? got : merge_end(&b->merge, err);
}

static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct harvest *h = o->harvest;
	struct chains all = { .o = o, .h = h };
	size_t nr = 1;
	bool is_elsewhere;
	int got;

	if (!h || 2 * harvest_nr_keyed(h) >= h->nr_lines)
		return 0;
	if (o->begun)
		return end_begun(o->begun, s, o, err);
	tell_left(h, s);
	got = tell_clocks(h, s, err);
	if (got >= 0 && o->reducers)
		got = count_chains(&all, &nr, err);
	is_elsewhere = o->reducers && (nr > 1 || o->reducers->is_asked_always);
	/* no more than one chain for each window */
	merge_init(&all.merge, s, is_elsewhere ? nr : h->bounds.nr);
	if (got >= 0)
		got = is_elsewhere ? work_elsewhere(&all, nr, err) : work_here(&all, err);
	if (got >= 0)
		got = merge_end(&all.merge, err);
	merge_done(&all.merge);
	return got;
}

const struct inference infer_requests = {
	.name = "requests",
	.summary = "log lines of one piece of work, by threads, names and the program's own course",
	.run = run,
};
