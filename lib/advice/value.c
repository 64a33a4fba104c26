#include "lib/advice/value.h"

#include "lib/advice/real.h"

#define EXACT ((uint64_t)1 << 53) /* whole numbers below are exact as real ones */
#define POWER 22                  /* and powers of ten up to this */

static struct advice_value nothing(void)
{
	return (struct advice_value){ .type = ADVICE_NULL };
}

static struct advice_value whole(int64_t i)
{
	return (struct advice_value){ .type = ADVICE_INT, .i = i };
}

static struct advice_value real(uint64_t bits)
{
	return (struct advice_value){ .type = ADVICE_REAL, .real = bits };
}

static struct advice_value truth(bool is)
{
	return (struct advice_value){ .type = ADVICE_BOOL, .i = is };
}

/* --- texts that are numbers ------------------------------------------------------------------- */

struct chars {
	const char *p;
	size_t n;
};

static bool take_char(struct chars *s, char c)
{
	if (!s->n || *s->p != c)
		return false;
	s->p++;
	s->n--;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Adds digits behind those that are there; how many, or -1 where they do not fit. */
static int take_digits(struct chars *s, uint64_t *v)
{
	int nr = 0;

	for (; s->n && *s->p >= '0' && *s->p <= '9'; s->p++, s->n--, nr++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(*s->p - '0'), v))
			return -1;
	return nr;
}

static uint64_t power_of_ten(int n)
{
	uint64_t p = real_of(1), ten = real_of(10);

	while (n-- > 0)
		p = real_mul(p, ten);
	return p;
}

static bool take_exponent(struct chars *s, int *exponent)
{
	uint64_t by = 0;
	bool is_negative;

	if (!take_char(s, 'e') && !take_char(s, 'E'))
		return true;
	is_negative = take_char(s, '-');
	if (!is_negative)
		take_char(s, '+');
	if (take_digits(s, &by) < 1 || by > 2 * POWER)
		return false;
	*exponent += is_negative ? -(int)by : (int)by;
	return true;
}

/* As strtod, of those whose digits and power of ten are exact; others are no numbers here. */
static bool number_of_text(struct chars s, struct advice_value *to)
{
	bool is_negative;
	uint64_t v = 0, bits;
	int before, behind = 0, exponent;

	for (; s.n && is_space(*s.p); s.p++)
		s.n--;
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	is_negative = take_char(&s, '-');
	before = take_digits(&s, &v);
	if (before > 0 && !s.n && v <= (uint64_t)INT64_MAX + is_negative) {
		*to = whole(is_negative ? (int64_t)(0 - v) : (int64_t)v);
		return true;
	}
	if (take_char(&s, '.'))
		behind = take_digits(&s, &v);
	exponent = -behind;
	if (before < 0 || behind < 0 || before + behind == 0 || v > EXACT ||
	    !take_exponent(&s, &exponent) || s.n || exponent > POWER || exponent < -POWER)
		return false;
	bits = exponent < 0 ? real_div(real_of((int64_t)v), power_of_ten(-exponent))
			    : real_mul(real_of((int64_t)v), power_of_ten(exponent));
	*to = real(is_negative ? bits ^ REAL_SIGN : bits);
	return true;
}

bool advice_number(const struct advice_value *v, struct advice_value *number)
{
	if (v->type == ADVICE_TEXTUAL)
		return number_of_text((struct chars){ v->text, v->length }, number);
	*number = *v;
	return v->type == ADVICE_INT || v->type == ADVICE_REAL;
}

/* --- comparing -------------------------------------------------------------------------------- */

static uint64_t as_real(const struct advice_value *v)
{
	return v->type == ADVICE_REAL ? v->real : real_of(v->i);
}

