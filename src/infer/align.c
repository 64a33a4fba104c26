/*
 * Which clock showed a time: in a message trace, that of the sender; in a capture, that of the
 * capture, whoever sent. A run with one clock needs nothing. Otherwise a sample of the messages is
 * read, what must have come after what is said (align_say.c, align_twins.c), and the fewest clocks
 * are moved that explain it (skew.c); with the new offsets it is said again, until nothing moves.
 *
 * Memory: SAMPLE_MESSAGES messages, in EPISODES stretches of the run when there are more.
 */
#include "infer/align.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/names.h"
#include "base/time.h"
#include "base/vec.h"
#include "infer/align_calls.h"
#include "infer/align_twins.h"
#include "infer/inference.h"
#include "infer/skew.h"
#include "model/event.h"
#include "model/loss.h"
#include "store/store.h"

#define SAMPLE_MESSAGES ((uint64_t)1 << 17)

enum {
	EPISODES = 16,
	ROUNDS = 24,
	SENT_MIN = 16, /* clocks that were seen less often are not judged one by one */
	CORRECTED_MAX =
		64 /* clocks of one file that may be corrected: the feed reads it as often */
};

/* A file with messages. */
struct file {
	uint32_t number;
	uint64_t first, nr; /* of its events */
	bool by_node;       /* each node has its clock; else the file has one */
	uint32_t clock;     /* of the file */
	VEC(int64_t) offsets;
};

struct clock_seen {
	struct str name;
	uint64_t sent, begun; /* messages; requests that began on it */
	uint32_t in_skew;
	int64_t offset;
};

struct align {
	struct store *store;
	struct arena arena;
	struct names nodes;
	VEC(struct file) files;
	VEC(struct clock_seen) clocks; /* from 1 on */
	VEC(uint32_t) clock_of_node;
	VEC(struct align_message) messages; /* of the episode that is read */
	struct align_calls episodes[EPISODES];
	unsigned nr_episodes;
	const struct file *reading;
	struct twins *twins;
	struct skew *skew;
	bool has_twins;
};

static uint32_t add_clock(struct align *a, struct str name)
{
	vec_push(&a->clocks, (struct clock_seen){ .name = arena_str(&a->arena, name) });
	return (uint32_t)a->clocks.nr - 1;
}

/* --- files ----------------------------------------------------------------------------------- */

struct survey {
	struct align *a;
	struct error *err;
	uint64_t at;
	bool is_message;
};

static int look(void *ctx, uint64_t number, const struct event *ev)
{
	struct survey *s = ctx;

	(void)number;
	s->is_message = ev->kind == EVENT_MESSAGE;
	return 0;
}

static int survey_file(void *ctx, const struct stored_file *f)
{
	struct survey *s = ctx;
	struct file made = { .number = f->number, .first = s->at, .nr = f->nr_events };
	int r;

	s->is_message = false;
	s->at += f->nr_events;
	r = f->nr_events ? store_each_event(s->a->store, made.first, 1, look, s, s->err) : 0;
	if (r < 0 || !s->is_message)
		return r;
	made.by_node = str_eq(f->seen.format, STR("messages"));
	if (!made.by_node)
		made.clock = add_clock(s->a, f->seen.name.n ? f->seen.name : f->seen.path);
	vec_push(&s->a->files, made);
	return 0;
}

static size_t nr_captures(const struct align *a)
{
	size_t nr = 0;

	vec_each (&a->files, f)
		nr += !f->by_node;
	return nr;
}

/* --- the sample ------------------------------------------------------------------------------ */

static uint32_t clock_of(struct align *a, uint32_t node)
{
	if (!a->reading->by_node)
		return a->reading->clock;
	while (a->clock_of_node.nr <= node)
		vec_push(&a->clock_of_node, 0);
	if (!a->clock_of_node.v[node])
		a->clock_of_node.v[node] = add_clock(a, names_str(&a->nodes, node));
	return a->clock_of_node.v[node];
}

static int take_message(void *ctx, uint64_t number, const struct event *ev)
{
	struct align *a = ctx;
	struct align_message m = { .ns = ev->ns, .op = ev->op };

	(void)number;
	if (ev->kind != EVENT_MESSAGE || ev->ns == NS_NONE || ev->op == MESSAGE_SENT)
		return 0;
	m.id = ev->id.n ? str_hash(ev->id) | 1 : 0;
	m.from = names_add(&a->nodes, ev->node);
	m.to = names_add(&a->nodes, ev->peer);
	m.clock = clock_of(a, m.from);
	a->clocks.v[m.clock].sent++;
	vec_push(&a->messages, m);
	return 0;
}

