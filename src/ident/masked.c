#include "ident/masked.h"

#include <string.h>

#include "ident/line.h"
#include "ident/token.h"

#define MASK STR("<*>")

enum { PERIOD = 6 }; /* items of one element of a list, at the most */

/* A word or a mask of the template. */
struct item {
	uint64_t hash;
	uint16_t title; /* where the title ended in front of it */
	bool is_parted; /* a comma stands in front */
};

struct title {
	struct line *l;
	size_t n, nr;
	struct item items[TOKENS_MAX];
};

static void put(struct title *t, struct str s)
{
	size_t room = LINE_TITLE - t->n;

	if (s.n > room)
		s.n = room;
	if (s.n)
		memcpy(t->l->titled + t->n, s.p, s.n);
	t->n += s.n;
}

static bool is_repeated(const struct title *t, size_t period)
{
	const struct item *last = t->items + t->nr - period;

	if (2 * period > t->nr || !last->is_parted)
		return false;
	for (size_t i = 0; i < period; i++)
		if (last[i].hash != last[i - period].hash)
			return false;
	return true;
}

/* "Name[<*>], Name[<*>]": of a list, one element is enough. */
static void fold(struct title *t)
{
	for (size_t period = 1; period <= PERIOD; period++)
		if (is_repeated(t, period)) {
			t->nr -= period;
			t->n = t->items[t->nr].title;
			return;
		}
}

/* The hash of all words in their order. */
static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static void add(struct title *t, const struct token *v, struct str between, struct str word,
		uint64_t hash)
{
	t->items[t->nr++] = (struct item){ hash, (uint16_t)t->n, v->before & BEFORE_COMMA };
	put(t, between);
	put(t, word);
	fold(t);
}

void masked_title(struct line *l, struct str text, const struct tokens *t, const bool *varies)
{
	struct title to = { .l = l };
	char code[LINE_TITLE]; /* without its digits, which may not decide */
	size_t done = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct token *v = &t->v[i];
		struct str word = str_head(str_skip(text, v->from), (size_t)(v->to - v->from));
		struct str between = str_head(str_skip(text, done), v->from - done);

		done = v->to;
		if (varies[i] && i && varies[i - 1])
			continue;
		if (v->kind == TOKEN_CODE || v->kind == TOKEN_MIXED)
			word = (struct str){ code, token_schema(word, code, sizeof(code)) };
		if (varies[i])
			add(&to, v, between, MASK, 1);
		else
			add(&to, v, between, word, str_hash(word));
	}
	put(&to, str_skip(text, done));
	l->template = 0;
	for (size_t i = 0; i < to.nr; i++)
		l->template = mix(l->template, to.items[i].hash);
	l->title = (struct str){ l->titled, to.n };
}
