#include "ident/key.h"

#include "ident/token.h"

enum { STEPS_TO_NOUN = 4 }; /* "executor with the ID 1" */

static struct str text_of(const struct token *t, struct str text)
{
	return str_head(str_skip(text, t->from), (size_t)(t->to - t->from));
}

static bool parts(const struct token *t)
{
	return t->before & (BEFORE_COMMA | BEFORE_CLOSE);
}

/* The noun in front of a mere "id", with words between that are none. */
static bool noun_before(const struct tokens *t, struct str text, size_t at, struct key *key)
{
	for (int step = 0; at && step < STEPS_TO_NOUN && !parts(&t->v[at]); step++) {
		const struct token *v = &t->v[--at];
		struct str word = text_of(v, text);

		if (v->kind != TOKEN_WORD)
			return false;
		if (wording_is_function(word))
			continue;
		key->n = wording_key(word, key->v);
		return key->n;
	}
	return false;
}

bool key_of(const struct tokens *t, struct str text, size_t at, struct key *key)
{
	const struct token *v = &t->v[at], *word = v - 1;
	struct str s;

	if (!at || parts(v) || word->kind != TOKEN_WORD)
		return false;
	s = text_of(word, text);
	key->is_strong = v->before &
			 (BEFORE_EQUALS | BEFORE_COLON | BEFORE_HASH | BEFORE_OPEN | BEFORE_CALL);
	key->n = wording_key(s, key->v);
	key->is_id = str_ends(s, STR("id")) || str_ends(s, STR("Id")) || str_ends(s, STR("ID"));
	if (key->n)
		return true;
	if (noun_before(t, text, at - 1, key))
		return true;
	key->v[0] = 'i';
	key->v[1] = 'd';
	key->n = key->is_id ? 2 : 0;
	return key->n;
}
