#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/names.h"
#include "base/vec.h"
#include "model/level.h"
#include "store/publish.h"
#include "store/store.h"
#include "store/tuple.h"

/*
 * Requests of one sequence passed the same points in the same order, so the first of them shows it:
 * its spans, and within each its log points in order of time, as the vector of section 5 of the
 * lprof paper. What an event says of its point stands in the blocks of events, in the order of the
 * files: so the events of many sequences are gathered, put into that order, and read in one pass.
 */

#define GATHERED_MOST ((size_t)1 << 20)

struct wanted {
	uint64_t event, sequence;
	uint32_t span, name; /* its name in names, from 0 */
	int32_t position;
};

struct sequences {
	struct publish *p;
	struct names seen;  /* sequences, each as its eight bytes */
	struct names names; /* of spans */
	VEC(struct wanted) wanted;
	size_t at; /* in wanted, of the pass over events */
};

static void add_place(struct sequences *q, const struct wanted *w)
{
	struct buf *rows = &q->p->rows;
	char sequence[20];

	tuple_begin(rows, 8);
	tuple_int8(rows, q->p->run);
	snprintf(sequence, sizeof(sequence), "%016llx", (unsigned long long)w->sequence);
	tuple_text(rows, str_of(sequence));
	tuple_int4(rows, w->position);
	if (w->span == SPAN_NONE) {
		tuple_null(rows);
		tuple_null(rows);
		return;
	}
	tuple_int4(rows, (int32_t)w->span + 1);
	tuple_text(rows, names_str(&q->names, w->name));
}

static void add_text(struct buf *rows, struct str s)
{
	if (s.n)
		tuple_text(rows, s);
	else
		tuple_null(rows);
}

static int add_point(struct sequences *q, const struct wanted *w, const struct event *ev)
{
	struct buf *rows = &q->p->rows;

	add_place(q, w);
	add_text(rows, ev ? str_of(level_name(ev->level)) : STR(""));
	add_text(rows, ev ? ev->point : STR(""));
	add_text(rows, ev ? ev->title.n ? ev->title : ev->text : STR(""));
	return publish_row(q->p);
}

static int by_event(const void *x, const void *y)
{
	const struct wanted *a = x, *b = y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

static int one_event(void *ctx, uint64_t number, const struct event *ev)
{
	struct sequences *q = ctx;
	int r = 0;

	for (; q->at < q->wanted.nr && q->wanted.v[q->at].event <= number && !r; q->at++)
		r = add_point(q, &q->wanted.v[q->at],
			      q->wanted.v[q->at].event == number ? ev : NULL);
	/* the next is far: the walk begins again there */
	return r ? r : q->at == q->wanted.nr || q->wanted.v[q->at].event > number + 1;
}

static int write_wanted(struct sequences *q)
{
	int r = 0;

	if (q->wanted.nr)
		qsort(q->wanted.v, q->wanted.nr, sizeof(*q->wanted.v), by_event);
	q->at = 0;
	while (q->at < q->wanted.nr && r >= 0) {
		size_t at = q->at;

		r = store_each_event(q->p->store, q->wanted.v[at].event, UINT64_MAX, one_event, q,
				     q->p->err);
		/* an event that is not there: its place is kept */
		if (r >= 0 && q->at == at)
			r = add_point(q, &q->wanted.v[q->at++], NULL);
	}
	vec_clear(&q->wanted);
	names_done(&q->names);
	return r < 0 ? r : 0;
}

static int by_span(const void *x, const void *y)
{
	const struct wanted *a = x, *b = y;

	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

/* The events of one request, span after span and in order of time within each. */
static size_t gather(struct sequences *q, const struct request *r, const struct request_body *b)
{
	size_t first = q->wanted.nr;

	for (size_t i = 0; i < b->nr_events; i++)
		vec_push(&q->wanted,
			 (struct wanted){ .event = b->events[i],
					  .sequence = r->sequence,
					  .span = b->event_span ? b->event_span[i] : SPAN_NONE,
					  .position = (int32_t)i });
	if (b->nr_events)
		qsort(q->wanted.v + first, b->nr_events, sizeof(*q->wanted.v), by_span);
	return first;
}

/* Numbers the places; a span without an event has one of its own, which can be written at once. */
static int number(struct sequences *q, const struct request *r, const struct request_body *b)
{
	size_t at = gather(q, r, b);
	int32_t position = 0;
	int result = 0;

	for (uint32_t i = 0; i < b->nr_spans && !result; i++) {
		struct wanted none = { .sequence = r->sequence,
				       .span = i,
				       .name = names_add(&q->names, b->spans[i].name) };
		size_t first = at;

		for (; at < q->wanted.nr && q->wanted.v[at].span == i; at++) {
			q->wanted.v[at].position = ++position;
			q->wanted.v[at].name = none.name;
		}
		if (at > first)
			continue;
		none.position = ++position;
		result = add_point(q, &none, NULL);
	}
	for (; at < q->wanted.nr; at++)
		q->wanted.v[at].position = ++position;
	return result;
}

static int one_request(void *ctx, const struct request *r, const struct request_body *b)
{
	struct sequences *q = ctx;
	uint32_t nr = q->seen.nr;
	int result;

	names_add(&q->seen, (struct str){ (const char *)&r->sequence, sizeof(r->sequence) });
	if (q->seen.nr == nr)
		return 0;
	result = number(q, r, b);
	return result || q->wanted.nr < GATHERED_MOST ? result : write_wanted(q);
}

int publish_sequences(struct publish *p)
{
	struct sequences q = { .p = p };
	int r = publish_begin(p, "COPY @.sequences FROM STDIN (FORMAT binary)");

	if (!r)
		r = store_each_body(p->store, NULL, one_request, &q, p->err);
	if (!r)
		r = write_wanted(&q);
	names_done(&q.seen);
	names_done(&q.names);
	vec_done(&q.wanted);
	return r ? r : publish_end(p);
}
