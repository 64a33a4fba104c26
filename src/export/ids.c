#include "export/ids.h"

struct str ids_trace(const struct fed *x, const struct span *s)
{
	const struct request *r = x->r;

	if (s->key.n)
		return s->key;
	if (!r->key.n)
		return arena_fmt(x->arena, "%032llx", (unsigned long long)r->id);
	/* several requests may work on one thing, and message ids are used again */
	if (r->key_kind == KEY_WORK || r->key_kind == KEY_CALL)
		return arena_fmt(x->arena, STR_FMT "/%llu", STR_ARG(r->key),
				 (unsigned long long)r->id);
	return r->key;
}

struct str ids_span(const struct fed *x, size_t position)
{
	const struct span *s = &x->body->spans[position];

	/* from 1: an id of zeros means none */
	return s->id.n ? s->id : arena_fmt(x->arena, "%016zx", position + 1);
}

struct str ids_parent(const struct fed *x, size_t position)
{
	const struct span *s = &x->body->spans[position];

	if (s->parent < x->body->nr_spans)
		return ids_span(x, s->parent);
	return s->parent_id;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("0123456789abcdef", s.p[i], 16))
			return false;
	return true;
}

struct str ids_hex(struct arena *a, struct str id, size_t digits)
{
	struct buf text = { 0 };
	struct str hex;

	if (id.n == digits && is_hex(id))
		return id;
	if (id.n <= digits && is_hex(id)) {
		for (size_t i = id.n; i < digits; i++)
			buf_char(&text, '0');
		buf_add(&text, id);
	} else {
		/* the second half differs from the first by what is hashed, not by a seed */
		buf_fmt(&text, "%016llx", (unsigned long long)str_hash(id));
		if (digits > 16)
			buf_fmt(&text, "%016llx", (unsigned long long)str_hash(buf_str(&text)));
	}
	hex = arena_str(a, str_head(buf_str(&text), digits));
	buf_done(&text);
	return hex;
}
