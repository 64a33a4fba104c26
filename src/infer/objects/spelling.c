/* "application 3" is application_17_0003 where the last numbers of applications are all different.
 * A thread that is called after something ("Opener-t1,,17.ab") shows its name with a word in front.
 * A file goes by the last part of its path where no other has the same. */
#include "infer/objects/spelling.h"

#include <stdio.h>
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
	vec_each (&w->distinct, id) {
		uint64_t v[8], *at;
		size_t nr;

		census_look(w, (size_t)(id - w->distinct.v));
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
	struct map by_number = { .shelf = w->shelf }, found = { .shelf = w->shelf };
	const struct map_slot *s = NULL;
	uint64_t nr = 0, nr_found = 0;

	last_numbers(w, name, &by_number);
	vec_each (&w->distinct, id) {
		struct str text = names_str(&w->told->values, id->value);
		uint64_t value, *at, *known;

		census_look(w, (size_t)(id - w->distinct.v));
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
	struct map elsewhere = { .shelf = w->shelf };
	bool *is_in_thread = mem_zalloc(w->kinds.nr + 1); /* by kind: one of it is */

	vec_each (&w->distinct, id)
		is_in_thread[census_kind(w, id)] |= id->place & NAMED_IN_THREAD;
	vec_each (&w->distinct, id)
		if (!(id->place & NAMED_IN_THREAD) && is_in_thread[census_kind(w, id)])
			*map_at(&elsewhere, map_pair(census_kind(w, id), id->value)) = 1;
	vec_each (&w->distinct, id) {
		struct str text = names_str(&w->told->values, id->value);
		uint32_t kind = census_kind(w, id);

		census_look(w, (size_t)(id - w->distinct.v));
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
	free(is_in_thread);
	map_done(&elsewhere);
}

static struct str last_part(struct str path)
{
	size_t begin = path.n;

	while (begin && path.p[begin - 1] != '/')
		begin--;
	return str_skip(path, begin);
}

/* "part-#.csv", not "blk_#": what has no extension is a name in its own right. */
static bool has_extension(struct str shown)
{
	size_t i = shown.n;

	while (i && (shown.p[i - 1] | 0x20) >= 'a' && (shown.p[i - 1] | 0x20) <= 'z')
		i--;
	return i > 1 && i < shown.n && shown.p[i - 1] == '.';
}

/* The last parts of all paths, to 1 + (kind, path) or SEVERAL. */
static void last_parts(const struct census *w, struct map *by_part)
{
	vec_each (&w->distinct, id) {
		uint32_t kind = census_kind(w, id);
		sym_t part;
		uint64_t *at, path = map_pair(kind, id->value) + 1;

		census_look(w, (size_t)(id - w->distinct.v));
		if (!(w->kinds.v[kind].traits & KIND_PATH) || !kind_is_kept(&w->kinds.v[kind]))
			continue;
		part = names_find(&w->told->values,
				  last_part(names_str(&w->told->values, id->value)));
		if (!part || part == id->value)
			continue;
		at = map_at(by_part, part);
		*at = *at && *at != path ? SEVERAL : path;
	}
}

/* Kinds of names most of which are the last part of a path are files. */
static void name_files(struct census *w)
{
	struct map by_part = { .shelf = w->shelf }, seen = { .shelf = w->shelf };
	uint64_t *nr = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	uint64_t *nr_files = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr_files)));

	last_parts(w, &by_part);
	vec_each (&w->distinct, id) {
		uint32_t kind = census_kind(w, id);

		census_look(w, (size_t)(id - w->distinct.v));
		if (!is_name_with_numbers(&w->kinds.v[kind]) ||
		    !has_extension(w->kinds.v[kind].shown) ||
		    (*map_at(&seen, map_pair(kind, id->value)))++)
			continue;
		nr[kind]++;
		nr_files[kind] += map_find(&by_part, id->value) != NULL;
	}
	vec_each (&w->distinct, id) {
		uint32_t kind = census_kind(w, id);
		const uint64_t *at = map_find(&by_part, id->value);

		census_look(w, (size_t)(id - w->distinct.v));
		if (!nr[kind] || 10 * nr_files[kind] < 8 * nr[kind])
			continue;
		if (at && *at != SEVERAL)
			*map_at(&w->same, map_pair(kind, id->value)) = *at;
		w->kinds.v[kind].fate = FATE_PART;
	}
	free(nr);
	free(nr_files);
	map_done(&by_part);
	map_done(&seen);
}

/* Thirty-two digits that are a UUID elsewhere. */
static void add_dashes(struct census *w)
{
	struct map uuids = { .shelf = w->shelf };

	vec_each (&w->distinct, id) {
		uint32_t kind = census_kind(w, id);

		census_look(w, (size_t)(id - w->distinct.v));
		if (names_str(&w->told->values, id->value).n == 36 &&
		    w->kinds.v[kind].traits & KIND_RANDOM && kind_is_kept(&w->kinds.v[kind]))
			*map_at(&uuids, id->value) = map_pair(kind, id->value) + 1;
	}
	vec_each (&w->distinct, id) {
		struct str s = names_str(&w->told->values, id->value);
		char dashed[64];
		const uint64_t *at;
		sym_t sym;

		census_look(w, (size_t)(id - w->distinct.v));
		if (s.n != 32)
			continue;
		snprintf(dashed, sizeof(dashed), "%.8s-%.4s-%.4s-%.4s-%.12s", s.p, s.p + 8,
			 s.p + 12, s.p + 16, s.p + 20);
		sym = names_find(&w->told->values, str_of(dashed));
		at = sym ? map_find(&uuids, sym) : NULL;
		if (at)
			*map_at(&w->same, map_pair(census_kind(w, id), id->value)) = *at;
	}
	map_done(&uuids);
}

void spelling_find(struct census *w)
{
	cut_threads(w);
	name_files(w);
	add_dashes(w);
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		if (!(w->kinds.v[i].traits & KIND_SMALL) || w->is_small)
			continue;
		for (uint32_t j = 0; j < w->kinds.nr; j++)
			if (is_name_with_numbers(&w->kinds.v[j]) &&
			    is_word_of(w->kinds.v[i].shown, w->kinds.v[j].shown))
				number_names(w, i, j);
	}
}
