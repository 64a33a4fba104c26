#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "ident/constants.h"
#include "ident/constants_automaton.h"
#include "model/loss.h"

static struct constants *made_of(const char *const *v)
{
	struct constants *c = constants_new(0);
	struct losses losses = { 0 };

	for (; *v; v++)
		constants_add(c, str_of(*v));
	constants_settle(c, &losses);
	return c;
}

/* The line with what varies in <>. */
static void check(const struct constants *c, const char *line, const char *want)
{
	struct cover v = { 0 };
	struct buf b = { 0 };
	struct str s = str_of(line);
	size_t at = 0, nr = 0;

	constants_cover(c, s, &v);
	vec_each (&v.constant, k) {
		assert_true(k->from < k->to && k->to <= s.n && (!at || k->from > at));
		if (k->from > at)
			buf_fmt(&b, "<%.*s>", (int)(k->from - at), line + at);
		buf_add(&b, (struct str){ line + k->from, k->to - k->from });
		at = k->to;
		nr += k->to - k->from;
	}
	if (at < s.n)
		buf_fmt(&b, "<%s>", line + at);
	assert_int_equal(nr, v.nr_bytes);
	assert_str_equal(buf_str(&b), want);
	buf_done(&b);
	cover_done(&v);
}

static void the_examples_of_the_paper_hold(void **state)
{
	static const char *const texts[] = {
		"MongoDB starting : pid=", " port=",  " dbpath=", "app_",
		" created task ",          "attempt", "_r_",      NULL
	};
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "MongoDB starting : pid=22925 port=27017 dbpath=/var/lib/mongodb",
	      "MongoDB starting : pid=<22925> port=<27017> dbpath=</var/lib/mongodb>");
	check(c, "app_14 created task attempt14_r_0", "app_<14> created task attempt<14>_r_<0>");
	constants_free(c);
}

/* The longest at each place is not the best for all. */
static void most_bytes_are_covered(void **state)
{
	static const char *const texts[] = { "one two", "two three four", "one ", "three", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "one two three four", "one two three four");
	check(c, "one two five three", "one two< five >three");
	constants_free(c);
}

static void words_are_not_cut(void **state)
{
	static const char *const texts[] = { "app", "cat", "fab", "ms left", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "application", "<application>");
	check(c, "app 1", "app< 1>");
	check(c, "app17", "app<17>");
	check(c, "1cat2 fab3c1", "<1cat2 fab3c1>");
	check(c, "20ms left", "<20>ms left");
	check(c, "app\xc3\xa9", "<app\xc3\xa9>");
	constants_free(c);
}

static void constants_within_and_across_others_are_found(void **state)
{
	static const char *const texts[] = {
		"abcdefgh ijk", "cde", "defgh ijk lmnop", "ijk lm", "abcdefgh ijk lmnop qrstuvwxyz",
		"jk lmnop q",   NULL
	};
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "abcdefgh ijk lmnop qrstuvwxyz", "abcdefgh ijk lmnop qrstuvwxyz");
	check(c, "abcdefgh ijk lmnop qrst", "abcdefgh ijk< lmnop qrst>");
	check(c, "x-defgh ijk lmnop", "<x->defgh ijk lmnop");
	constants_free(c);
}

static void a_statement_is_believed_before_its_pieces(void **state)
{
	static const char *const texts[] = {
		"user \1 logged in from \1 port \2", "root", "host", "user ", "INFO", NULL
	};
	struct constants *c = made_of(texts);
	struct cover v = { 0 };

	(void)state;
	check(c, "INFO user root logged in from host port 22",
	      "INFO< >user <root> logged in from <host> port <22>");
	constants_cover(c, STR("INFO user root logged in from host port 22"), &v);
	assert_true(v.is_pattern);
	assert_int_equal(v.pattern.from, 5);
	/* no number, so it is another statement */
	check(c, "user root logged in from host port none",
	      "user <root> logged in from <host> port <none>");
	cover_done(&v);
	constants_free(c);
}

/* As when a text is put together from formats, one for each field. */
static void a_value_stands_between_a_piece_and_the_next_constant(void **state)
{
	static const char *const texts[] = { "authorized: user=\1", " database=\1", "postgres",
					     "postgres is up", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "authorized: user=postgres database=postgres",
	      "authorized: user=<postgres> database=<postgres>");
	check(c, "postgres is up", "postgres is up");
	constants_free(c);
}

static void a_value_is_all_between_two_constants(void **state)
{
	static const char *const texts[] = { "role \"\1\" owns \1", NULL };
	struct constants *c = made_of(texts);
	struct str line = STR("role \"alice\" owns (two tables)");
	struct cover v = { 0 };

	(void)state;
	constants_cover(c, line, &v);
	assert_true(cover_is_value(&v, line, (struct stretch){ 6, 11 }));
	assert_false(cover_is_value(&v, line, (struct stretch){ 0, 4 }));
	assert_false(cover_is_value(&v, line, (struct stretch){ 19, 22 }));
	assert_true(cover_is_value(&v, line, (struct stretch){ 19, 29 }));
	cover_done(&v);
	constants_free(c);
}