/* Each file gives its share, at the same part of its length: they mostly cover the same time. */
static int read_episode(struct align *a, unsigned nr, uint64_t total, struct error *err)
{
	struct align_calls *calls = &a->episodes[nr];
	int r = 0;

	vec_clear(&a->messages);
	calls->is_whole = a->nr_episodes == 1;
	for (size_t i = 0; i < a->files.nr && r >= 0; i++) {
		const struct file *f = &a->files.v[i];
		uint64_t len = f->nr, from = f->first;

		if (!calls->is_whole) {
			len = (uint64_t)((double)f->nr * (double)SAMPLE_MESSAGES / EPISODES /
					 (double)total);
			from += (f->nr - len) / (EPISODES - 1) * nr;
		}
		a->reading = f;
		if (len)
			r = store_each_event(a->store, from, len, take_message, a, err);
	}
	align_pair(a->messages.v, a->messages.nr, calls);
	return r;
}

static int read_sample(struct align *a, struct error *err)
{
	uint64_t total = 0;
	int r = 0;

	vec_each (&a->files, f)
		total += f->nr;
	a->nr_episodes = total > SAMPLE_MESSAGES ? EPISODES : 1;
	for (unsigned i = 0; i < a->nr_episodes && r >= 0; i++)
		r = read_episode(a, i, total, err);
	return r;
}

static int take_sighting(void *ctx, uint64_t number, const struct event *ev)
{
	struct align *a = ctx;

	(void)number;
	if (ev->kind == EVENT_MESSAGE && ev->ns != NS_NONE)
		twins_add(a->twins, a->reading->clock, ev);
	return 0;
}

static int read_twins(struct align *a, struct error *err)
{
	int r = 0;

	if (nr_captures(a) < 2)
		return 0;
	a->has_twins = true;
	a->twins = twins_new();
	for (size_t i = 0; i < a->files.nr && r >= 0; i++) {
		a->reading = &a->files.v[i];
		if (!a->reading->by_node)
			r = store_each_event(a->store, a->reading->first, a->reading->nr,
					     take_sighting, a, err);
	}
	return r;
}

/* --- offsets --------------------------------------------------------------------------------- */

/* Nodes that are never called begin requests. */
static void count_begun(struct align *a)
{
	bool *is_called = mem_zalloc(a->nodes.nr + 1);

	for (unsigned i = 0; i < a->nr_episodes; i++)
		vec_each (&a->episodes[i].v, c)
			is_called[c->to] = true;
	for (unsigned i = 0; i < a->nr_episodes; i++)
		vec_each (&a->episodes[i].v, c)
			a->clocks.v[c->start_clock].begun += !is_called[c->from];
	free(is_called);
}

/* From now on calls carry the clocks of skew, where those that were hardly seen are all clock 0. */
static void number_clocks(struct align *a)
{
	a->skew = skew_new();
	for (size_t i = 1; i < a->clocks.nr; i++) {
		struct clock_seen *c = &a->clocks.v[i];

		if (c->sent >= SENT_MIN || a->twins)
			c->in_skew = skew_clock(a->skew, c->begun);
	}
	for (unsigned i = 0; i < a->nr_episodes; i++)
		vec_each (&a->episodes[i].v, c) {
			c->start_clock = a->clocks.v[c->start_clock].in_skew;
			c->end_clock = a->clocks.v[c->end_clock].in_skew;
		}
}

static void say_all(struct align *a)
{
	uint32_t *clocks = mem_alloc(mem_bytes(a->clocks.nr, sizeof(*clocks)));

	skew_forget(a->skew);
	for (size_t i = 0; i < a->clocks.nr; i++)
		clocks[i] = a->clocks.v[i].in_skew;
	for (unsigned i = 0; i < a->nr_episodes; i++)
		align_say(&a->episodes[i], a->nodes.nr, a->skew);
	if (a->twins)
		twins_say(a->twins, clocks, a->skew);
	free(clocks);
}

/* What comes near the limit was cut off there, and is no offset. */
static bool is_too_far(int64_t offset, int64_t max_skew_ns)
{
	int64_t most =
		max_skew_ns >= 0 && max_skew_ns < SKEW_LIMIT / 4 ? max_skew_ns : SKEW_LIMIT / 4;

	return offset > most || offset < -most;
}

