/*
 * As bytes: the request, then its spans, edges and events one after the other. A text that was said
 * before is its number; a new one has the next number, and the text behind it.
 */
#include "infer/requests/fragment.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "model/operations.h"
#include "store/store.h"

/* Operations keep their order and get the numbers that they have without those left out. */
static void leave_placed(struct fragment *f, const struct store *s)
{
	struct request_body *b = &f->body;
	struct map numbers = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < b->nr_events; i++) {
		uint64_t *number;

		if (store_is_placed(s, b->events[i]))
			continue;
		number = map_at(&numbers, f->operation[i]);
		if (!*number)
			*number = numbers.nr;
		b->events[nr] = b->events[i];
		b->event_span[nr] = b->event_span[i];
		f->operation[nr++] = (uint32_t)*number;
	}
	b->nr_events = nr;
	map_done(&numbers);
}

int fragment_store(struct fragment *f, struct store *s, bool skips_placed, struct error *err)
{
	struct buf attrs = { 0 };
	int got;

	if (skips_placed)
		leave_placed(f, s);
	if (!f->body.nr_events)
		return 0;
	operations_add(&attrs, f->operation, f->body.nr_events);
	buf_add(&attrs, f->why);
	f->body.spans[0].attrs = buf_str(&attrs);
	got = store_add_request(s, &f->r, &f->body, err);
	buf_done(&attrs);
	return got;
}

/* --- as bytes ------------------------------------------------------------------------------- */

static sym_t next_number(const struct names *said)
{
	return said->nr ? said->nr : 1;
}

static void put_text(struct buf *b, struct names *said, struct str s)
{
	sym_t next = next_number(said), number = names_add(said, s);

	buf_varint(b, number);
	if (number == next)
		buf_bytes(b, s);
}

static bool take_text(struct str *from, struct names *said, struct str *s)
{
	uint64_t number;

	if (!str_take_varint(from, &number) || number > next_number(said))
		return false;
	if (number == next_number(said) &&
	    (!str_take_bytes(from, s) || names_add(said, *s) != number))
		return false;
	*s = number ? names_str(said, (sym_t)number) : STR("");
	return true;
}

static void put_float(struct buf *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	buf_varint(b, bits);
}

