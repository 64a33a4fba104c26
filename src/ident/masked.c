#include "ident/masked.h"

#include <string.h>

#include "ident/line.h"
#include "ident/token.h"

#define MASK STR("<*>")

struct title {
	struct line *l;
	size_t n;
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

/* The hash of all words in their order. */
static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

void masked_title(struct line *l, struct str text, const struct tokens *t, const bool *varies)
{
	struct title to = { .l = l };
	uint64_t hash = 0;
	size_t done = 0;
	char code[LINE_TITLE]; /* without its digits, which may not decide */

	for (size_t i = 0; i < t->nr; i++) {
		const struct token *v = &t->v[i];
		struct str word = str_head(str_skip(text, v->from), (size_t)(v->to - v->from));
		bool melts = varies[i] && i && varies[i - 1];

		if (!melts) {
			put(&to, str_head(str_skip(text, done), v->from - done));
			if (v->kind == TOKEN_CODE)
				word = (struct str){ code, token_schema(word, code, sizeof(code)) };
			put(&to, varies[i] ? MASK : word);
			hash = mix(hash, varies[i] ? 1 : str_hash(word));
		}
		done = v->to;
	}
	put(&to, str_skip(text, done));
	l->template = hash;
	l->title = (struct str){ l->titled, to.n };
}
