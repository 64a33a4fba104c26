#include "store/sym.h"

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

/* str_eq without a call for what is mostly short: words of eight, the last overlapping. */
static bool same_name(struct str a, struct str b)
{
	uint64_t x, y;
	size_t i;

	if (a.n != b.n)
		return false;
	if (a.n < 8)
		return str_eq(a, b);
	for (i = 0; i + 8 < a.n; i += 8) {
		memcpy(&x, a.p + i, 8);
		memcpy(&y, b.p + i, 8);
		if (x != y)
			return false;
	}
	memcpy(&x, a.p + a.n - 8, 8);
	memcpy(&y, b.p + b.n - 8, 8);
	return x == y;
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
	sym_t sym = sym_of(t, field, s);

	if (sym == SYM_INLINE)
		return put_bytes(put_u64(p, 1), s);
	return put_u64(p, sym ? (uint64_t)sym + 1 : 0);
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
