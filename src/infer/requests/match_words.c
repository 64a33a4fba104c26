#include "infer/requests/match_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "infer/requests/match.h"
#include "infer/requests/match_build.h"
#include "infer/requests/plain.h"

struct hashes {
	uint32_t *v;
	size_t nr, room;
};

static int by_hash(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void add_words(struct hashes *h, struct str text)
{
	struct str word;

	for (size_t at = 0; plain_next(text, &at, &word);)
		vec_push(h, (uint32_t)str_hash(word));
}

static void add_point(struct hashes *h, const struct model_file *f, uint32_t point)
{
	struct model_point p = model_point(f, point);

	vec_clear(h);
	for (uint32_t i = p.versions.first; i < p.versions.first + p.versions.nr; i++) {
		struct model_version v = model_version(f, i);

		for (uint32_t k = v.parts.first; k < v.parts.first + v.parts.nr; k++) {
			struct model_part part = model_part(f, k);

			if (part.kind == PART_TEXT)
				add_words(h, part.text);
		}
	}
	if (h->nr)
		qsort(h->v, h->nr, sizeof(*h->v), by_hash);
}

static struct match_words keep(struct arena *a, const struct hashes *h)
{
	uint32_t *v = arena_array(a, uint32_t, h->nr + 1);
	uint32_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		if (!nr || v[nr - 1] != h->v[i])
			v[nr++] = h->v[i];
	return (struct match_words){ v, nr };
}

void match_words_find(struct matcher *m)
{
	struct match_words *words =
		arena_array(&m->arena, struct match_words, matcher_nr_points(m) + 1);
	struct hashes h = { 0 };

	for (unsigned i = 0; i < m->nr; i++)
		for (uint32_t k = 0; k < model_nr_points(m->models[i]); k++) {
			add_point(&h, m->models[i], k);
			words[matcher_number(m, i, k)] = keep(&m->arena, &h);
		}
	vec_done(&h);
	m->words = words;
}

bool matcher_writes(const struct matcher *m, uint32_t number, struct str word)
{
	uint32_t hash = (uint32_t)str_hash(word);
	struct match_words w;

	if (number > matcher_nr_points(m))
		return false;
	w = m->words[number];
	return w.nr && bsearch(&hash, w.v, w.nr, sizeof(hash), by_hash);
}
