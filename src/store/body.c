/*
 * Bodies are most of a run. One column after another, each holding what is not to be expected:
 *
 *   nodes of the spans; spans of the events; numbers of the events; starts, durations, parents,
 *   tags, confidences, shifts, names, hosts, threads, texts of the spans; edges
 *
 * Numbers of events go on from the last one of the same node, whose lines stand together in the
 * store. Times are counted in the coarsest unit that loses nothing. Spans are called 1, 2, 3 where
 * the source gave them no name: that is not written.
 */
#include "store/body.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "store/code.h"
#include "store/sym.h"

enum {
	SLOTS = 64,    /* nodes that numbers of events are continued for */
	TAG_BITS = 8,  /* kind, status, follows, is sure, is shifted */
	ID_BYTES = 12, /* of a number, in decimal */
};

/* What needs no writing. */
enum { HAS_KEY = 1, HAS_ID = 2, HAS_PARENT_ID = 4, HAS_LINKS = 8, HAS_ATTRS = 16, HAS_ALL = 31 };

static const int64_t units[] = { 1, 1000, 1000000, 1000000000 };
enum { UNITS = sizeof(units) / sizeof(*units) };

/* Modulo 2^64: any value comes back, none overflows. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint8_t slot_of(struct str node)
{
	return (uint8_t)(str_hash(node) % SLOTS);
}

static struct str number_text(char *room, size_t number)
{
	size_t at = ID_BYTES;

	for (; at && number; number /= 10)
		room[--at] = (char)('0' + number % 10);
	return (struct str){ room + at, ID_BYTES - at };
}

/* --- writing --------------------------------------------------------------------------------- */

static void add_nodes(struct buf *to, struct syms *t, const struct request_body *b, uint8_t *slots)
{
	for (size_t i = 0; i < b->nr_spans; i++) {
		struct str node = b->spans[i].node;
		char *p = buf_room(to, SYM_ROOM + node.n);

		to->n = (size_t)(sym_put(t, SYM_NODE, node, p) - to->p);
		slots[i] = slot_of(node);
	}
}

static void add_events(struct buf *to, const struct request_body *b, const uint8_t *slots)
{
	uint64_t last[SLOTS + 1] = { 0 }, any = 0;
	char *p = buf_room(to, mem_bytes(b->nr_events, 2 * U64_ROOM));
	uint32_t before = 0;

	for (size_t i = 0; i < b->nr_events; i++) {
		uint32_t span = (b->event_span ? b->event_span[i] : SPAN_NONE) + 1;

		p = put_s64(p, (int64_t)span - (int64_t)before);
		before = span;
	}
	for (size_t i = 0; i < b->nr_events; i++) {
		uint32_t span = b->event_span ? b->event_span[i] : SPAN_NONE;
		uint64_t *from = &last[span == SPAN_NONE ? SLOTS : slots[span]];

		p = put_s64(p, (int64_t)(b->events[i] - (*from ? *from : any)));
		*from = any = b->events[i];
	}
	to->n = (size_t)(p - to->p);
}

/* The coarsest unit in which nothing is lost. */
static unsigned unit_of(const struct request *r, const struct request_body *b)
{
	unsigned unit = UNITS - 1;

	for (size_t i = 0; i < b->nr_spans && unit; i++) {
		const struct span *s = &b->spans[i];

		while (unit && (minus(s->start, r->start) % units[unit] ||
				minus(s->end, s->start) % units[unit]))
			unit--;
	}
	return unit;
}

static uint64_t tag_of(const struct span *s)
{
	return (uint64_t)s->kind | (uint64_t)s->status << 3 | (uint64_t)s->follows << 5 |
	       (uint64_t)(s->confidence != 1) << 6 | (uint64_t)(s->shift != 0) << 7;
}

