/* A borrowed stretch of bytes, and takers that read it from the front without an index. */
#ifndef CULPRIT_BASE_STR_H
#define CULPRIT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)((s).n > 4096 ? 4096 : (s).n), (s).p

static inline struct str str_of(const char *z)
{
	struct str s = { z, z ? strlen(z) : 0 };

	return s;
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* The first n bytes, or all of them. */
static inline struct str str_head(struct str s, size_t n)
{
	struct str head = { s.p, n < s.n ? n : s.n };

	return head;
}

/* What follows the first n bytes, or nothing. */
static inline struct str str_skip(struct str s, size_t n)
{
	struct str rest;

	if (n > s.n)
		n = s.n;
	rest.p = s.p ? s.p + n : s.p;
	rest.n = s.n - n;
	return rest;
}

static inline bool str_starts(struct str s, struct str with)
{
	return s.n >= with.n && str_eq(str_head(s, with.n), with);
}

static inline bool str_ends(struct str s, struct str with)
{
	return s.n >= with.n && str_eq(str_skip(s, s.n - with.n), with);
}

bool str_eq_nocase(struct str a, struct str b);
/* Byte order, a shorter prefix first. */
int str_cmp(struct str a, struct str b);
/* Position of c, or s.n. */
static inline size_t str_find_char(struct str s, char c)
{
	const char *at = s.n ? (const char *)memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

/* Position of the needle, or s.n. */
size_t str_find(struct str s, struct str needle);
/* Without white space at either end. */
struct str str_trim(struct str s);
uint64_t str_hash(struct str s);

/* Takers: on success they move *s past what they took; on failure *s is unchanged. */
static inline bool str_take_char(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

static inline bool str_take(struct str *s, struct str literal)
{
	if (!str_starts(*s, literal))
		return false;
	*s = str_skip(*s, literal.n);
	return true;
}

/* Decimal digits, at least one; fails beyond 64 bits. */
bool str_take_uint(struct str *s, uint64_t *value);
/* Exactly nr digits. */
bool str_take_digits(struct str *s, unsigned nr, unsigned *value);
bool str_take_int(struct str *s, int64_t *value);
/* Hexadecimal digits, at least one, at most 16. */
bool str_take_hex(struct str *s, uint64_t *value);
/* A decimal number with optional fraction and exponent. */
bool str_take_double(struct str *s, double *value);
/* Everything up to c, which is passed as well. */
static inline bool str_take_until(struct str *s, char c, struct str *value)
{
	size_t at = str_find_char(*s, c);

	if (at == s->n)
		return false;
	*value = str_head(*s, at);
	*s = str_skip(*s, at + 1);
	return true;
}

/* The next word: bytes other than space and tab, after skipping those in front. */
bool str_take_word(struct str *s, struct str *word);
/* The next line without its line end (\n or \r\n); false when nothing is left. */
bool str_take_line(struct str *s, struct str *line);
static inline size_t str_take_spaces(struct str *s)
{
	size_t i = 0;

	while (i < s->n && (s->p[i] == ' ' || s->p[i] == '\t'))
		i++;
	*s = str_skip(*s, i);
	return i;
}

#ifdef __cplusplus
}
#endif

#endif
