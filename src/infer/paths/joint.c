/*
 * Joint assignment, after the note "paths" (which in turn follows the SIGCOMM 2024 work on tracing
 * without instrumentation, with a sampler in place of its integer programs): nodes are independent
 * given the messages; for each a model is learned from a sample of its time line, twice, of which
 * the likelier is kept, and all its calls are then assigned by sampling under that model.
 *
 * Cost: about 25 us of one core for a call with many candidates (in a small trace, where it is
 * learned from as well and tried harder, up to 500 us), nothing but the search for candidates for
 * one with a single one; learning is bounded by the sample. Memory: the sample and a chunk for each
 * core, and 12 bytes a call for the joins.
 */
#include "infer/paths/joint.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/crew.h"
#include "infer/paths/alternatives.h"
#include "infer/paths/calls.h"
#include "infer/paths/early.h"
#include "infer/paths/joins.h"
#include "infer/paths/learn.h"
#include "infer/paths/start.h"
#include "infer/paths/sweep.h"
#include "infer/paths/tick.h"

enum {
	LEARN_CALLS =
		64000, /* are learned from in all; a node with no more than its part of them, */
	WHOLE_LEAST = 1200, /* but not less than this */
	WHOLE_MOST = 8000,  /* and not more than this, is learned from as a whole, */
	SAMPLE_PART = 3,    /* a larger one from the part of that by this */
	MARKS_MORE = 90,    /* sweeps after those of learning, where all was learned from */
	TRIES_WHOLE = 4,    /* and how much harder that is tried */
	CHUNK_CALLS = 4096, /* assigned at once, where only a sample was */
	MARGIN_CALLS = 512,
	BURN_IN = 48,
	MARKS_CHUNK = 48,
	TENTHS = 10,
	RUNS = 2, /* of learning */
};
/* The one finds what is hard to tell apart, the other what is far from where it begins. */
static const float heats[RUNS] = { 1, 1.5f };
#define ANY_SPAN 0.1f /* share of proposals that are drawn from all candidates alike */

/* One node and what was learned of it. */
struct site {
	uint32_t node;
	struct view view;
	struct stretch all;
	struct bins *bins;
	struct model models[RUNS];
	struct piece pieces[RUNS];
	double ll[RUNS];
	int best;
	uint32_t nr_sample;  /* calls learned from */
	bool is_whole;       /* everything was learned from */
	float trust[TENTHS]; /* by the sampler's confidence: what it was worth in the sample */
};

/* A part of a node's time line to be assigned. */
struct chunk {
	uint32_t site, from, to;
};

struct joint {
	struct window *w;
	pthread_mutex_t lock; /* of the window's alternatives */
	struct sides sides;
	VEC(struct site) sites;
	VEC(struct chunk) chunks;
};

struct ranked {
	uint32_t node, nr;
};

static int by_rank(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->nr != b->nr)
		return a->nr > b->nr ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Numbers the nodes at one end of these calls, the commonest first; the rest shares a number. */
static uint32_t number(const struct joint *j, const uint32_t *calls, uint32_t nr, bool callers,
		       uint32_t first, uint16_t *out)
{
	struct ranked *v = mem_zalloc(mem_bytes(j->w->nr_nodes, sizeof(*v)));
	uint32_t nr_found = 0;

	for (uint32_t i = 0; i < j->w->nr_nodes; i++)
		v[i].node = i;
	for (uint32_t i = 0; i < nr; i++) {
		const struct call *c = &j->w->calls.v[calls[i]];

		if (!callers || !j->w->is_source[c->from])
			v[callers ? c->from : c->to].nr++;
	}
	qsort(v, j->w->nr_nodes, sizeof(*v), by_rank);
	while (nr_found < j->w->nr_nodes && v[nr_found].nr) {
		uint32_t at = first + nr_found;

		out[v[nr_found++].node] = (uint16_t)(at < KINDS_MAX - 1 ? at : KINDS_MAX - 1);
	}
	free(v);
	return first + nr_found < KINDS_MAX ? first + nr_found : KINDS_MAX;
}