static void add_times(struct buf *to, const struct request *r, const struct request_body *b)
{
	unsigned unit = unit_of(r, b);
	char *p = buf_room(to, mem_bytes(b->nr_spans + 1, 6 * U64_ROOM));
	int64_t last = 0;

	*p++ = (char)unit;
	for (size_t i = 0; i < b->nr_spans; i++) {
		int64_t start = minus(b->spans[i].start, r->start) / units[unit];

		p = put_s64(p, minus(start, last));
		last = start;
	}
	for (size_t i = 0; i < b->nr_spans; i++)
		p = put_s64(p, minus(b->spans[i].end, b->spans[i].start) / units[unit]);
	/* no parent is the commonest parent, and must not cost five bytes */
	for (size_t i = 0; i < b->nr_spans; i++)
		p = put_u64(p, (uint32_t)(b->spans[i].parent + 1));
	for (size_t i = 0; i < b->nr_spans; i++)
		p = put_u64(p, tag_of(&b->spans[i]));
	for (size_t i = 0; i < b->nr_spans; i++)
		if (b->spans[i].confidence != 1) {
			memcpy(p, &b->spans[i].confidence, sizeof(float));
			p += sizeof(float);
		}
	for (size_t i = 0; i < b->nr_spans; i++)
		if (b->spans[i].shift)
			p = put_s64(p, b->spans[i].shift);
	to->n = (size_t)(p - to->p);
}

static void add_names(struct buf *to, struct syms *t, const struct request_body *b)
{
	for (int column = 0; column < 3; column++)
		for (size_t i = 0; i < b->nr_spans; i++) {
			const struct span *s = &b->spans[i];
			struct str name = column == 0 ? s->name : column == 1 ? s->host : s->thread;
			enum sym_field field = column == 0   ? SYM_NAME
					       : column == 1 ? SYM_HOST
							     : SYM_THREAD;
			char *p = buf_room(to, SYM_ROOM + name.n);

			to->n = (size_t)(sym_put(t, field, name, p) - to->p);
		}
}

static unsigned texts_of(const struct request *r, const struct span *s, size_t at)
{
	char room[ID_BYTES];

	return (str_eq(s->key, r->key) ? 0 : HAS_KEY) |
	       (str_eq(s->id, number_text(room, at + 1)) ? 0 : HAS_ID) |
	       (s->parent_id.n ? HAS_PARENT_ID : 0) | (s->links.n ? HAS_LINKS : 0) |
	       (s->attrs.n ? HAS_ATTRS : 0);
}

static void add_texts(struct buf *to, const struct request *r, const struct request_body *b)
{
	for (size_t i = 0; i < b->nr_spans; i++)
		buf_char(to, (char)texts_of(r, &b->spans[i], i));
	for (size_t i = 0; i < b->nr_spans; i++) {
		const struct span *s = &b->spans[i];
		unsigned has = texts_of(r, s, i);

		if (has & HAS_KEY)
			buf_bytes(to, s->key);
		if (has & HAS_ID)
			buf_bytes(to, s->id);
		if (has & HAS_PARENT_ID)
			buf_bytes(to, s->parent_id);
		if (has & HAS_LINKS)
			buf_bytes(to, s->links);
		if (has & HAS_ATTRS)
			buf_bytes(to, s->attrs);
	}
}

/* An edge is as sure as the span that it leads to, mostly. */
static void add_edges(struct buf *to, const struct request_body *b)
{
	char *p = buf_room(to, mem_bytes(b->nr_edges + 1, 4 * U64_ROOM));
	uint32_t last = 0;

	p = put_u64(p, b->nr_edges);
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];
		bool is_other = e->confidence != b->spans[e->to].confidence;

		p = put_s64(p, (int64_t)e->to - (int64_t)last);
		p = put_s64(p, (int64_t)e->to - (int64_t)e->from);
		p = put_u64(p, (uint64_t)e->kind << 1 | is_other);
		if (is_other) {
			memcpy(p, &e->confidence, sizeof(float));
			p += sizeof(float);
		}
		last = e->to;
	}
	to->n = (size_t)(p - to->p);
}

