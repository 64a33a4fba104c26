/* How names are written down while they are found: hash, length, kind, separator, value. */
#ifndef CULPRIT_INFER_REQUESTS_TOKENS_WORDS_H
#define CULPRIT_INFER_REQUESTS_TOKENS_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct tokens;
struct tokens_recipe;

enum { WORDS_HEAD = sizeof(uint64_t) + 3 /* of hash and length */ };

static inline size_t words_put_length(char *p, size_t n)
{
	size_t nr = 0;

	for (; n >= 0x80; n >>= 7)
		p[nr++] = (char)(n | 0x80);
	p[nr++] = (char)n;
	return nr;
}

/* Most pieces are short, and a call for each costs more than they do: both ends overlap. */
static inline char *words_put(char *p, struct str s)
{
	if (s.n > 32) {
		memcpy(p, s.p, s.n);
	} else if (s.n >= 16) {
		memcpy(p, s.p, 16);
		memcpy(p + s.n - 16, s.p + s.n - 16, 16);
	} else if (s.n >= 8) {
		memcpy(p, s.p, 8);
		memcpy(p + s.n - 8, s.p + s.n - 8, 8);
	} else if (s.n >= 4) {
		memcpy(p, s.p, 4);
		memcpy(p + s.n - 4, s.p + s.n - 4, 4);
	} else if (s.n) {
		p[0] = s.p[0];
		p[s.n / 2] = s.p[s.n / 2];
		p[s.n - 1] = s.p[s.n - 1];
	}
	return p + s.n;
}

/* What was written behind the words is a name, unless it is known. */
void words_written(struct tokens *t, struct str both, size_t kind);
/* Where such a value stands in the text. */
void words_note(struct tokens_recipe *r, struct str kind, size_t at, size_t bytes);

#endif
