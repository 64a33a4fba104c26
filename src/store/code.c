#include "store/code.h"

#include "base/arena.h"
#include "store/sym.h"

/* Differences of times and numbers are taken modulo 2^64: any value comes back, none overflows. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static char *put_float(char *p, float f)
{
	memcpy(p, &f, sizeof(f));
	return p + sizeof(f);
}

static bool take_raw(struct str *s, void *to, size_t n)
{
	if (s->n < n)
		return false;
	memcpy(to, s->p, n);
	*s = str_skip(*s, n);
	return true;
}

static bool take_u32(struct str *s, uint32_t *v)
{
	uint64_t wide;

	if (!str_take_varint(s, &wide) || wide > UINT32_MAX)
		return false;
	*v = (uint32_t)wide;
	return true;
}

/* --- events ---------------------------------------------------------------------------------- */

uint64_t code_tag(const struct event *ev)
{
	return (uint64_t)ev->level | (uint64_t)ev->kind << 3 | (uint64_t)ev->key_kind << 5 |
	       (uint64_t)ev->op << 8;
}

bool code_set_tag(struct event *ev, uint64_t tag)
{
	ev->level = tag & 7;
	ev->kind = tag >> 3 & 3;
	ev->key_kind = tag >> 5 & 7;
	ev->op = tag >> 8 & 3;
	return tag < 1 << 10 && ev->level <= LEVEL_FATAL && ev->kind <= EVENT_POINT &&
	       ev->key_kind <= KEY_TRACE && ev->op <= MESSAGE_RETURN;
}

void code_add_event(struct buf *to, const struct event_syms *syms, const struct event *ev,
		    uint64_t number)
{
	size_t strings = ev->node.n + ev->thread.n + ev->point.n + ev->title.n + ev->peer.n +
			 ev->key.n + ev->span.n + ev->id.n + ev->after.n;
	char *p = buf_room(to, 14 * U64_ROOM + 5 * SYM_ROOM + strings);

	p = put_u64(p, number);
	p = put_u64(p, code_tag(ev));
	p = put_s64(p, ev->ns);
	p = put_u64(p, (uint64_t)ev->duration + 1);
	p = put_u64(p, ev->file);
	p = put_u64(p, ev->nr_lines);
	p = put_u64(p, ev->line);
	p = put_u64(p, ev->offset);
	p = put_u64(p, ev->length);
	p = sym_put_known(syms->v[SYM_NODE], ev->node, p);
	p = sym_put_known(syms->v[SYM_THREAD], ev->thread, p);
	p = sym_put_known(syms->v[SYM_POINT], ev->point, p);
	p = sym_put_known(syms->v[SYM_TITLE], ev->title, p);
	p = sym_put_known(syms->v[SYM_PEER], ev->peer, p);
	p = put_bytes(p, ev->key);
	p = put_bytes(p, ev->span);
	p = put_bytes(p, ev->id);
	p = put_bytes(p, ev->after);
	to->n = (size_t)(p - to->p);
}

bool code_take_event(struct str *from, const struct syms *t, struct event *ev, uint64_t *number)
{
	uint64_t tag, duration;

	if (!str_take_varint(from, number) || !str_take_varint(from, &tag) ||
	    !code_set_tag(ev, tag) || !str_take_svarint(from, &ev->ns) ||
	    !str_take_varint(from, &duration))
		return false;
	ev->duration = (int64_t)(duration - 1);
	return take_u32(from, &ev->file) && take_u32(from, &ev->nr_lines) &&
	       str_take_varint(from, &ev->line) && str_take_varint(from, &ev->offset) &&
	       str_take_varint(from, &ev->length) && sym_take(t, from, &ev->node) &&
	       sym_take(t, from, &ev->thread) && sym_take(t, from, &ev->point) &&
	       sym_take(t, from, &ev->title) && sym_take(t, from, &ev->peer) &&
	       str_take_bytes(from, &ev->key) && str_take_bytes(from, &ev->span) &&
	       str_take_bytes(from, &ev->id) && str_take_bytes(from, &ev->after);
}

/* --- spans ----------------------------------------------------------------------------------- */

