#include "store/sym.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "model/event.h"
#include "store/code.h"

enum {
	NAME_BYTES = 1024,      /* a longer name is hardly one that repeats */
	FIELD_NAMES = 64 << 10, /* of one field */
	TABLE_BYTES = 16 << 20, /* of all names together */
};

void syms_done(struct syms *t)
{
	names_done(&t->names);
	*t = (struct syms){ 0 };
}

/* A hash of the ends and the length: names of one field differ there, and a wrong guess only costs
 * the full lookup. */
static unsigned cache_slot(struct str s)
{
	uint64_t a = 0, b = 0;

	if (s.n >= 8) {
		memcpy(&a, s.p, 8);
		memcpy(&b, s.p + s.n - 8, 8);
	} else if (s.n >= 4) {
		memcpy(&a, s.p, 4);
		memcpy(&b, s.p + s.n - 4, 4);
	} else {
		a = (unsigned char)s.p[0];
		b = (uint64_t)(unsigned char)s.p[s.n / 2] << 8 | (unsigned char)s.p[s.n - 1];
	}
	a = (a ^ s.n) * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
	a = (a ^ a >> 32) * 0x9e3779b97f4a7c15u;
	return (unsigned)(a >> 54) % SYM_CACHE;
}

static sym_t find_or_add(struct syms *t, enum sym_field field, struct str s)
{
	sym_t sym = s.n <= NAME_BYTES ? names_find(&t->names, s) : 0;

	if (sym)
		return sym;
	if (s.n > NAME_BYTES || t->made[field] >= FIELD_NAMES || t->bytes + s.n > TABLE_BYTES)
		return SYM_INLINE;
	t->made[field]++;
	t->bytes += s.n;
	return names_add(&t->names, s);
}

#ifdef __SSE2__
/* Whether sixteen bytes are the same. */
static inline bool same_16(const char *a, const char *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

	return _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) == 0xffff;
}
#else
static inline bool same_16(const char *a, const char *b)
{
	return !memcmp(a, b, 16);
}
#endif

/* str_eq without a call for what is mostly short: sixteen at a time, the last overlapping. */
static bool same_name(struct str a, struct str b)
{
	uint64_t x, y, x_end, y_end;

	if (a.n != b.n)
		return false;
	if (a.n < 8)
		return str_eq(a, b);
	if (a.n < 16) {
		memcpy(&x, a.p, 8);
		memcpy(&y, b.p, 8);
		memcpy(&x_end, a.p + a.n - 8, 8);
		memcpy(&y_end, b.p + b.n - 8, 8);
		return x == y && x_end == y_end;
	}
	for (size_t i = 0; i + 16 < a.n; i += 16)
		if (!same_16(a.p + i, b.p + i))
			return false;
	return same_16(a.p + a.n - 16, b.p + b.n - 16);
}

sym_t sym_of(struct syms *t, enum sym_field field, struct str s)
{
	sym_t sym, *slot;

	if (!s.n)
		return 0;
	slot = &t->cache[field][cache_slot(s)];
	if (*slot && same_name(t->names.v[*slot], s))
		return *slot;
	sym = find_or_add(t, field, s);
	if (sym != SYM_INLINE)
		*slot = sym;
	return sym;
}

/* 0 is the empty name, 1 announces the bytes themselves, n + 1 is number n. */
char *sym_put(struct syms *t, enum sym_field field, struct str s, char *p)
{
	return sym_put_known(sym_of(t, field, s), s, p);
}

char *sym_put_known(sym_t sym, struct str s, char *p)
{
	if (sym == SYM_INLINE)
		return put_bytes(put_u64(p, 1), s);
	return put_u64(p, sym ? (uint64_t)sym + 1 : 0);
}

void syms_of_event(struct syms *t, const struct event *ev, struct event_syms *syms)
{
	syms->v[SYM_NODE] = sym_of(t, SYM_NODE, ev->node);
	syms->v[SYM_THREAD] = sym_of(t, SYM_THREAD, ev->thread);
	syms->v[SYM_POINT] = sym_of(t, SYM_POINT, ev->point);
	syms->v[SYM_TITLE] = sym_of(t, SYM_TITLE, ev->title);
	syms->v[SYM_PEER] = sym_of(t, SYM_PEER, ev->peer);
}

bool sym_take(const struct syms *t, struct str *from, struct str *s)
{
	uint64_t v;

	if (!str_take_varint(from, &v))
		return false;
	if (v == 1)
		return str_take_bytes(from, s);
	if (v > t->names.nr)
		return false;
	*s = v ? names_str(&t->names, (sym_t)(v - 1)) : STR("");
	return true;
}