static int settle_clock(struct align *a, struct clock_seen *c, int64_t max_skew_ns,
			unsigned *nr_corrected, struct error *err)
{
	struct clock_fix fix = { .node = c->name, .offset_ns = skew_offset(a->skew, c->in_skew) };
	struct skew_fit fit;

	if (!fix.offset_ns)
		return 0;
	fix.applied = skew_is_sure(a->skew, c->in_skew, &fit) &&
		      !is_too_far(fix.offset_ns, max_skew_ns) && *nr_corrected < CORRECTED_MAX;
	fix.pairs = fit.pairs;
	fix.agree = fit.agree;
	*nr_corrected += fix.applied;
	c->offset = fix.applied ? fix.offset_ns : 0;
	store_losses(a->store)->count[fix.applied ? LOSS_CLOCKS_CORRECTED : LOSS_CLOCKS_UNSURE]++;
	return store_add_clock_fix(a->store, &fix, err);
}

static int by_name(const void *pa, const void *pb)
{
	const struct clock_seen *a = *(struct clock_seen *const *)pa,
				*b = *(struct clock_seen *const *)pb;

	return str_cmp(a->name, b->name);
}

static int settle(struct align *a, int64_t max_skew_ns, struct error *err)
{
	size_t nr = a->clocks.nr - 1;
	struct clock_seen **order = mem_alloc(mem_bytes(nr + 1, sizeof(*order)));
	unsigned nr_corrected = 0;
	int r = 0;

	for (size_t i = 0; i < nr; i++)
		order[i] = &a->clocks.v[i + 1];
	qsort(order, nr, sizeof(*order), by_name);
	for (size_t i = 0; i < nr && r >= 0; i++)
		r = settle_clock(a, order[i], max_skew_ns, &nr_corrected, err);
	free(order);
	return r;
}

static void add_offset(struct file *f, int64_t offset)
{
	vec_each (&f->offsets, o)
		if (*o == offset)
			return;
	vec_push(&f->offsets, offset);
}

static void list_offsets(struct align *a)
{
	vec_each (&a->files, f) {
		add_offset(f, f->by_node ? 0 : a->clocks.v[f->clock].offset);
		if (f->by_node)
			vec_each (&a->clock_of_node, c)
				add_offset(f, a->clocks.v[*c].offset);
	}
}

/* What is needed only to find the offsets. */
static void forget(struct align *a)
{
	for (unsigned i = 0; i < a->nr_episodes; i++)
		vec_done(&a->episodes[i].v);
	vec_done(&a->messages);
	twins_free(a->twins);
	skew_free(a->skew);
	a->twins = NULL;
	a->skew = NULL;
}

static int find(struct align *a, int64_t max_skew_ns, struct error *err)
{
	int r = read_twins(a, err);

	if (r >= 0)
		r = read_sample(a, err);
	if (r < 0)
		return r;
	count_begun(a);
	number_clocks(a);
	say_all(a);
	for (unsigned i = 0; i < ROUNDS && skew_solve(a->skew); i++) {
		say_all(a);
		skew_centre(a->skew);
		say_all(a);
	}
	return settle(a, max_skew_ns, err);
}

int align_new(struct align **a, struct store *s, const struct infer_options *o, struct error *err)
{
	struct align *made = mem_zalloc(sizeof(*made));
	struct survey survey = { .a = made, .err = err };
	int r;

	made->store = s;
	vec_push(&made->clocks, (struct clock_seen){ 0 });
	r = store_each_file(s, survey_file, &survey, err);
	if (r >= 0 && made->files.nr && (made->files.nr > 1 || made->files.v[0].by_node))
		r = find(made, o->max_skew_ns, err);
	list_offsets(made);
	forget(made);
	if (r < 0) {
		align_free(made);
		return r;
	}
	*a = made;
	return 0;
}

void align_free(struct align *a)
{
	if (!a)
		return;
	vec_each (&a->files, f)
		vec_done(&f->offsets);
	vec_done(&a->files);
	vec_done(&a->clocks);
	vec_done(&a->clock_of_node);
	names_done(&a->nodes);
	arena_done(&a->arena);
	free(a);
}

static const struct file *file_of(const struct align *a, uint32_t number)
{
	vec_each (&a->files, f)
		if (f->number == number)
			return f;
	return NULL;
}

int64_t align_offset(const struct align *a, uint32_t file, struct str node)
{
	const struct file *f = file_of(a, file);
	sym_t sym;

	if (!f)
		return 0;
	if (!f->by_node)
		return a->clocks.v[f->clock].offset;
	sym = names_find(&a->nodes, node);
	return sym < a->clock_of_node.nr ? a->clocks.v[a->clock_of_node.v[sym]].offset : 0;
}

size_t align_offsets(const struct align *a, uint32_t file, const int64_t **offsets)
{
	const struct file *f = file_of(a, file);

	*offsets = f ? f->offsets.v : NULL;
	return f ? f->offsets.nr : 0;
}

bool align_has_twins(const struct align *a)
{
	return a->has_twins;
}