void code_add_span(struct buf *to, struct syms *t, const struct span *s, int64_t base)
{
	size_t strings = s->key.n + s->id.n + s->parent_id.n + s->name.n + s->node.n + s->host.n +
			 s->thread.n + s->links.n + s->attrs.n;
	char *p = buf_room(to, 11 * U64_ROOM + 4 * SYM_ROOM + strings);

	p = put_s64(p, minus(s->start, base));
	p = put_s64(p, minus(s->end, s->start));
	/* no parent is the commonest parent, and must not cost five bytes */
	p = put_u64(p, (uint32_t)(s->parent + 1));
	p = put_u64(p, (uint64_t)s->kind | (uint64_t)s->status << 3 | (uint64_t)s->follows << 5 |
			       (uint64_t)(s->confidence == 1) << 6 |
			       (uint64_t)(s->shift != 0) << 7);
	if (s->confidence != 1)
		p = put_float(p, s->confidence);
	if (s->shift)
		p = put_s64(p, s->shift);
	p = sym_put(t, SYM_NAME, s->name, p);
	p = sym_put(t, SYM_NODE, s->node, p);
	p = sym_put(t, SYM_HOST, s->host, p);
	p = sym_put(t, SYM_THREAD, s->thread, p);
	p = put_bytes(p, s->key);
	p = put_bytes(p, s->id);
	p = put_bytes(p, s->parent_id);
	p = put_bytes(p, s->links);
	p = put_bytes(p, s->attrs);
	to->n = (size_t)(p - to->p);
}

static bool take_span_head(struct str *from, struct span *s, int64_t base)
{
	uint64_t tag;

	if (!str_take_svarint(from, &s->start) || !str_take_svarint(from, &s->end) ||
	    !take_u32(from, &s->parent) || !str_take_varint(from, &tag) || tag >= 1 << 8)
		return false;
	s->start = plus(s->start, base);
	s->end = plus(s->end, s->start);
	s->parent--; /* of 0: SPAN_NONE */
	s->kind = tag & 7;
	s->status = tag >> 3 & 3;
	s->follows = tag >> 5 & 1;
	s->confidence = 1;
	s->shift = 0;
	return s->kind <= SPAN_WAIT && s->status <= STATUS_ERROR &&
	       ((tag >> 6 & 1) || take_raw(from, &s->confidence, sizeof(s->confidence))) &&
	       (!(tag >> 7) || str_take_svarint(from, &s->shift));
}

bool code_take_span(struct str *from, const struct syms *t, struct span *s, int64_t base)
{
	return take_span_head(from, s, base) && sym_take(t, from, &s->name) &&
	       sym_take(t, from, &s->node) && sym_take(t, from, &s->host) &&
	       sym_take(t, from, &s->thread) && str_take_bytes(from, &s->key) &&
	       str_take_bytes(from, &s->id) && str_take_bytes(from, &s->parent_id) &&
	       str_take_bytes(from, &s->links) && str_take_bytes(from, &s->attrs);
}

/* --- requests -------------------------------------------------------------------------------- */

void code_add_request(struct buf *to, struct syms *t, const struct request *r)
{
	size_t strings = r->type.n + r->key.n + r->method.n;
	char *p = buf_room(to, 8 * U64_ROOM + 2 * SYM_ROOM + strings);

	p = put_s64(p, r->start);
	p = put_s64(p, minus(r->end, r->start));
	p = put_u64(p,
		    (uint64_t)r->key_kind | (uint64_t)r->error << 3 | (uint64_t)r->incomplete << 4);
	p = put_u64(p, r->nr_spans);
	p = put_u64(p, r->nr_events);
	memcpy(p, &r->sequence, sizeof(r->sequence));
	p = put_float(p + sizeof(r->sequence), r->confidence);
	p = sym_put(t, SYM_TYPE, r->type, p);
	p = sym_put(t, SYM_METHOD, r->method, p);
	p = put_bytes(p, r->key);
	to->n = (size_t)(p - to->p);
}

bool code_take_request(struct str *from, const struct syms *t, struct request *r)
{
	uint64_t tag;

	if (!str_take_svarint(from, &r->start) || !str_take_svarint(from, &r->end) ||
	    !str_take_varint(from, &tag) || tag >= 1 << 5 || (tag & 7) > KEY_TRACE)
		return false;
	r->end = plus(r->end, r->start);
	r->key_kind = tag & 7;
	r->error = tag >> 3 & 1;
	r->incomplete = tag >> 4 & 1;
	return take_u32(from, &r->nr_spans) && take_u32(from, &r->nr_events) &&
	       take_raw(from, &r->sequence, sizeof(r->sequence)) &&
	       take_raw(from, &r->confidence, sizeof(r->confidence)) &&
	       sym_take(t, from, &r->type) && sym_take(t, from, &r->method) &&
	       str_take_bytes(from, &r->key);
}
