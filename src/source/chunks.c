/*
 * The calling thread fills slots with bytes cut at line ends and drains them in order; workers
 * parse in between (base/pipeline.h).
 *
 *      chunk 1                    chunk 2                    chunk 3
 *      line line line li|  --->   line line line line|  ---> the front of a very lo|ng line, passed
 *                      ^ carried to the front of the next
 *
 * What follows the last line end of a chunk is carried over to the next, so a line always begins in
 * the chunk that holds it, and a line that is too long always begins a chunk of its own: what
 * becomes of it does not depend on where it stands. Memory is bounded by the slots: each holds a
 * chunk (one line of line_bytes_max at the most) and what was parsed from it.
 */
#include "source/chunks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pipeline.h"
#include "model/mention.h"
#include "model/sink.h"
#include "source/input.h"
#include "source/lines.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define NR_SLOTS_MAX 64

struct slot {
	struct batch b;
	char *room;
	size_t bytes, capacity;
};

struct chunks {
	struct input *in;
	const struct chunk_format *format;
	struct sink *sink;
	size_t chunk_bytes, line_bytes_max;
	struct str carried; /* bytes after the last line end, in carry */
	char *carry;
	size_t carry_capacity;
	uint64_t offset, next_line, position;
	bool at_end;
	int failed; /* of reading: told when everything in front of it was delivered */
	struct error failure;

	/* the last event, until it is known where its text ends */
	struct event held;
	struct arena held_arena;
	bool has_held, held_is_undated;
};

/* Makes room for n bytes and the padding behind, keeping what is there. */
static void slot_reserve(struct slot *s, size_t n)
{
	if (n + json_padding() <= s->capacity)
		return;
	s->capacity = n + json_padding();
	s->room = mem_realloc(s->room, s->capacity);
}

/* Reads until the slot holds n bytes or the input ends. */
static void read_up_to(struct chunks *c, struct slot *s, size_t n)
{
	slot_reserve(s, n);
	while (!c->at_end && s->bytes < n) {
		struct error err = { 0 };
		ssize_t got = input_read(c->in, s->room + s->bytes, n - s->bytes, &err);

		if (got > 0) {
			s->bytes += (size_t)got;
			continue;
		}
		c->at_end = true;
		if (got == -EBADMSG)
			c->sink->losses->count[LOSS_FILES_CUT]++;
		else if (got < 0) {
			c->failed = (int)got;
			c->failure = err;
		}
	}
}

/* How much of the slot can be parsed by itself: up to its last line end; 0 when there is none. */
static size_t whole_lines(struct chunks *c, struct slot *s)
{
	const char *newline = memrchr(s->room, '\n', s->bytes);
	struct str lines = { s->room, newline ? (size_t)(newline - s->room) + 1 : 0 };

	if (lines.n && c->format->cut) {
		size_t cut = c->format->cut(c->format->ctx, lines);

		/* an event larger than a line may be is parted after all */
		if (cut || s->bytes < c->line_bytes_max)
			lines.n = cut;
	}
	return lines.n;
}

static void carry(struct chunks *c, struct str rest)
{
	if (rest.n > c->carry_capacity) {
		c->carry_capacity = rest.n;
		c->carry = mem_realloc(c->carry, rest.n);
	}
	if (rest.n)
		memmove(c->carry, rest.p, rest.n);
	c->carried = (struct str){ c->carry, rest.n };
}

/* Passes over the rest of a line that is too long; what follows it is carried. */
static void pass_over_line(struct chunks *c, struct slot *s)
{
	struct slot scratch = { 0 };
	const char *newline = NULL;

	s->b.whole_bytes = s->bytes;
	while (!newline && !c->at_end) {
		scratch.bytes = 0;
		read_up_to(c, &scratch, c->chunk_bytes);
		newline = memchr(scratch.room, '\n', scratch.bytes);
		s->b.whole_bytes += newline ? (size_t)(newline - scratch.room) : scratch.bytes;
	}
	if (newline)
		carry(c, str_skip((struct str){ scratch.room, scratch.bytes },
				  (size_t)(newline - scratch.room) + 1));
	c->offset += s->b.whole_bytes + (newline != NULL);
	s->b.is_cut = s->b.whole_bytes > s->bytes;
	c->sink->losses->count[LOSS_LINES_CUT] += s->b.is_cut;
	free(scratch.room);
}

