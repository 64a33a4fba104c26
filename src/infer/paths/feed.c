/*
 * Merging of traces (paper, section 4): each file is walked by a cursor of its own, and the oldest
 * front goes next. Times are corrected on the way in; a file whose nodes have clocks that are off
 * by different amounts gets a cursor for each amount, so that each delivers in order. Within a
 * file, messages may stand up to AHEAD places away from where their time puts them (capture
 * buffers, threads of a logger); one that comes later still is taken at the time of the message
 * before it and counted.
 */
#include "infer/paths/feed.h"

#include <stdlib.h>

#include "base/time.h"
#include "base/vec.h"
#include "infer/align.h"
#include "infer/paths/twice.h"
#include "model/loss.h"
#include "store/store.h"

enum { AHEAD = 8192, REMEMBERED = 512, TITLES_MAX = 1 << 16 };

struct cursor {
	uint64_t next, end; /* events not yet read */
	uint64_t skipped;   /* events before this file that are no messages */
	uint32_t file;      /* its number */
	int64_t offset;     /* what to add to its times … */
	bool is_part;       /* … and only messages with this offset are taken */
	struct message *v;  /* read, in order of time from at on */
	size_t at, nr, ready;
};

struct feed {
	struct store *store;
	struct names nodes, titles;
	uint32_t remembered[REMEMBERED]; /* by address of the name */
	VEC(struct cursor) cursors;
	VEC(int64_t) offsets; /* by node, in the file that is filled */
	uint32_t offsets_of;  /* that file */
	struct cursor *filling;
	struct align *align;
	struct twice *twice; /* NULL when no message can come twice */
	int64_t last;
};

/* The store mostly hands out equal names at equal addresses, so that few need hashing. */
static uint32_t node_of(struct feed *f, struct str name)
{
	uintptr_t p = (uintptr_t)name.p;
	uint32_t *node = &f->remembered[(p >> 3 ^ p >> 12) % REMEMBERED];

	if (!*node || !str_eq(names_str(&f->nodes, *node), name))
		*node = names_add(&f->nodes, name.n ? name : STR("?"));
	return *node;
}

/* Beyond the most there may be, what is new has no title. */
static uint32_t title_of(struct feed *f, const struct event *ev)
{
	if (!ev->title.n || ev->op != MESSAGE_CALL)
		return 0;
	return f->titles.nr < TITLES_MAX ? names_add(&f->titles, ev->title)
					 : names_find(&f->titles, ev->title);
}

/* Nodes are asked for once a file, not once a message. */
static int64_t offset_of(struct feed *f, const struct cursor *c, uint32_t node)
{
	if (f->offsets_of != c->file)
		vec_clear(&f->offsets);
	f->offsets_of = c->file;
	while (f->offsets.nr <= node)
		vec_push(&f->offsets, NS_NONE);
	if (f->offsets.v[node] == NS_NONE)
		f->offsets.v[node] = align_offset(f->align, c->file, names_str(&f->nodes, node));
	return f->offsets.v[node];
}

/* A time that cannot be corrected stays as it is. */
static int64_t corrected(int64_t ns, int64_t offset)
{
	int64_t sum;

	if (__builtin_add_overflow(ns, offset, &sum) || (sum < 0) != (ns < 0))
		return ns;
	return sum;
}

/* What names the request surely; an id that only ties a call to its return does not. */
static uint32_t trace_of(const struct event *ev)
{
	if (ev->key_kind != KEY_TRACE && ev->key_kind != KEY_REQUEST)
		return 0;
	return (uint32_t)(str_hash(ev->key) >> 32) | 1;
}

static int take_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct feed *f = ctx;
	struct cursor *c = f->filling;
	uint32_t from;

	if (ev->kind != EVENT_MESSAGE) {
		c->skipped++;
		return 0;
	}
	if (ev->ns == NS_NONE)
		return 0;
	from = node_of(f, ev->node);
	if (c->is_part && offset_of(f, c, from) != c->offset)
		return 0;
	c->v[c->nr++] = (struct message){
		.ns = corrected(ev->ns, c->offset),
		.number = number,
		.position = number + 1 - c->skipped,
		.id = ev->id.n ? str_hash(ev->id) | 1 : 0,
		.from = from,
		.to = node_of(f, ev->peer),
		.title = title_of(f, ev),
		.op = ev->op,
		.trace = trace_of(ev),
	};
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct message *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void sort_if_needed(struct cursor *c)
{
	for (size_t i = 1; i < c->nr; i++) {
		if (c->v[i - 1].ns <= c->v[i].ns)
			continue;
		qsort(c->v, c->nr, sizeof(*c->v), by_time);
		return;
	}
}

/* Keeps AHEAD messages in hand until the file ends, so that a later one can still go before them.
 */