static void site_init(const struct joint *j, struct site *s, uint32_t node)
{
	const struct sides *d = &j->sides;

	s->node = node;
	s->all = (struct stretch){
		.w = j->w,
		.in = d->in + d->in_first[node],
		.nr_in = d->in_first[node + 1] - d->in_first[node],
		.out = d->out + d->out_first[node],
		.nr_out = d->out_first[node + 1] - d->out_first[node],
	};
	for (uint32_t i = 0; i < s->all.nr_in; i++) {
		const struct call *c = &j->w->calls.v[s->all.in[i]];

		if (c->t4 != CALL_OPEN && c->t4 - c->t1 > s->all.longest)
			s->all.longest = c->t4 - c->t1;
	}
	s->bins = mem_alloc(sizeof(*s->bins));
	bins_init(s->bins, tick_of(&s->all));
	s->view.type = mem_zalloc(mem_bytes(j->w->nr_nodes, sizeof(uint16_t)));
	s->view.callee = mem_zalloc(mem_bytes(j->w->nr_nodes, sizeof(uint16_t)));
	s->view.nr_types = number(j, s->all.in, s->all.nr_in, true, 1, s->view.type);
	s->view.nr_callees = number(j, s->all.out, s->all.nr_out, false, 0, s->view.callee);
	early_find(&s->all, &s->view, s->view.outlasts);
}

static void forget_learned(struct site *s)
{
	for (int i = 0; i < RUNS; i++) {
		piece_done(&s->pieces[i]);
		model_done(&s->models[i]);
	}
}

static void site_done(struct site *s)
{
	free(s->bins);
	free(s->view.type);
	free(s->view.callee);
}

static void learn(void *ctx, uint32_t item)
{
	struct joint *j = ctx;
	struct site *s = &j->sites.v[item / RUNS];
	int run = (int)(item % RUNS);
	struct stretch st = s->all;
	uint64_t seed = 0x5eed0000 + item;

	st.view = &s->view;
	st.to = st.nr_out;
	if (!s->is_whole) {
		st.from = (st.nr_out - s->nr_sample) / 2;
		st.to = st.from + s->nr_sample;
	}
	piece_init(&s->pieces[run], &st);
	s->pieces[run].tries = s->is_whole ? TRIES_WHOLE : 1;
	model_init(&s->models[run], s->bins, &s->view);
	s->ll[run] = learn_model(&s->models[run], &s->pieces[run], &s->view, heats[run], &seed,
				 j->w->is_stopped);
}

/*
 * A sampler's shares carry no doubt about what was learned. The other run came to its own view of
 * the same calls: where it disagrees, the structure itself is in doubt. second may be NULL.
 */
static float confidence_of(const struct piece *p, const struct piece *second, uint32_t mark)
{
	float sure = (float)p->marks[mark] / (float)p->nr_marked;

	if (!second)
		return sure;
	return 0.5f * (sure + (float)second->marks[mark] / (float)second->nr_marked);
}

static uint32_t likeliest(const struct piece *p, const struct pcall *c)
{
	uint32_t best = c->first;

	for (uint32_t k = c->first; k < c->first + c->nr; k++)
		if (p->marks[k] > p->marks[best])
			best = k;
	return best;
}

static unsigned tenth(float confidence)
{
	return confidence < 1 ? (unsigned)(confidence * TENTHS) : TENTHS - 1;
}

/* Where only a sample was learned from, its calls tell what a confidence is worth elsewhere. */
static void learn_trust(struct site *s)
{
	const struct piece *p = &s->pieces[s->best], *second = &s->pieces[!s->best];
	float sum[TENTHS] = { 0 }, nr[TENTHS] = { 0 };

	for (uint32_t i = 0; i < p->nr_unsure; i++) {
		uint32_t mark = likeliest(p, &p->calls[p->unsure[i]]);
		float sure = confidence_of(p, NULL, mark);
		unsigned at = tenth(sure);

		sum[at] += confidence_of(p, second, mark) / sure;
		nr[at]++;
	}
	for (unsigned i = 0; i < TENTHS; i++)
		s->trust[i] = (sum[i] + 1) / (nr[i] + 1);
}

static void write_back(struct joint *j, const struct piece *p, const struct piece *second,
		       const float *trust)
{
	struct noted noted = { 0 };

	for (uint32_t i = 0; i < p->nr_calls; i++) {
		const struct pcall *c = &p->calls[i];
		struct call *to = &j->w->calls.v[c->call];
		uint32_t best = likeliest(p, c);

		if (c->fixed || c->spare)
			continue;
		to->parent = c->nr ? p->spans[p->candidates.v[best]].call : CALL_NONE;
		to->confidence = c->nr > 1 ? confidence_of(p, second, best) : 1;
		if (trust && c->nr > 1)
			to->confidence *= trust[tenth(to->confidence)];
		alternatives_note(&noted, j->w, p, c, best, to->confidence);
	}
	pthread_mutex_lock(&j->lock);
	alternatives_take(j->w, &noted);
	pthread_mutex_unlock(&j->lock);
}