static void slot_clear(struct chunks *c, struct slot *s)
{
	struct batch *b = &s->b;

	if (s->capacity > 4 * c->chunk_bytes) {
		free(s->room);
		s->room = NULL;
		s->capacity = 0;
	}
	s->bytes = 0;
	vec_clear(&b->events);
	vec_clear(&b->spans);
	arena_reset(&b->arena);
	b->losses = (struct losses){ 0 };
	b->is_cut = false;
	b->whole_bytes = b->continued_bytes = b->continued_lines = 0;
}

static void report_progress(struct chunks *c)
{
	uint64_t now = input_position(c->in);

	if (c->sink->progress && now > c->position)
		c->sink->progress(c->sink->to, now - c->position);
	c->position = now;
}

static int fill(void *ctx, void *slot, struct error *err)
{
	struct chunks *c = ctx;
	struct slot *s = slot;
	size_t want = c->chunk_bytes, n = 0;

	(void)err;
	slot_clear(c, s);
	slot_reserve(s, c->carried.n > want ? c->carried.n : want);
	if (c->carried.n)
		memcpy(s->room, c->carried.p, c->carried.n);
	s->bytes = c->carried.n;
	c->carried.n = 0;
	s->b.offset = c->offset;
	s->b.first_line = c->next_line;
	for (;; want = want < c->line_bytes_max / 4 ? 4 * want : c->line_bytes_max) {
		read_up_to(c, s, want);
		n = c->at_end ? s->bytes : whole_lines(c, s);
		if (n || s->bytes >= c->line_bytes_max || c->at_end)
			break;
	}
	report_progress(c);
	if (!s->bytes)
		return 0;
	if (n) {
		carry(c, str_skip((struct str){ s->room, s->bytes }, n));
		c->offset += n;
	} else {
		n = s->bytes;
		pass_over_line(c, s);
	}
	s->b.bytes = (struct str){ s->room, n };
	memset(s->room + n, ' ', json_padding());
	s->b.nr_lines = lines_count(s->b.bytes) + (s->room[n - 1] != '\n');
	c->next_line += s->b.nr_lines;
	return 1;
}

static void work(void *ctx, void *slot)
{
	struct chunks *c = ctx;

	c->format->parse(c->format->ctx, &((struct slot *)slot)->b);
}

/* The event outlives the chunk that it was parsed from, so its strings move. */
static void hold(struct chunks *c, const struct event *ev)
{
	struct str *strings[] = {
		&c->held.node,  &c->held.thread, &c->held.point, &c->held.key,
		&c->held.span,  &c->held.title,  &c->held.peer,  &c->held.id,
		&c->held.after, &c->held.attrs,  &c->held.text,  &c->held.values
	};

	c->held = *ev;
	arena_reset(&c->held_arena);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		*strings[i] = arena_str(&c->held_arena, *strings[i]);
	if (ev->mention)
		c->held.mention = mention_copy(ev->mention, &c->held_arena);
	c->has_held = true;
	c->held_is_undated = false;
}

static int deliver_held(struct chunks *c, struct error *err)
{
	if (!c->has_held)
		return 0;
	c->has_held = false;
	return c->sink->events(c->sink->to, &c->held, 1, err);
}

/* Lines that no event stands in front of are one themselves, from the first on that is not blank.
 */
static void hold_undated(struct chunks *c, struct batch *b)
{
	struct lines l = lines_of(str_head(b->bytes, b->continued_bytes));
	struct line line = { 0 };
	struct event ev;
	uint64_t nr = 0;

	while (lines_next(&l, &line) && !line.text.n)
		nr++;
	if (!line.text.n)
		return;
	c->format->begin_undated(c->format->ctx, b,
				 str_skip(str_head(b->bytes, b->continued_bytes),
					  (size_t)(line.text.p - b->bytes.p)),
				 &ev);
	ev.line = b->first_line + nr;
	ev.offset = b->offset + (uint64_t)(line.text.p - b->bytes.p);
	hold(c, &ev);
	c->held_is_undated = true;
}