static int fill(struct feed *f, struct cursor *c, struct error *err)
{
	int r = 0;

	if (!c->v)
		c->v = mem_alloc(2 * AHEAD * sizeof(*c->v));
	c->nr -= c->at;
	memmove(c->v, c->v + c->at, c->nr * sizeof(*c->v));
	c->at = 0;
	f->filling = c;
	while (r >= 0 && c->next < c->end && c->nr < 2 * AHEAD) {
		uint64_t nr = 2 * AHEAD - c->nr;

		if (nr > c->end - c->next)
			nr = c->end - c->next;
		r = store_each_event(f->store, c->next, nr, take_event, f, err);
		c->next += nr;
	}
	sort_if_needed(c);
	c->ready = c->next < c->end ? AHEAD : c->nr;
	if (!c->nr) {
		free(c->v);
		c->v = NULL;
	}
	return r;
}

/* Files with messages get a cursor each; the others are only counted. */
struct survey {
	struct feed *f;
	struct error *err;
	uint64_t at, skipped;
	bool is_message;
};

static int look(void *ctx, uint64_t number, const struct event *ev)
{
	struct survey *s = ctx;

	(void)number;
	s->is_message = ev->kind == EVENT_MESSAGE;
	return 0;
}

static void add_cursors(struct survey *s, const struct stored_file *file)
{
	struct cursor c = { .next = s->at,
			    .end = s->at + file->nr_events,
			    .skipped = s->skipped,
			    .file = file->number };
	const int64_t *offsets;
	size_t nr = align_offsets(s->f->align, file->number, &offsets);

	c.is_part = nr > 1;
	for (size_t i = 0; i < nr; i++) {
		c.offset = offsets[i];
		vec_push(&s->f->cursors, c);
	}
}

static int survey_file(void *ctx, const struct stored_file *file)
{
	struct survey *s = ctx;
	int r;

	s->is_message = false;
	r = file->nr_events ? store_each_event(s->f->store, s->at, 1, look, s, s->err) : 0;
	if (s->is_message)
		add_cursors(s, file);
	else
		s->skipped += file->nr_events;
	s->at += file->nr_events;
	return r;
}

int feed_new(struct feed **f, struct store *s, const struct infer_options *o, struct error *err)
{
	struct feed *made = mem_zalloc(sizeof(*made));
	struct survey survey = { .f = made, .err = err };
	int r;

	made->store = s;
	made->last = INT64_MIN;
	r = align_new(&made->align, s, o, err);
	if (r >= 0)
		r = store_each_file(s, survey_file, &survey, err);
	if (r >= 0 && align_has_twins(made->align))
		made->twice = twice_new();
	for (size_t i = 0; i < made->cursors.nr && r >= 0; i++)
		r = fill(made, &made->cursors.v[i], err);
	if (r < 0 || !made->cursors.nr) {
		feed_free(made);
		made = NULL;
	}
	if (r >= 0)
		*f = made;
	return r;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	vec_each (&f->cursors, c)
		free(c->v);
	vec_done(&f->cursors);
	vec_done(&f->offsets);
	twice_free(f->twice);
	align_free(f->align);
	names_done(&f->nodes);
	names_done(&f->titles);
	free(f);
}

/* The oldest of all, twins included. */
static int next_of_all(struct feed *f, struct message *m, uint32_t *file, struct error *err)
{
	struct cursor *first = NULL;

	/* a walk over all cursors: captures come in handfuls, not in thousands */
	vec_each (&f->cursors, c)
		if (c->at < c->nr && (!first || by_time(&c->v[c->at], &first->v[first->at]) < 0))
			first = c;
	if (!first)
		return 0;
	*m = first->v[first->at++];
	*file = first->file;
	if (m->ns < f->last) {
		store_losses(f->store)->count[LOSS_TIME_BACK]++;
		m->ns = f->last;
	}
	f->last = m->ns;
	if (first->at >= first->ready) {
		int r = fill(f, first, err);

		return r < 0 ? r : 1;
	}
	return 1;
}

int feed_next(struct feed *f, struct message *m, struct error *err)
{
	uint32_t file;
	int r;

	while ((r = next_of_all(f, m, &file, err)) > 0) {
		if (!f->twice || !twice_is(f->twice, file, m))
			return 1;
		store_losses(f->store)->count[LOSS_MESSAGES_TWICE]++;
	}
	return r;
}

uint32_t feed_nr_nodes(const struct feed *f)
{
	return f->nodes.nr;
}

struct str feed_node(const struct feed *f, uint32_t node)
{
	return names_str(&f->nodes, node);
}

struct str feed_title(const struct feed *f, uint32_t title)
{
	return names_str(&f->titles, title);
}
