/*
 * Baggage in the "baggage" header of W3C: one entry, culprit=<base64 for URLs>.
 *
 * Entries of others are passed on as they are. What does not fit the limits is not written at all:
 * who would drop an entry would change an answer.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/baggage/state.h"

#define KEY "culprit"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* A stretch of the header. */
struct span {
	const char *p;
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim(struct span s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* What stands before the next c, which is left out of both. */
static struct span take_until(struct span *s, char c)
{
	const char *at = s->n ? memchr(s->p, c, s->n) : NULL;
	struct span head = { s->p, at ? (size_t)(at - s->p) : s->n };
	size_t gone = at ? head.n + 1 : head.n;

	if (gone) {
		s->p += gone;
		s->n -= gone;
	}
	return trim(head);
}

static bool is_ours(struct span entry)
{
	struct span key = take_until(&entry, '=');

	return key.n == strlen(KEY) && !memcmp(key.p, KEY, key.n);
}

static void put(char *value, size_t size, size_t *n, const char *p, size_t len)
{
	if (*n < size && len <= size - *n)
		memcpy(value + *n, p, len);
	*n += len;
}

static void put_base64(char *value, size_t size, size_t *n, const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char s[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
			      digits[v & 63] };

		put(value, size, n, s, left + 1);
	}
}

/* The value without our entry; how many entries. */
static size_t put_others(const char *others, char *value, size_t size, size_t *n)
{
	struct span s = { others, others ? strlen(others) : 0 };
	size_t nr = 0;

	while (s.n) {
		struct span entry = take_until(&s, ',');

		if (!entry.n || is_ours(entry))
			continue;
		if (nr++)
			put(value, size, n, ",", 1);
		put(value, size, n, entry.p, entry.n);
	}
	return nr;
}

ssize_t culprit_baggage_to_header(struct culprit_baggage *b, const char *others, char *value,
				  size_t size)
{
	char all[CULPRIT_HEADER_BYTES];
	ssize_t ours = culprit_baggage_serialize(b, NULL, 0);
	size_t n = 0, nr;

	if (ours < 0)
		return ours;
	nr = put_others(others, all, sizeof(all), &n);
	if (ours) {
		if (nr++)
			put(all, sizeof(all), &n, ",", 1);
		put(all, sizeof(all), &n, KEY "=", sizeof(KEY));
		put_base64(all, sizeof(all), &n, b->raw ? b->raw : b->few, (size_t)ours);
	}
	if (n > CULPRIT_HEADER_BYTES || nr > CULPRIT_HEADER_ENTRIES)
		return -E2BIG;
	if (n < size) {
		memcpy(value, all, n);
		value[n] = 0;
	}
	return (ssize_t)n;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'                 ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

/* One character, which somebody on the way may have written as %XX. */
static int take_char(struct span *s)
{
	int c = (unsigned char)s->p[0], used = 1;

	if (c == '%') {
		if (s->n < 3 || hex(s->p[1]) < 0 || hex(s->p[2]) < 0)
			return -1;
		c = hex(s->p[1]) << 4 | hex(s->p[2]);
		used = 3;
	}
	s->p += used;
	s->n -= (size_t)used;
	return c;
}

static int take_base64(struct span s, unsigned char *to, size_t *n)
{
	uint32_t v = 0;
	unsigned bits = 0;

	for (*n = 0; s.n;) {
		int c = take_char(&s);
		const char *at = c > 0 ? strchr(digits, c) : NULL;

		if (!at)
			return -EBADMSG;
		v = v << 6 | (uint32_t)(at - digits);
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		to[(*n)++] = (unsigned char)(v >> bits);
	}
	return bits < 6 && !(v & ((1u << bits) - 1)) ? 0 : -EBADMSG;
}

int culprit_baggage_from_header(struct culprit_baggage **b, const char *value, size_t n)
{
	struct span s = { value, n };
	unsigned char *bytes;
	size_t nr_bytes;
	int r;

	while (s.n) {
		struct span entry = take_until(&s, ','), text;

		if (!is_ours(entry))
			continue;
		entry = take_until(&entry, ';');
		take_until(&entry, '=');
		text = trim(entry);
		bytes = malloc(text.n + 1);
		if (!bytes)
			return -ENOMEM;
		r = take_base64(text, bytes, &nr_bytes);
		if (!r)
			r = culprit_baggage_deserialize(b, bytes, nr_bytes);
		free(bytes);
		return r ? r : 1;
	}
	return 0;
}