static void assign_chunk(struct joint *j, struct site *s, const struct chunk *c, uint64_t seed)
{
	struct model *m = &s->models[s->best];
	struct stretch st = s->all;
	struct piece p;

	st.view = &s->view;
	st.from = c->from;
	st.to = c->to;
	st.margin = MARGIN_CALLS;
	piece_init(&p, &st);
	if (p.nr_unsure) {
		pull_weigh(&m->pull, &p, m->bins, ANY_SPAN);
		start_draw(&p, &seed);
		model_ll_all(m, &p);
		for (int i = 0; i < BURN_IN; i++)
			sweep(&p, m, &seed);
		sweep_marks(&p, m, &seed, MARKS_CHUNK);
	}
	write_back(j, &p, NULL, s->trust);
	piece_done(&p);
}

static void assign(void *ctx, uint32_t item)
{
	struct joint *j = ctx;
	const struct chunk *c = &j->chunks.v[item];
	struct site *s = &j->sites.v[c->site];
	uint64_t seed = 0xdec0de00 + item;

	if (j->w->is_stopped && j->w->is_stopped())
		return;
	if (!s->is_whole) {
		assign_chunk(j, s, c, seed);
		return;
	}
	sweep_marks(&s->pieces[s->best], &s->models[s->best], &seed, MARKS_MORE);
	write_back(j, &s->pieces[s->best], &s->pieces[!s->best], NULL);
}

/* The likelier of both runs stays; small nodes are one chunk, large ones many. */
static void plan(struct joint *j)
{
	for (uint32_t i = 0; i < j->sites.nr; i++) {
		struct site *s = &j->sites.v[i];
		uint32_t step;

		s->best = s->ll[1] > s->ll[0];
		learn_trust(s);
		step = s->is_whole ? s->all.nr_out : CHUNK_CALLS;
		s->models[s->best].frozen = !s->is_whole;
		for (uint32_t from = 0; from < s->all.nr_out; from += step)
			vec_push(&j->chunks,
				 (struct chunk){ i, from,
						 step < s->all.nr_out - from ? from + step
									     : s->all.nr_out });
	}
}

/* Learning costs by the node, so where there are many, each is learned from less. */
static void share_out(struct joint *j)
{
	uint32_t nr = LEARN_CALLS / (uint32_t)(j->sites.nr ? j->sites.nr : 1);

	nr = nr < WHOLE_LEAST ? WHOLE_LEAST : nr > WHOLE_MOST ? WHOLE_MOST : nr;
	vec_each (&j->sites, s) {
		s->is_whole = s->all.nr_out <= nr;
		s->nr_sample = nr / SAMPLE_PART;
	}
}

/* Learns the sites and assigns their calls. */
static void run_sites(struct joint *j)
{
	share_out(j);
	crew_run((uint32_t)j->sites.nr * RUNS, learn, j);
	vec_clear(&j->chunks);
	plan(j);
	crew_run((uint32_t)j->chunks.nr, assign, j);
	vec_each (&j->sites, s)
		forget_learned(s);
}

/* Where requests join, the arrival that goes on is a type of its own, and all is learned anew. */
static void run_joins(struct joint *j)
{
	struct joins joins;
	size_t kept = 0;

	joins_init(&joins, j->w);
	for (size_t i = 0; i < j->sites.nr; i++) {
		struct site s = j->sites.v[i];

		if (!joins_look(&joins, s.all.in, s.all.nr_in)) {
			site_done(&s);
			continue;
		}
		s.view.nr_types++;
		s.view.late = joins.late;
		alternatives_forget(j->w, s.node);
		j->sites.v[kept++] = s;
	}
	j->sites.nr = kept;
	run_sites(j);
	joins_done(&joins);
}

void joint_run(struct window *w)
{
	struct joint j = { .w = w, .lock = PTHREAD_MUTEX_INITIALIZER };

	sides_init(&j.sides, w);
	vec_each (&w->calls, c)
		if (!c->is_decided)
			c->confidence = 1;
	for (uint32_t n = 0; n < w->nr_nodes; n++) {
		struct site s = { 0 };

		site_init(&j, &s, n);
		if (s.all.nr_in && s.all.nr_out)
			vec_push(&j.sites, s);
		else
			site_done(&s);
	}
	run_sites(&j);
	run_joins(&j);
	vec_each (&j.sites, s)
		site_done(s);
	vec_done(&j.sites);
	vec_done(&j.chunks);
	sides_done(&j.sides);
}