void body_add(struct buf *to, struct syms *t, const struct request *r, const struct request_body *b)
{
	uint8_t *slots = mem_alloc(b->nr_spans + 1);

	add_nodes(to, t, b, slots);
	add_events(to, b, slots);
	free(slots);
	add_times(to, r, b);
	add_names(to, t, b);
	add_texts(to, r, b);
	add_edges(to, b);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool take_float(struct str *from, float *f)
{
	if (from->n < sizeof(*f))
		return false;
	memcpy(f, from->p, sizeof(*f));
	*from = str_skip(*from, sizeof(*f));
	return true;
}

/* spans is NULL where only the slots are wanted. */
static bool take_nodes(struct str *from, const struct syms *t, uint32_t nr, struct span *spans,
		       uint8_t *slots)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct str node;

		if (!sym_take(t, from, &node))
			return false;
		slots[i] = slot_of(node);
		if (spans)
			spans[i] = (struct span){ .node = node };
	}
	return true;
}

static bool take_event_spans(struct str *from, const struct request *r, uint32_t *span)
{
	int64_t before = 0, step;

	for (uint32_t i = 0; i < r->nr_events; i++) {
		if (!str_take_svarint(from, &step))
			return false;
		before = plus(before, step);
		if (before < 0 || before > r->nr_spans)
			return false;
		span[i] = (uint32_t)before - 1;
	}
	return true;
}

static bool take_numbers(struct str *from, const struct request *r, const uint8_t *slots,
			 const uint32_t *span, uint64_t *events)
{
	uint64_t last[SLOTS + 1] = { 0 }, any = 0;

	for (uint32_t i = 0; i < r->nr_events; i++) {
		uint64_t *at = &last[span[i] == SPAN_NONE ? SLOTS : slots[span[i]]];
		int64_t step;

		if (!str_take_svarint(from, &step))
			return false;
		events[i] = *at = any = (*at ? *at : any) + (uint64_t)step;
	}
	return true;
}

/* Each takes at least a byte, so that a damaged number cannot ask for all memory. */
static bool can_be(const struct str *from, const struct request *r)
{
	return r->nr_events <= from->n && r->nr_spans <= from->n;
}

bool body_take_event_numbers(struct str *from, const struct syms *t, const struct request *r,
			     uint64_t *events)
{
	uint32_t *span;
	uint8_t *slots;
	bool is_good;

	if (!can_be(from, r))
		return false;
	slots = mem_alloc(r->nr_spans + (size_t)1);
	span = mem_alloc(mem_bytes(r->nr_events + (size_t)1, sizeof(*span)));
	is_good = take_nodes(from, t, r->nr_spans, NULL, slots) &&
		  take_event_spans(from, r, span) && take_numbers(from, r, slots, span, events);
	free(span);
	free(slots);
	return is_good;
}

static bool take_starts(struct str *from, const struct request *r, struct span *v)
{
	int64_t last = 0, step;
	unsigned unit = from->n ? (unsigned char)from->p[0] : UNITS;

	if (unit >= UNITS)
		return false;
	*from = str_skip(*from, 1);
	for (uint32_t i = 0; i < r->nr_spans; i++) {
		if (!str_take_svarint(from, &step))
			return false;
		last = plus(last, step);
		v[i].start = plus(r->start, (int64_t)((uint64_t)last * (uint64_t)units[unit]));
	}
	for (uint32_t i = 0; i < r->nr_spans; i++) {
		if (!str_take_svarint(from, &step))
			return false;
		v[i].end = plus(v[i].start, (int64_t)((uint64_t)step * (uint64_t)units[unit]));
	}
	return true;
}

static bool take_tags(struct str *from, const struct request *r, struct span *v)
{
	uint64_t tag;

	for (uint32_t i = 0; i < r->nr_spans; i++) {
		if (!str_take_varint(from, &tag) || tag > i)
			return false;
		v[i].parent = (uint32_t)tag - 1; /* of 0: SPAN_NONE */
	}
	for (uint32_t i = 0; i < r->nr_spans; i++) {
		if (!str_take_varint(from, &tag) || tag >> TAG_BITS)
			return false;
		v[i].kind = tag & 7;
		v[i].status = tag >> 3 & 3;
		v[i].follows = tag >> 5 & 1;
		v[i].confidence = tag >> 6 & 1 ? 0 : 1;
		v[i].shift = tag >> 7;
		if (v[i].kind > SPAN_WAIT || v[i].status > STATUS_ERROR)
			return false;
	}
	for (uint32_t i = 0; i < r->nr_spans; i++)
		if (v[i].confidence != 1 && !take_float(from, &v[i].confidence))
			return false;
	for (uint32_t i = 0; i < r->nr_spans; i++)
		if (v[i].shift && !str_take_svarint(from, &v[i].shift))
			return false;
	return true;
}