static bool take_below(struct str *s, uint64_t limit, uint32_t *v)
{
	uint64_t n;

	if (!str_take_varint(s, &n) || n >= limit)
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool take_float(struct str *s, float *v)
{
	uint32_t bits;

	if (!take_below(s, UINT64_C(1) << 32, &bits))
		return false;
	memcpy(v, &bits, sizeof(bits));
	return true;
}

/* What is not written here no request has that was rebuilt from lines. */
static void put_span(struct buf *b, struct names *said, const struct span *s, int64_t base)
{
	buf_svarint(b, (int64_t)((uint64_t)s->start - (uint64_t)base));
	buf_svarint(b, (int64_t)((uint64_t)s->end - (uint64_t)s->start));
	buf_svarint(b, s->shift);
	buf_varint(b, s->parent == SPAN_NONE ? 0 : s->parent + UINT64_C(1));
	buf_varint(b, (uint64_t)s->kind << 3 | (uint64_t)s->status << 1 | s->follows);
	put_float(b, s->confidence);
	put_text(b, said, s->id);
	put_text(b, said, s->name);
	put_text(b, said, s->node);
	put_text(b, said, s->thread);
}

static bool take_span(struct str *from, struct names *said, struct span *s, int64_t base)
{
	int64_t start, length;
	uint32_t parent, kind;

	if (!str_take_svarint(from, &start) || !str_take_svarint(from, &length) ||
	    !str_take_svarint(from, &s->shift) || !take_below(from, SPAN_NONE, &parent) ||
	    !take_below(from, (SPAN_WAIT + 1) << 3, &kind) || (kind >> 1 & 3) > STATUS_ERROR ||
	    !take_float(from, &s->confidence) || !take_text(from, said, &s->id) ||
	    !take_text(from, said, &s->name) || !take_text(from, said, &s->node) ||
	    !take_text(from, said, &s->thread))
		return false;
	s->start = (int64_t)((uint64_t)base + (uint64_t)start);
	s->end = (int64_t)((uint64_t)s->start + (uint64_t)length);
	s->parent = parent ? parent - 1 : SPAN_NONE;
	s->kind = (enum span_kind)(kind >> 3);
	s->status = (enum span_status)(kind >> 1 & 3);
	s->follows = kind & 1;
	return true;
}

static void put_request(struct buf *b, struct names *said, const struct request *r)
{
	put_text(b, said, r->type);
	put_text(b, said, r->method);
	buf_svarint(b, r->start);
	buf_svarint(b, (int64_t)((uint64_t)r->end - (uint64_t)r->start));
	buf_varint(b, r->sequence);
	buf_varint(b, r->error | (unsigned)r->incomplete << 1);
	put_float(b, r->confidence);
}

static bool take_request(struct str *s, struct names *said, struct request *r)
{
	int64_t length;
	uint32_t flags;

	if (!take_text(s, said, &r->type) || !take_text(s, said, &r->method) ||
	    !str_take_svarint(s, &r->start) || !str_take_svarint(s, &length) ||
	    !str_take_varint(s, &r->sequence) || !take_below(s, 4, &flags) ||
	    !take_float(s, &r->confidence))
		return false;
	r->end = (int64_t)((uint64_t)r->start + (uint64_t)length);
	r->error = flags & 1;
	r->incomplete = flags >> 1;
	return true;
}

void packet_clear(struct packet *p)
{
	names_done(&p->said);
	p->said = (struct names){ 0 };
	buf_clear(&p->bytes);
}

void packet_done(struct packet *p)
{
	names_done(&p->said);
	buf_done(&p->bytes);
	*p = (struct packet){ 0 };
}

void packet_add(struct packet *p, const struct fragment *f)
{
	const struct request_body *body = &f->body;
	struct names *said = &p->said;
	struct buf *b = &p->bytes;
	uint64_t before = 0;

	put_request(b, said, &f->r);
	buf_varint(b, body->nr_spans);
	for (size_t i = 0; i < body->nr_spans; i++)
		put_span(b, said, &body->spans[i], f->r.start);
	buf_varint(b, body->nr_edges);
	for (size_t i = 0; i < body->nr_edges; i++) {
		buf_varint(b, body->edges[i].from);
		buf_varint(b, body->edges[i].to);
		buf_varint(b, body->edges[i].kind);
		put_float(b, body->edges[i].confidence);
	}
	buf_varint(b, body->nr_events);
	for (size_t i = 0; i < body->nr_events; i++) {
		buf_svarint(b, (int64_t)(body->events[i] - before));
		buf_varint(b, body->event_span[i]);
		buf_varint(b, f->operation[i]);
		before = body->events[i];
	}
	buf_bytes(b, f->why);
}

/* Each of them takes a byte and more, so that no number makes more room than there are bytes. */
static bool take_number(struct str *s, size_t *nr)
{
	uint32_t n;

	if (!take_below(s, s->n + 1, &n))
		return false;
	*nr = n;
	return true;
}

static bool take_spans(struct str *s, struct names *said, struct arena *arena, struct fragment *f)
{
	struct request_body *b = &f->body;

	if (!take_number(s, &b->nr_spans) || !b->nr_spans)
		return false;
	b->spans = arena_array(arena, struct span, b->nr_spans);
	for (size_t i = 0; i < b->nr_spans; i++)
		if (!take_span(s, said, &b->spans[i], f->r.start))
			return false;
	return true;
}

static bool take_edges(struct str *s, struct arena *arena, struct request_body *b)
{
	if (!take_number(s, &b->nr_edges))
		return false;
	b->edges = arena_array(arena, struct edge, b->nr_edges);
	for (size_t i = 0; i < b->nr_edges; i++) {
		struct edge *e = &b->edges[i];
		uint32_t kind;

		if (!take_below(s, b->nr_spans, &e->from) || !take_below(s, b->nr_spans, &e->to) ||
		    !take_below(s, EDGE_LINK + 1, &kind) || !take_float(s, &e->confidence))
			return false;
		e->kind = (enum edge_kind)kind;
	}
	return true;
}

static bool take_events(struct str *s, struct arena *arena, struct fragment *f)
{
	struct request_body *b = &f->body;
	uint64_t before = 0;
	int64_t step;

	if (!take_number(s, &b->nr_events))
		return false;
	b->events = arena_array(arena, uint64_t, b->nr_events);
	b->event_span = arena_array(arena, uint32_t, b->nr_events);
	f->operation = arena_array(arena, uint32_t, b->nr_events);
	for (size_t i = 0; i < b->nr_events; i++) {
		if (!str_take_svarint(s, &step) || !take_below(s, b->nr_spans, &b->event_span[i]) ||
		    !take_below(s, UINT32_MAX, &f->operation[i]))
			return false;
		b->events[i] = before += (uint64_t)step;
	}
	return true;
}

bool packet_take(struct str *s, struct names *said, struct arena *arena, struct fragment *f)
{
	*f = (struct fragment){ 0 };
	return take_request(s, said, &f->r) && take_spans(s, said, arena, f) &&
	       take_edges(s, arena, &f->body) && take_events(s, arena, f) &&
	       str_take_bytes(s, &f->why);
}
