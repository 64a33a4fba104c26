#include "query/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/total.h"

#define SHIFT_FIRST 44 /* leaves 8 bits of the fraction */
#define SHIFT_POWERS 52
#define SHIFT_LAST 63
#define SIGN ((uint64_t)1 << 63)
#define ROOM (4 * SPREAD_MAX) /* before equal ones are put together */

void spread_done(struct spread *s)
{
	vec_done(&s->v);
	*s = (struct spread){ 0 };
}

void spread_by_powers(struct spread *s)
{
	s->shift = SHIFT_POWERS;
}

static uint64_t key_of(double v)
{
	uint64_t bits;

	v += 0.0; /* there is one zero */
	memcpy(&bits, &v, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double number_of(uint64_t key, unsigned shift)
{
	uint64_t zero = key_of(0) >> shift << shift, bits;
	double v;

	if (shift && key != zero)
		key |= (uint64_t)1 << (shift - 1);
	bits = key & SIGN ? key & ~SIGN : ~key;
	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) && key != zero ? v : 0;
}

static int by_key(const void *a, const void *b)
{
	const struct spread_range *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Sorted, each key once, of as many bits as there is room for. */
static void settle(struct spread *s)
{
	if (s->nr_sorted == s->v.nr)
		return;
	qsort(s->v.v, s->v.nr, sizeof(*s->v.v), by_key);
	for (;;) {
		size_t nr = 0;

		vec_each (&s->v, r) {
			uint64_t key = r->key >> s->shift << s->shift;

			if (nr && s->v.v[nr - 1].key == key)
				s->v.v[nr - 1].times += r->times;
			else
				s->v.v[nr++] = (struct spread_range){ key, r->times };
		}
		s->v.nr = s->nr_sorted = nr;
		if (nr <= SPREAD_MAX || s->shift == SHIFT_LAST)
			return;
		s->shift = s->shift < SHIFT_FIRST ? SHIFT_FIRST : (uint8_t)(s->shift + 1);
	}
}

static void push(struct spread *s, uint64_t key, uint64_t times)
{
	vec_push(&s->v, (struct spread_range){ key, times });
	if (s->v.nr >= ROOM)
		settle(s);
}

void spread_add(struct spread *s, double v, uint64_t times)
{
	push(s, key_of(v), times);
}

void spread_merge(struct spread *to, const struct spread *from)
{
	if (from->shift > to->shift) {
		to->shift = from->shift;
		to->nr_sorted = 0;
	}
	vec_each (&from->v, r)
		push(to, r->key, r->times);
	settle(to);
}

double spread_percentile(struct spread *s, double percent)
{
	uint64_t nr = 0, seen = 0, rank;

	settle(s);
	vec_each (&s->v, r)
		nr += r->times;
	rank = (uint64_t)ceil(percent / 100 * (double)nr);
	vec_each (&s->v, r) {
		seen += r->times;
		if (seen >= rank)
			return number_of(r->key, s->shift);
	}
	return 0;
}

bool spread_is_coarse(const struct spread *s)
{
	return s->shift != 0;
}

void spread_buckets(struct spread *s, struct buckets *b)
{
	struct total t = { 0 };

	settle(s);
	vec_each (&s->v, r) {
		struct weighted w = { value_double(number_of(r->key, s->shift)), r->times };

		vec_push(&t.all, w);
	}
	total_buckets(&t, b, NULL);
	total_done(&t);
}

void spread_pack(struct buf *b, struct spread *s)
{
	uint64_t last = 0;

	settle(s);
	buf_varint(b, s->shift);
	buf_varint(b, s->v.nr);
	vec_each (&s->v, r) {
		buf_varint(b, (r->key >> s->shift) - last);
		buf_varint(b, r->times);
		last = r->key >> s->shift;
	}
}

bool spread_take(struct str *bytes, struct spread *s)
{
	uint64_t shift, nr, key = 0, step, times;

	if (!str_take_varint(bytes, &shift) || shift > SHIFT_LAST ||
	    (shift && shift < SHIFT_FIRST) || !str_take_varint(bytes, &nr) || nr > SPREAD_MAX)
		return false;
	s->shift = (uint8_t)shift;
	for (uint64_t i = 0; i < nr; i++) {
		if (!str_take_varint(bytes, &step) || !str_take_varint(bytes, &times) || !times ||
		    (i && !step) || step > (UINT64_MAX >> shift) - key)
			goto broken;
		key += step;
		vec_push(&s->v, (struct spread_range){ key << shift, times });
	}
	s->nr_sorted = s->v.nr;
	return true;
broken:
	spread_done(s);
	return false;
}
