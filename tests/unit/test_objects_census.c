/* Identifiers, each once, in chains by value: few ways to show one, and many. */
#include "unit.h"

#include <stdio.h>

#include "base/shelf.h"
#include "infer/objects/census.h"
#include "infer/objects/told.h"
#include "model/loss.h"
#include "model/mention.h"

enum { NR_WAYS = 50, NR_VALUES = 20 };

static void say(struct told *t, const char *type, const char *value)
{
	struct named n = { str_of(type), str_of(value), 0 };
	struct mention m = { .first_ns = 1, .last_ns = 1, .count = 1, .template = 7 };

	m.file = STR("a.log");
	m.v = &n;
	m.nr = 1;
	told_add(t, &m);
}

/* The first value is shown in all ways, each other one in one; all of it twice. */
static void say_all(struct told *t)
{
	char type[32], value[32];

	for (int i = 0; i < 2 * NR_WAYS; i++) {
		snprintf(type, sizeof(type), "key%c%c", 'a' + i % NR_WAYS % 26,
			 'a' + i % NR_WAYS / 26);
		say(t, type, "v0");
		snprintf(value, sizeof(value), "v%d", 1 + i % (NR_VALUES - 1));
		say(t, "keyaa", value);
	}
}

struct scene {
	struct told told;
	struct census w;
	struct arena arena;
	struct losses losses;
};

static void begin(struct scene *s)
{
	told_init(&s->told, NULL, 0);
	say_all(&s->told);
	s->arena = (struct arena){ 0 };
	census_init(&s->w, &s->told, &s->arena, &s->losses);
}

static void end(struct scene *s)
{
	census_done(&s->w);
	arena_done(&s->arena);
	told_done(&s->told);
}

/* Kinds by the number of the way. */
static void make_kinds(struct scene *s, uint32_t nr_kinds)
{
	for (size_t i = 0; i < s->w.distinct.nr; i++)
		census_set_kind(&s->w, &s->w.distinct.v[i], s->w.distinct.v[i].shown % nr_kinds);
}

static void each_is_known_once_however_many_ways_there_are(void **state)
{
	struct scene s = { 0 };

	(void)state;
	begin(&s);
	assert_int_equal(s.w.distinct.nr, NR_WAYS + NR_VALUES - 1);
	for (size_t i = 0; i < s.told.ids.nr; i++) {
		const struct told_id *d = &s.w.distinct.v[s.w.distinct_of[i]];

		assert_int_equal(d->shown, s.told.ids.v[i].shown);
		assert_int_equal(d->value, s.told.ids.v[i].value);
	}
	end(&s);
}

static void the_first_of_a_value_and_kind_is_told(void **state)
{
	struct scene s = { 0 };

	(void)state;
	begin(&s);
	for (uint32_t nr_kinds = 1; nr_kinds <= NR_WAYS; nr_kinds += 7) {
		struct map many = { 0 };
		size_t nr = 0;

		make_kinds(&s, nr_kinds);
		for (size_t i = 0; i < s.w.distinct.nr; i++)
			nr += census_is_first(&s.w, i, &many);
		assert_int_equal(nr, nr_kinds + NR_VALUES - 1);
		map_done(&many);
	}
	end(&s);
}

static void whether_a_kind_has_a_value_is_known(void **state)
{
	struct scene s = { 0 };
	sym_t first, other;

	(void)state;
	begin(&s);
	make_kinds(&s, 40);
	first = names_find(&s.told.values, STR("v0"));
	other = names_find(&s.told.values, STR("v3"));
	for (uint32_t kind = 0; kind < 40; kind++) {
		assert_true(census_has(&s.w, kind, first));
		assert_true(census_has(&s.w, kind, other) == (kind == 1));
	}
	assert_false(census_has(&s.w, 41, first));
	assert_false(census_has(&s.w, 1, s.told.values.nr + 5));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_known_once_however_many_ways_there_are),
		cmocka_unit_test(the_first_of_a_value_and_kind_is_told),
		cmocka_unit_test(whether_a_kind_has_a_value_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