/* Lines at the front of this chunk may belong to the event that was held back. */
static void continue_held(struct chunks *c, struct batch *b)
{
	uint64_t end = b->first_line + b->continued_lines, from = b->first_line;

	if (!b->continued_lines)
		return;
	if (!c->has_held) {
		hold_undated(c, b);
		from = c->held.line;
	}
	if (!c->has_held)
		return;
	if (c->held_is_undated)
		c->sink->losses->count[LOSS_LINES_NO_TIME] += end - from;
	c->held.length = b->offset + b->continued_bytes - c->held.offset;
	c->held.nr_lines = (uint32_t)(end - c->held.line);
}

/* The raw reference covers the whole of a line of which only the front was parsed. */
static void stretch_over_cut(struct batch *b)
{
	struct event *last = b->events.nr ? &b->events.v[b->events.nr - 1] : NULL;

	if (!b->is_cut)
		return;
	if (last)
		last->length = b->offset + b->whole_bytes - last->offset;
	else if (b->continued_lines)
		b->continued_bytes = b->whole_bytes;
}

static int drain(void *ctx, void *slot, struct error *err)
{
	struct chunks *c = ctx;
	struct batch *b = &((struct slot *)slot)->b;
	struct sink *sink = c->sink;
	int r = 0;

	stretch_over_cut(b);
	if (c->format->settle)
		r = c->format->settle(c->format->ctx, b, err);
	continue_held(c, b);
	losses_add(sink->losses, &b->losses);
	if (r >= 0 && b->spans.nr)
		r = sink->spans(sink->to, b->spans.v, b->spans.nr, err);
	if (r < 0 || !b->events.nr)
		return r < 0 ? r : 0;
	r = deliver_held(c, err);
	if (r >= 0 && b->events.nr > 1)
		r = sink->events(sink->to, b->events.v, b->events.nr - 1, err);
	if (r >= 0)
		hold(c, &b->events.v[b->events.nr - 1]);
	return r < 0 ? r : 0;
}

static struct slot *slots_new(const struct chunk_format *f, size_t nr, void **slots)
{
	struct slot *all = mem_zalloc(mem_bytes(nr, sizeof(*all)));

	for (size_t i = 0; i < nr; i++) {
		slots[i] = &all[i];
		if (f->open_worker)
			all[i].b.worker_state = f->open_worker(f->ctx);
	}
	return all;
}

static void slots_free(const struct chunk_format *f, size_t nr, struct slot *all)
{
	for (size_t i = 0; i < nr; i++) {
		struct batch *b = &all[i].b;

		if (f->close_worker)
			f->close_worker(b->worker_state);
		vec_done(&b->events);
		vec_done(&b->spans);
		arena_done(&b->arena);
		free(all[i].room);
	}
	free(all);
}

int chunks_read(struct input *in, const struct chunk_format *format, unsigned cores,
		struct sink *sink, struct error *err)
{
	size_t most = format->line_bytes_max;
	struct chunks c = { .in = in, .format = format, .sink = sink, .line_bytes_max = most };
	const struct pipeline p = { fill, work, drain, &c };
	void *slots[NR_SLOTS_MAX];
	struct slot *all;
	size_t nr_slots;
	int r;

	if (!cores)
		cores = pipeline_cores();
	/* one more than are worked on is filled ahead, one more waits to be drained */
	nr_slots = cores < 2 ? 1 : cores + 2 < NR_SLOTS_MAX ? cores + 2 : NR_SLOTS_MAX;
	c.chunk_bytes = most < CHUNK_BYTES ? most : CHUNK_BYTES;
	c.next_line = input_line(in);
	c.offset = input_start(in);
	all = slots_new(format, nr_slots, slots);
	r = pipeline_run(&p, slots, nr_slots, cores, err);
	if (r >= 0)
		r = deliver_held(&c, err);
	if (r >= 0 && c.failed) {
		r = error_set(err, c.failure.code, "%s", c.failure.msg);
		error_prefix(err, "'%s'", input_path(in));
	}
	report_progress(&c);
	slots_free(format, nr_slots, all);
	arena_done(&c.held_arena);
	free(c.carry);
	return r < 0 ? r : 0;
}
