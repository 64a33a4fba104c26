/*
 * A statement opens work when a piece of work seems to begin with it wherever it stands, right
 * behind one that closes work; and the other way round. Statements that only seem to do so are
 * found by what stands beside them: what closes work is followed by what opens it, or else it
 * stands in the middle of some. What is left tells where work begins and ends whatever was named
 * in between and however long it took, as long as few of the pieces contradict themselves and the
 * silence between them is longer than within. Costs a few passes over the steps.
 */
#include "infer/requests/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	SEEN_MIN = 10, /* so often, at least, to show a habit */
	ROUNDS = 16,   /* of taking away what stands in the middle */
};
#define NEARLY_ALWAYS 0.95
#define MOSTLY 0.7 /* frames in which nothing speaks against one piece */

struct side {
	uint32_t *nr, *good; /* of each statement: steps with it on this side, and how many agree */
	bool *is_edge;       /* of each statement: it opens work, or closes it */
};

/* Frames that begin with a statement. */
struct frames {
	uint32_t nr, nr_whole; /* and those in which nothing speaks against one piece */
	uint32_t nr_before, nr_within;
	float before, within; /* silence in front of them, and at the cuts within */
};

static void *zeroes(size_t nr, size_t size)
{
	void *p = mem_realloc(NULL, mem_bytes(nr + 1, size));

	memset(p, 0, (nr + 1) * size);
	return p;
}

static struct side side_new(uint32_t nr)
{
	return (struct side){ zeroes(nr, sizeof(uint32_t)), zeroes(nr, sizeof(uint32_t)),
			      zeroes(nr, sizeof(bool)) };
}

static void side_done(struct side *s)
{
	free(s->nr);
	free(s->good);
	free(s->is_edge);
}

static bool agrees(const struct side *s, uint32_t statement)
{
	return s->nr[statement] >= SEEN_MIN &&
	       s->good[statement] >= NEARLY_ALWAYS * s->nr[statement];
}

/* By the cuts alone. */
static void suppose(const struct frame_step *v, size_t nr, struct side *closes, struct side *opens,
		    uint32_t nr_statements)
{
	for (size_t i = 0; i < nr; i++) {
		closes->nr[v[i].before]++;
		opens->nr[v[i].after]++;
		closes->good[v[i].before] += v[i].is_cut;
		opens->good[v[i].after] += v[i].is_cut;
	}
	/* what does both is work of one line: it frames nothing */
	for (uint32_t i = 0; i < nr_statements; i++) {
		closes->is_edge[i] = agrees(closes, i) && !agrees(opens, i);
		opens->is_edge[i] = agrees(opens, i) && !agrees(closes, i);
	}
}

/* Work of one line is cut off even where it was not, unless the other line mostly goes on. */
static void cut_off(struct frame_step *v, size_t nr, const struct side *closes,
		    const struct side *opens)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t p = v[i].before, e = v[i].after;
		bool is_alone = (agrees(closes, p) && agrees(opens, p)) ||
				(agrees(closes, e) && agrees(opens, e));

		v[i].is_cut |= is_alone && !v[i].is_same;
	}
}

/* Takes away what stands beside nothing of the other side; whether there was any. */
static bool doubt(const struct frame_step *v, size_t nr, struct side *closes, struct side *opens,
		  uint32_t nr_statements)
{
	bool is_changed = false;

	memset(closes->good, 0, nr_statements * sizeof(*closes->good));
	memset(opens->good, 0, nr_statements * sizeof(*opens->good));
	for (size_t i = 0; i < nr; i++) {
		closes->good[v[i].before] += opens->is_edge[v[i].after];
		opens->good[v[i].after] += closes->is_edge[v[i].before];
	}
	for (uint32_t i = 0; i < nr_statements; i++) {
		bool is_closer = closes->is_edge[i] && agrees(closes, i);
		bool is_opener = opens->is_edge[i] && agrees(opens, i);

		is_changed |= is_closer != closes->is_edge[i] || is_opener != opens->is_edge[i];
		closes->is_edge[i] = is_closer;
		opens->is_edge[i] = is_opener;
	}
	return is_changed;
}

/* The frame that begins with the later line of step i, or with the earlier one where a thread
 * begins: where the step out of it is, or 0 when it does not close. */
static size_t frame_end(const struct frame_step *v, size_t nr, size_t i, const struct side *closes,
			const struct side *opens)
{
	for (; i < nr; i++) {
		bool is_closed = closes->is_edge[v[i].before], is_open = opens->is_edge[v[i].after];

		if (is_closed && is_open)
			return i;
		if (is_closed || is_open)
			return 0;
		if (i + 1 == nr || v[i + 1].at != v[i].at + 1)
			return closes->is_edge[v[i].after] ? i + 1 : 0;
	}
	return 0;
}

static void count(struct frames *f, struct frame_step *v, size_t nr)
{
	bool is_whole = true;

	for (size_t i = 0; i < nr; i++) {
		if (!v[i].is_cut || v[i].is_round)
			continue;
		is_whole &= !v[i].is_sure;
		f->within += v[i].silence;
		f->nr_within++;
	}
	f->nr++;
	f->nr_whole += is_whole;
}

/* Work that ends is followed by more silence than work that goes on. */
static bool is_frame(const struct frames *f)
{
	return f->nr_whole >= MOSTLY * f->nr &&
	       f->before * (float)f->nr_within >= f->within * (float)f->nr_before;
}

static void join(struct frames *f, struct frame_step *v, size_t nr)
{
	for (size_t i = 0; i < nr && is_frame(f); i++)
		v[i].is_cut &= v[i].is_round;
}

/* Walks over the frames: the step into each, or the first one of the thread, and those within. */
static void each_frame(struct frame_step *v, size_t nr, const struct side *closes,
		       const struct side *opens, struct frames *frames,
		       void (*each)(struct frames *f, struct frame_step *v, size_t nr))
{
	for (size_t i = 0; i < nr;) {
		bool is_first = !i || v[i].at != v[i - 1].at + 1;
		bool is_out = closes->is_edge[v[i].before] && opens->is_edge[v[i].after];
		size_t from = is_out ? i + 1 : i, to = 0;

		if ((is_out && from < nr && v[from].at == v[i].at + 1) ||
		    (!is_out && is_first && opens->is_edge[v[i].before]))
			to = frame_end(v, nr, from, closes, opens);
		if (to > from)
			each(&frames[is_out ? v[i].after : v[i].before], v + from, to - from);
		if (to > from && is_out && each == count) {
			frames[v[i].after].before += v[i].silence;
			frames[v[i].after].nr_before++;
		}
		i = to > i ? to : i + 1;
	}
}
void frame_join(struct frame_step *v, size_t nr, uint32_t nr_statements)
{
	struct side closes = side_new(nr_statements), opens = side_new(nr_statements);
	struct frames *frames;

	suppose(v, nr, &closes, &opens, nr_statements);
	cut_off(v, nr, &closes, &opens);
	for (int i = 0; i < ROUNDS; i++)
		if (!doubt(v, nr, &closes, &opens, nr_statements))
			break;
	frames = zeroes(nr_statements, sizeof(*frames));
	each_frame(v, nr, &closes, &opens, frames, count);
	each_frame(v, nr, &closes, &opens, frames, join);
	free(frames);
	side_done(&closes);
	side_done(&opens);
}
