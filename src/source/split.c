/*
 *	line line | event … event … event | line line line
 *	  front      parsed and delivered      last event and what follows it
 *
 * A part may begin and end in the middle of an event. The lines in front of its first event and its
 * last event are handed on raw: who has all parts puts the end of one and the front of the next
 * together and reads them as if nobody had cut. So the events of a log are the same wherever it is
 * cut. Memory is bounded by the block and the largest event.
 */
#include "source/split.h"

#include <string.h>

#include "base/error.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/input.h"
#include "source/lines.h"
#include "source/logs.h"

#define BLOCK_BYTES ((size_t)4 << 20)

void split_init(struct split *s, struct logs *logs, const struct split_taker *taker)
{
	logs->is_settled = false;
	*s = (struct split){ .logs = logs, .taker = *taker, .enough = BLOCK_BYTES };
}

void split_done(struct split *s)
{
	buf_done(&s->held);
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	const struct split_taker *taker = to;

	return taker->events(taker->to, events, nr, err);
}

int split_read(struct logs *logs, struct str lines, const struct split_taker *taker,
	       struct losses *losses, struct error *err)
{
	struct split_taker own = *taker;
	struct sink sink = { .to = &own, .events = take_events, .losses = losses };
	struct input *in = NULL;
	int r;

	if (!lines.n)
		return 0;
	r = input_of_text(&in, "a part of a log", lines, err);
	if (r < 0)
		return r;
	r = logs_read(logs, in, 1, &sink, err);
	input_close(in);
	return r;
}

static void drop(struct split *s, size_t n)
{
	s->bytes += n;
	s->lines += lines_count(str_head(buf_str(&s->held), n));
	if (n)
		memmove(s->held.p, s->held.p + n, s->held.n - n);
	s->held.n -= n;
}

static int pass_front(struct split *s, size_t n, struct error *err)
{
	int r = n ? s->taker.raw(s->taker.to, str_head(buf_str(&s->held), n), true, err) : 0;

	drop(s, n);
	return r;
}

/* Events are counted from the front of what is held; the taker wants them from that of the part. */
struct moving {
	const struct split *s;
};

static int move_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	const struct split *s = ((struct moving *)to)->s;
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++) {
		struct event ev = events[i];

		ev.offset += s->bytes;
		ev.line += s->lines - 1;
		r = s->taker.events(s->taker.to, &ev, 1, err);
	}
	return r;
}

/* All events of these whole lines but the last, which may go on. */
static int pass_events(struct split *s, struct str lines, struct error *err)
{
	struct moving m = { s };
	const struct split_taker taker = { .to = &m, .events = move_events };
	size_t last = logs_last(s->logs, lines, SIZE_MAX);
	int r = split_read(s->logs, str_head(lines, last), &taker, &s->losses, err);

	drop(s, last);
	return r;
}

static int look(struct split *s, struct error *err)
{
	const char *end = s->held.n ? memrchr(s->held.p, '\n', s->held.n) : NULL;
	struct str lines = { s->held.p, end ? (size_t)(end - s->held.p) + 1 : 0 };
	int r = 0;

	if (!lines.n)
		return 0;
	if (!s->has_event) {
		size_t first = logs_first(s->logs, lines);

		s->has_event = first < lines.n;
		r = pass_front(s, first, err);
		lines = (struct str){ s->held.p, lines.n - first };
	}
	if (r >= 0 && s->has_event)
		r = pass_events(s, lines, err);
	return r;
}

int split_add(struct split *s, struct str bytes, struct error *err)
{
	int r = 0;

	buf_add(&s->held, bytes);
	if (s->held.n >= s->enough) {
		r = look(s, err);
		s->enough = 2 * s->held.n > BLOCK_BYTES ? 2 * s->held.n : BLOCK_BYTES;
	}
	return r;
}

int split_end(struct split *s, struct error *err)
{
	int r;

	if (s->held.n && s->held.p[s->held.n - 1] != '\n')
		buf_char(&s->held, '\n');
	r = look(s, err);
	if (r >= 0 && s->held.n)
		r = s->taker.raw(s->taker.to, buf_str(&s->held), false, err);
	drop(s, s->held.n);
	return r;
}
