/*
 * Merging of traces (paper, section 4): each file is walked by a cursor of its own, and the oldest
 * front goes next. Within a file, messages may stand up to AHEAD places away from where their time
 * puts them (capture buffers, threads of a logger); one that comes later still is taken at the time
 * of the message before it and counted.
 */
#include "infer/paths/feed.h"

#include <stdlib.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/loss.h"
#include "store/store.h"

enum { AHEAD = 8192, REMEMBERED = 512 };

struct cursor {
	uint64_t next, end; /* events not yet read */
	uint64_t skipped;   /* events before this file that are no messages */
	struct message *v;  /* read, in order of time from at on */
	size_t at, nr, ready;
};

struct feed {
	struct store *store;
	struct names nodes;
	uint32_t remembered[REMEMBERED]; /* by address of the name */
	VEC(struct cursor) cursors;
	struct cursor *filling;
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

static int take_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct feed *f = ctx;
	struct cursor *c = f->filling;

	if (ev->kind != EVENT_MESSAGE) {
		c->skipped++;
		return 0;
	}
	if (ev->ns == NS_NONE)
		return 0;
	c->v[c->nr++] = (struct message){
		.ns = ev->ns,
		.number = number,
		.position = number + 1 - c->skipped,
		.id = ev->id.n ? str_hash(ev->id) | 1 : 0,
		.from = node_of(f, ev->node),
		.to = node_of(f, ev->peer),
		.op = ev->op,
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

static int survey_file(void *ctx, const struct stored_file *file)
{
	struct survey *s = ctx;
	int r;

	s->is_message = false;
	r = file->nr_events ? store_each_event(s->f->store, s->at, 1, look, s, s->err) : 0;
	if (s->is_message)
		vec_push(&s->f->cursors, (struct cursor){ .next = s->at,
							  .end = s->at + file->nr_events,
							  .skipped = s->skipped });
	else
		s->skipped += file->nr_events;
	s->at += file->nr_events;
	return r;
}

int feed_new(struct feed **f, struct store *s, struct error *err)
{
	struct feed *made = mem_zalloc(sizeof(*made));
	struct survey survey = { .f = made, .err = err };
	int r;

	made->store = s;
	made->last = INT64_MIN;
	r = store_each_file(s, survey_file, &survey, err);
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
	names_done(&f->nodes);
	free(f);
}

int feed_next(struct feed *f, struct message *m, struct error *err)
{
	struct cursor *first = NULL;

	/* a walk over all cursors: captures come in handfuls, not in thousands */
	vec_each (&f->cursors, c)
		if (c->at < c->nr && (!first || by_time(&c->v[c->at], &first->v[first->at]) < 0))
			first = c;
	if (!first)
		return 0;
	*m = first->v[first->at++];
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

uint32_t feed_nr_nodes(const struct feed *f)
{
	return f->nodes.nr;
}

struct str feed_node(const struct feed *f, uint32_t node)
{
	return names_str(&f->nodes, node);
}
