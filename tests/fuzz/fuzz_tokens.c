/* Any text has names and a shape: each inside what it was made of, none twice, the same every time,
 * and what is packed is what is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "infer/requests/sight.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool is_inside(struct str s, const char *from, size_t n)
{
	return s.n && s.p >= from && s.p + s.n <= from + n;
}

/* A kind may be a constant; a value is made of the text. */
static void check(const struct tokens *t)
{
	must(t->nr <= TOKENS_MAX && t->nr_words <= TOKENS_WORDS && t->nr_shape <= TOKENS_SHAPE);
	for (unsigned i = 0; i < t->nr; i++) {
		must(t->v[i].kind.n > 0);
		must(is_inside(t->v[i].value, t->words, t->nr_words));
		must(str_find_char(t->v[i].kind, SIGHT_SEPARATOR) == t->v[i].kind.n);
		for (unsigned k = 0; k < i; k++)
			must(!str_eq(t->v[i].kind, t->v[k].kind) ||
			     !str_eq(t->v[i].value, t->v[k].value));
	}
}

static void check_packed(const struct tokens *t, struct str text)
{
	struct event ev = { .thread = str_head(text, 40) };
	struct arena arena = { 0 };
	struct sight s;
	struct str name;
	uint64_t nr = 0;

	sight_event(NULL, &ev, text, &arena);
	must(sight_open(&s, ev.values) && s.nr_own == t->nr);
	must(str_eq(s.shape, (struct str){ t->shape, t->nr_shape }));
	for (; sight_next(&s, &name); nr++) {
		size_t at = str_find_char(name, SIGHT_SEPARATOR);

		must(at < name.n);
		if (nr < t->nr)
			must(str_eq(str_head(name, at), t->v[nr].kind) &&
			     str_eq(str_skip(name, at + 1), t->v[nr].value));
	}
	must(nr == s.nr_own + s.nr_thread && !s.rest.n);
	arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tokens a, b;
	struct str text = { (const char *)data, size };

	tokens_find(&a, text);
	check(&a);
	tokens_find(&b, text);
	must(a.nr == b.nr && a.nr_shape == b.nr_shape && !memcmp(a.shape, b.shape, a.nr_shape));
	check_packed(&a, text);
	return 0;
}