static bool take_names(struct str *from, const struct syms *t, const struct request *r,
		       struct span *v)
{
	for (uint32_t i = 0; i < r->nr_spans; i++)
		if (!sym_take(t, from, &v[i].name))
			return false;
	for (uint32_t i = 0; i < r->nr_spans; i++)
		if (!sym_take(t, from, &v[i].host))
			return false;
	for (uint32_t i = 0; i < r->nr_spans; i++)
		if (!sym_take(t, from, &v[i].thread))
			return false;
	return true;
}

static bool take_texts(struct str *from, const struct request *r, struct arena *arena,
		       struct span *v)
{
	struct str has = str_head(*from, r->nr_spans);

	if (has.n < r->nr_spans)
		return false;
	*from = str_skip(*from, has.n);
	for (uint32_t i = 0; i < r->nr_spans; i++) {
		unsigned texts = (unsigned char)has.p[i];

		v[i].key = r->key;
		if (texts > HAS_ALL || ((texts & HAS_KEY) && !str_take_bytes(from, &v[i].key)) ||
		    ((texts & HAS_ID) && !str_take_bytes(from, &v[i].id)) ||
		    ((texts & HAS_PARENT_ID) && !str_take_bytes(from, &v[i].parent_id)) ||
		    ((texts & HAS_LINKS) && !str_take_bytes(from, &v[i].links)) ||
		    ((texts & HAS_ATTRS) && !str_take_bytes(from, &v[i].attrs)))
			return false;
		if (!(texts & HAS_ID))
			v[i].id = number_text(arena_alloc(arena, ID_BYTES), i + (size_t)1);
	}
	return true;
}

static bool take_edges(struct str *from, const struct request *r, struct arena *arena,
		       struct request_body *b)
{
	uint64_t nr;
	int64_t to = 0, step, back;

	if (!str_take_varint(from, &nr) || nr > from->n)
		return false;
	b->nr_edges = nr;
	b->edges = arena_array(arena, struct edge, nr);
	for (size_t i = 0; i < nr; i++) {
		struct edge *e = &b->edges[i];
		uint64_t kind;

		if (!str_take_svarint(from, &step) || !str_take_svarint(from, &back) ||
		    !str_take_varint(from, &kind) || kind >> 1 > EDGE_LINK)
			return false;
		to = plus(to, step);
		back = minus(to, back);
		if (to < 0 || to >= r->nr_spans || back < 0 || back >= r->nr_spans)
			return false;
		*e = (struct edge){ .from = (uint32_t)back,
				    .to = (uint32_t)to,
				    .kind = (enum edge_kind)(kind >> 1),
				    .confidence = b->spans[to].confidence };
		if ((kind & 1) && !take_float(from, &e->confidence))
			return false;
	}
	return true;
}

bool body_take(struct str *from, const struct syms *t, const struct request *r, struct arena *arena,
	       struct request_body *b)
{
	uint8_t *slots;

	if (!can_be(from, r))
		return false;
	*b = (struct request_body){ .nr_spans = r->nr_spans, .nr_events = r->nr_events };
	b->events = arena_array(arena, uint64_t, b->nr_events);
	b->event_span = arena_array(arena, uint32_t, b->nr_events);
	b->spans = arena_array(arena, struct span, b->nr_spans);
	slots = arena_array(arena, uint8_t, b->nr_spans);
	return take_nodes(from, t, r->nr_spans, b->spans, slots) &&
	       take_event_spans(from, r, b->event_span) &&
	       take_numbers(from, r, slots, b->event_span, b->events) &&
	       take_starts(from, r, b->spans) && take_tags(from, r, b->spans) &&
	       take_names(from, t, r, b->spans) && take_texts(from, r, arena, b->spans) &&
	       take_edges(from, r, arena, b);
}