static void kinds_of_values_are_held(void **state)
{
	static const char *const texts[] = { "block \3 took \4 s", "drive \5: is full", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "block 0x7fff took 1.5 s", "block <0x7fff> took <1.5> s");
	check(c, "block beef took -2 s", "block <beef> took <-2> s");
	check(c, "drive C: is full", "drive <C>: is full");
	constants_free(c);
}

/* A short statement that happens to fit within a longer one must not swallow its words. */
static void a_pattern_that_explains_little_is_none(void **state)
{
	static const char *const texts[] = { "state \1 of", "container was moved to another ",
					     " because it was too slow", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "state container was moved to another node because it was too slow of",
	      "<state >container was moved to another <node> because it was too slow< of>");
	constants_free(c);
}

static void a_whole_sentence_is_not_the_value_of_a_pattern(void **state)
{
	static const char *const texts[] = { "starting \1", "starting up all replication slots",
					     "worker", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	check(c, "starting up all replication slots", "starting up all replication slots");
	check(c, "starting worker", "starting <worker>");
	constants_free(c);
}

static void texts_that_are_short_or_without_letters_are_left(void **state)
{
	static const char *const texts[] = { "ab", "123", ": -", "abc", NULL };
	struct constants *c = made_of(texts);

	(void)state;
	assert_int_equal(constants_nr(c), 1);
	check(c, "ab 123 : - abc", "<ab 123 : - >abc");
	constants_free(c);
}

static void without_constants_all_varies(void **state)
{
	static const char *const none[] = { NULL };
	struct constants *c = made_of(none);

	(void)state;
	check(c, "anything", "<anything>");
	check(c, "", "");
	constants_free(c);
}

static void memory_is_bounded_and_the_rest_counted(void **state)
{
	struct constants *c = constants_new(1 << 16);
	struct losses losses = { 0 };
	char text[32];

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "word %u of many", i * 2654435761U);
		constants_add(c, str_of(text));
	}
	constants_settle(c, &losses);
	assert_true(constants_nr(c) > 100);
	assert_true(constants_bytes(c) <= 1 << 16);
	assert_int_equal(losses.count[LOSS_STRINGS_LEFT] + constants_nr(c), 10000);
	constants_free(c);
}

struct finds {
	struct str line;
	const struct str *texts;
	uint32_t nr;
};

static bool count_find(void *ctx, uint32_t text, uint32_t from)
{
	struct finds *f = ctx;

	assert_true(str_starts(str_skip(f->line, from), f->texts[text]));
	f->nr++;
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static unsigned next(uint64_t *seed, unsigned of)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(*seed >> 40) % of;
}

/* Against a search for each text by itself, with two letters, so that nearly all overlap. */
static void the_automaton_finds_what_a_plain_search_finds(void **state)
{
	static char letters[4096];
	struct str texts[300], line = { letters, sizeof(letters) };
	uint32_t nr = 0, want = 0;
	struct finds f = { .line = line, .texts = texts };
	struct automaton a;
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(letters); i++)
		letters[i] = "ab"[next(&seed, 2)];
	for (uint32_t i = 0; i < 300; i++)
		texts[i] = str_head(str_skip(line, next(&seed, 4000)), 3 + next(&seed, 40));
	qsort(texts, 300, sizeof(*texts), by_bytes);
	for (uint32_t i = 0; i < 300; i++)
		if (!nr || !str_eq(texts[i], texts[nr - 1]))
			texts[nr++] = texts[i];
	for (uint32_t i = 0; i < nr; i++)
		for (size_t at = 0; at < line.n; at++)
			want += str_starts(str_skip(line, at), texts[i]);
	assert_int_equal(automaton_init(&a, texts, nr, 1 << 20), 1);
	automaton_find(&a, line, count_find, &f);
	assert_int_equal(f.nr, want);
	automaton_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_paper_hold),
		cmocka_unit_test(most_bytes_are_covered),
		cmocka_unit_test(words_are_not_cut),
		cmocka_unit_test(constants_within_and_across_others_are_found),
		cmocka_unit_test(a_statement_is_believed_before_its_pieces),
		cmocka_unit_test(a_value_stands_between_a_piece_and_the_next_constant),
		cmocka_unit_test(a_value_is_all_between_two_constants),
		cmocka_unit_test(kinds_of_values_are_held),
		cmocka_unit_test(a_pattern_that_explains_little_is_none),
		cmocka_unit_test(a_whole_sentence_is_not_the_value_of_a_pattern),
		cmocka_unit_test(texts_that_are_short_or_without_letters_are_left),
		cmocka_unit_test(without_constants_all_varies),
		cmocka_unit_test(memory_is_bounded_and_the_rest_counted),
		cmocka_unit_test(the_automaton_finds_what_a_plain_search_finds),
	};

	return RUN(tests);
}
