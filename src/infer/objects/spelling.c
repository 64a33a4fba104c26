/* "application 3" is application_17_0003 where the last numbers of applications are all different.
 * A thread that is called after something ("Opener-t1,,17.ab") shows its name with a word in front.
 */
#include "infer/objects/spelling.h"

#include <stdlib.h>

#include "infer/objects/census.h"
#include "infer/objects/shape.h"
#include "infer/objects/told.h"
#include "model/mention.h"

#define SEVERAL UINT64_MAX

/* The key is the word that names of the other kind begin with. */
static bool is_word_of(struct str key, struct str shown)
{
	char next;

	if (!key.n || shown.n <= key.n || !str_eq_nocase(str_head(shown, key.n), key))
		return false;
	next = shown.p[key.n];
	return next == '_' || next == '-' || next == '#';
}

static bool is_name_with_numbers(const struct kind *k)
{
	unsigned never = KIND_NUMBER | KIND_WORD | KIND_PATH | KIND_ADDRESS | KIND_RANDOM;

	return kind_is_kept(k) && !(k->traits & never);
}

/* The last number of each name of a kind, to 1 + its value or SEVERAL. */
static void last_numbers(const struct census *w, uint32_t kind, struct map *by_number)
{
	vec_each (&w->told->ids, id) {
		uint64_t v[8], *at;
		size_t nr;

		if (census_kind(w, id) != kind)
			continue;
		nr = shape_numbers(names_str(&w->told->values, id->value), v, 8);
		if (!nr)
			continue;
		at = map_at(by_number, v[nr - 1]);
		*at = *at && *at != id->value + 1 ? SEVERAL : id->value + 1;
	}
}

/* Whether most numbers of the kind are those of one name each; if so, they are that name. */
static void number_names(struct census *w, uint32_t number, uint32_t name)
{
	struct map by_number = { 0 }, found = { 0 };
	const struct map_slot *s = NULL;
	uint64_t nr = 0, nr_found = 0;

	last_numbers(w, name, &by_number);
	vec_each (&w->told->ids, id) {
		struct str text = names_str(&w->told->values, id->value);
		uint64_t value, *at, *known;

		if (census_kind(w, id) != number || map_find(&found, id->value) ||
		    !str_take_uint(&text, &value))
			continue;
		at = map_find(&by_number, value);
		known = map_at(&found, id->value);
		*known = at && *at != SEVERAL && !text.n ? *at : 0;
		nr++;
		nr_found += *known != 0;
	}
	while (nr >= 2 && 10 * nr_found >= 8 * nr && (s = map_next(&found, s)))
		if (s->value)
			*map_at(&w->same, map_pair(number, (uint32_t)s->key)) =
				map_pair(name, (sym_t)(s->value - 1)) + 1;
	map_done(&by_number);
	map_done(&found);
}

/* Values in names of threads whose end is a value seen elsewhere. */
static void cut_threads(struct census *w)
{
	struct map elsewhere = { 0 };

	vec_each (&w->told->ids, id)
		if (!(id->place & NAMED_IN_THREAD))
			*map_at(&elsewhere, map_pair(census_kind(w, id), id->value)) = 1;
	vec_each (&w->told->ids, id) {
		struct str text = names_str(&w->told->values, id->value);
		uint32_t kind = census_kind(w, id);

		if (!(id->place & NAMED_IN_THREAD) ||
		    map_find(&elsewhere, map_pair(kind, id->value)))
			continue;
		for (size_t i = 1; i + 3 < text.n; i++) {
			sym_t tail = text.p[i - 1] == '-'
					     ? names_find(&w->told->values, str_skip(text, i))
					     : 0;

			if (!tail || !map_find(&elsewhere, map_pair(kind, tail)))
				continue;
			*map_at(&w->same, map_pair(kind, id->value)) = map_pair(kind, tail) + 1;
			break;
		}
	}
	map_done(&elsewhere);
}

void spelling_find(struct census *w)
{
	cut_threads(w);
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		if (!(w->kinds.v[i].traits & KIND_SMALL) || w->is_small)
			continue;
		for (uint32_t j = 0; j < w->kinds.nr; j++)
			if (is_name_with_numbers(&w->kinds.v[j]) &&
			    is_word_of(w->kinds.v[i].shown, w->kinds.v[j].shown))
				number_names(w, i, j);
	}
}
