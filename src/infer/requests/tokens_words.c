#include "infer/requests/tokens_words.h"

#include "infer/requests/tokens.h"

static bool is_named(const struct tokens *t, struct str name, uint64_t hash)
{
	for (unsigned i = 0; i < t->nr; i++)
		if (t->v[i].hash == hash &&
		    str_eq((struct str){ t->v[i].kind.p, t->v[i].kind.n + 1 + t->v[i].value.n },
			   name))
			return true;
	return false;
}

/* The kind is the same whatever the digits, and so is the place of the value. */
void words_note(struct tokens_recipe *r, struct str kind, size_t at, size_t bytes)
{
	if (r->is_bad)
		return;
	r->is_bad = r->nr == TOKENS_RECIPE || kind.n + 1 + r->nr_kinds > TOKENS_KINDS;
	if (r->is_bad)
		return;
	r->v[r->nr].kind = r->nr_kinds;
	r->v[r->nr].kind_bytes = (uint16_t)(kind.n + 1);
	r->v[r->nr].at = (uint16_t)at;
	r->v[r->nr].bytes = (uint16_t)bytes;
	memcpy(r->kinds + r->nr_kinds, kind.p, kind.n);
	r->kinds[r->nr_kinds + kind.n] = TOKENS_SEPARATOR;
	r->nr_kinds = (uint16_t)(r->nr_kinds + kind.n + 1);
	r->nr++;
}

/* What was written behind the words is a name, unless it is known. */
void words_written(struct tokens *t, struct str both, size_t kind)
{
	uint64_t hash = str_hash(both);

	memcpy(t->words + t->nr_words, &hash, sizeof(hash));
	if (is_named(t, both, hash))
		return;
	if (t->nr == TOKENS_MAX) {
		t->is_cut = true;
		return;
	}
	t->v[t->nr++] = (struct token){ .kind = { both.p, kind },
					.value = { both.p + kind + 1, both.n - kind - 1 },
					.hash = hash };
	t->nr_words = (size_t)(both.p + both.n - t->words);
}

void tokens_add_word(struct tokens *t, struct str text, struct str word,
		     struct tokens_recipe *recipe)
{
	struct str kind = STR(TOKENS_WORD), both = { 0, kind.n + 1 + word.n };
	char *p = t->words + t->nr_words + sizeof(uint64_t);

	if (t->nr_words + both.n + WORDS_HEAD > TOKENS_WORDS) {
		t->is_cut = true;
		return;
	}
	p += words_put_length(p, both.n);
	both.p = p;
	p = words_put(p, kind);
	*p++ = TOKENS_SEPARATOR;
	words_put(p, word);
	if (recipe)
		words_note(recipe, kind, (size_t)(word.p - text.p), word.n);
	words_written(t, both, kind.n);
}

void tokens_follow(struct tokens *t, struct str text, const struct tokens_recipe *recipe)
{
	t->nr = 0;
	t->nr_words = t->nr_shape = 0;
	t->is_cut = false;
	t->lacks_words = recipe->lacks_words;
	for (unsigned i = 0; i < recipe->nr; i++) {
		struct str kind = { recipe->kinds + recipe->v[i].kind, recipe->v[i].kind_bytes };
		struct str both = { 0, kind.n + recipe->v[i].bytes };
		char *p = t->words + t->nr_words + sizeof(uint64_t);

		if (t->nr_words + both.n + WORDS_HEAD > TOKENS_WORDS) {
			t->is_cut = true;
			continue;
		}
		p += words_put_length(p, both.n);
		both.p = p;
		words_put(words_put(p, kind),
			  (struct str){ text.p + recipe->v[i].at, recipe->v[i].bytes });
		words_written(t, both, kind.n - 1);
	}
}