static int cmp_texts(const struct advice_value *a, const struct advice_value *b)
{
	size_t n = a->length < b->length ? a->length : b->length;

	for (size_t i = 0; i < n; i++)
		if (a->text[i] != b->text[i])
			return (unsigned char)a->text[i] < (unsigned char)b->text[i] ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

static int rank(const struct advice_value *v)
{
	return v->type == ADVICE_NULL ? 0 : v->type == ADVICE_TEXTUAL ? 2 : 1;
}

int advice_cmp(const struct advice_value *a, const struct advice_value *b)
{
	int ra = rank(a), rb = rank(b);

	if (ra != rb)
		return ra < rb ? -1 : 1;
	if (!ra)
		return 0;
	if (ra == 2)
		return cmp_texts(a, b);
	if (a->type != ADVICE_REAL && b->type != ADVICE_REAL)
		return (a->i > b->i) - (a->i < b->i);
	return real_cmp(as_real(a), as_real(b));
}

bool advice_holds(const struct advice_value *v)
{
	return (v->type == ADVICE_BOOL || v->type == ADVICE_INT) && v->i;
}

bool advice_compare(uint8_t op, const struct advice_value *a, const struct advice_value *b,
		    struct advice_value *to)
{
	struct advice_value x, y;
	int cmp;

	*to = nothing();
	if (a->type == ADVICE_NULL || b->type == ADVICE_NULL)
		return true;
	if ((a->type == ADVICE_TEXTUAL) != (b->type == ADVICE_TEXTUAL)) {
		if (advice_number(a, &x) && advice_number(b, &y)) {
			a = &x;
			b = &y;
		} else if (op != ADVICE_EQ && op != ADVICE_NE) {
			return false;
		}
	}
	cmp = advice_cmp(a, b);
	*to = truth(op == ADVICE_EQ   ? !cmp
		    : op == ADVICE_NE ? cmp != 0
		    : op == ADVICE_LT ? cmp < 0
		    : op == ADVICE_LE ? cmp <= 0
		    : op == ADVICE_GT ? cmp > 0
				      : cmp >= 0);
	return true;
}

/* --- reckoning -------------------------------------------------------------------------------- */

static uint64_t negated(uint64_t bits)
{
	return bits ^ REAL_SIGN;
}

static struct advice_value reckon_real(uint8_t op, uint64_t a, uint64_t b)
{
	if ((op == ADVICE_DIV || op == ADVICE_MOD) && real_is_zero(b))
		return nothing();
	return real(op == ADVICE_ADD   ? real_add(a, b)
		    : op == ADVICE_SUB ? real_add(a, negated(b))
		    : op == ADVICE_MUL ? real_mul(a, b)
		    : op == ADVICE_DIV ? real_div(a, b)
				       : real_mod(a, b));
}

static struct advice_value reckon_whole(uint8_t op, int64_t a, int64_t b)
{
	int64_t r;

	if (op == ADVICE_ADD && !__builtin_add_overflow(a, b, &r))
		return whole(r);
	if (op == ADVICE_SUB && !__builtin_sub_overflow(a, b, &r))
		return whole(r);
	if (op == ADVICE_MUL && !__builtin_mul_overflow(a, b, &r))
		return whole(r);
	if (op == ADVICE_MOD)
		return !b ? nothing() : whole(b == -1 ? 0 : a % b);
	if (op == ADVICE_DIV && !b)
		return nothing();
	if (op == ADVICE_DIV && b != -1 && a % b == 0)
		return whole(a / b);
	return reckon_real(op, real_of(a), real_of(b));
}

bool advice_arithmetic(uint8_t op, const struct advice_value *a, const struct advice_value *b,
		       struct advice_value *to)
{
	struct advice_value x, y;

	*to = nothing();
	if (a->type == ADVICE_NULL)
		return true;
	if (!advice_number(a, &x))
		return false;
	if (b->type == ADVICE_NULL)
		return true;
	if (!advice_number(b, &y))
		return false;
	*to = x.type == ADVICE_INT && y.type == ADVICE_INT
		      ? reckon_whole(op, x.i, y.i)
		      : reckon_real(op, as_real(&x), as_real(&y));
	return true;
}

void advice_add(struct advice_value *to, const struct advice_value *n)
{
	int64_t sum;

	if (to->type == ADVICE_INT && n->type == ADVICE_INT &&
	    !__builtin_add_overflow(to->i, n->i, &sum))
		to->i = sum;
	else
		*to = real(real_add(as_real(to), as_real(n)));
}

/* Of a number of times, which has no sign. */
static uint64_t real_of_times(uint64_t times)
{
	return times >> 63 ? real_mul(real_of((int64_t)(times >> 1 | (times & 1))), real_of(2))
			   : real_of((int64_t)times);
}

void advice_times(struct advice_value *n, uint64_t times)
{
	int64_t product;

	if (times == 1)
		return;
	if (n->type == ADVICE_INT && !__builtin_mul_overflow(n->i, times, &product))
		n->i = product;
	else
		*n = real(real_mul(as_real(n), real_of_times(times)));
}

/* --- aggregates ------------------------------------------------------------------------------- */

bool advice_total_of(uint8_t function, const struct advice_value *v, uint64_t times,
		     struct advice_total *t)
{
	bool is_number;

	*t = (struct advice_total){ 0 };
	if (v->type == ADVICE_NULL || !times)
		return true;
	t->nr = times;
	if (function == ADVICE_COUNT)
		return true;
	is_number = advice_number(v, &t->value);
	if (function == ADVICE_MIN || function == ADVICE_MAX) {
		if (!is_number)
			t->value = *v;
		return true;
	}
	if (!is_number) {
		*t = (struct advice_total){ 0 };
		return false;
	}
	advice_times(&t->value, times);
	return true;
}

void advice_total_times(uint8_t function, struct advice_total *t, uint64_t times)
{
	if (!t->nr)
		return;
	t->nr *= times;
	if (function == ADVICE_SUM || function == ADVICE_AVERAGE)
		advice_times(&t->value, times);
}

bool advice_total_add(uint8_t function, struct advice_total *to, const struct advice_total *from)
{
	bool is_first = !to->nr;

	if (!from->nr)
		return false;
	to->nr += from->nr;
	if (function == ADVICE_COUNT)
		return false;
	if (is_first) {
		to->value = from->value;
		return true;
	}
	if (function == ADVICE_SUM || function == ADVICE_AVERAGE) {
		advice_add(&to->value, &from->value);
		return true;
	}
	if (advice_cmp(&from->value, &to->value) * (function == ADVICE_MIN ? -1 : 1) <= 0)
		return false;
	to->value = from->value;
	return true;
}

struct advice_value advice_total_value(uint8_t function, const struct advice_total *t)
{
	if (function == ADVICE_COUNT)
		return whole((int64_t)t->nr);
	if (!t->nr)
		return nothing();
	if (function != ADVICE_AVERAGE)
		return t->value;
	return real(real_div(as_real(&t->value), real_of_times(t->nr)));
}

uint64_t advice_rank(uint64_t share, uint64_t nr)
{
	uint64_t rank = real_ceil(real_mul(share, real_of_times(nr)));

	return rank < 1 ? 1 : rank > nr ? nr : rank;
}

/* --- groups ----------------------------------------------------------------------------------- */

bool advice_value_same(const struct advice_value *a, const struct advice_value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == ADVICE_TEXTUAL)
		return a->length == b->length && !cmp_texts(a, b);
	return a->type == ADVICE_NULL || a->i == b->i;
}

static uint64_t mixed(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

uint64_t advice_value_hash(const struct advice_value *v)
{
	uint64_t h = v->type, word = 0;
	size_t at = 0;

	if (v->type == ADVICE_NULL)
		return mixed(h, 0);
	if (v->type != ADVICE_TEXTUAL)
		return mixed(h, v->real);
	for (; at + 8 <= v->length; at += 8) {
		__builtin_memcpy(&word, v->text + at, 8);
		h = mixed(h, word);
	}
	for (word = v->length; at < v->length; at++)
		word = word << 8 | (unsigned char)v->text[at];
	return mixed(h, word);
}
