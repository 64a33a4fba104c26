#include "infer/objects/contexts.h"

#include <stdlib.h>

#include "infer/objects/census.h"
#include "infer/objects/told.h"

#define SEVERAL UINT64_MAX

bool contexts_may_be(const struct kind *k)
{
	return kind_is_kept(k) && !(k->traits & (KIND_NUMBER | KIND_WORD | KIND_PATH | KIND_BRIEF |
						 KIND_THREAD | KIND_LOG));
}

/* What each log names one thing of: (log, kind) to 1 + thing or SEVERAL. */
static void only_things(struct census *w, struct map *only, struct map *lines, uint64_t *log_lines)
{
	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t log = census_log(w, n->file);

		census_look(w, i);
		log_lines[log] += n->count;
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			uint32_t thing = w->named.v[j], kind = w->things.v[thing].kind;
			uint64_t *at;

			if (!contexts_may_be(&w->kinds.v[kind]))
				continue;
			at = map_at(only, map_pair(log, kind));
			*at = *at && *at != thing + 1 ? SEVERAL : thing + 1;
			*map_at(lines, map_pair(log, kind)) += n->count;
		}
	}
}

static void log_context(struct contexts *s, const struct census *w, uint32_t log, struct map *only,
			struct map *lines, uint64_t log_lines)
{
	size_t begin = s->v.nr;

	vec_push(&s->at, (uint32_t)begin);
	for (uint32_t i = w->path_at.v[log + 1]; i-- > w->path_at.v[log];) {
		uint32_t kind = w->things.v[w->path.v[i]].kind;

		if (contexts_may_be(&w->kinds.v[kind]))
			vec_push(&s->v, (struct context){ kind, w->path.v[i] });
		*map_at(only, map_pair(log, kind)) = SEVERAL;
	}
	for (uint32_t kind = 0; kind < w->kinds.nr; kind++) {
		uint64_t *at = map_find(only, map_pair(log, kind));
		uint64_t nr = at ? *map_at(lines, map_pair(log, kind)) : 0;

		if (at && *at && *at != SEVERAL && nr >= 2 &&
		    (50 * nr >= log_lines || s->is_in_path[kind]))
			vec_push(&s->v, (struct context){ kind, (uint32_t)(*at - 1) });
	}
}

void contexts_find(struct contexts *s, struct census *w)
{
	struct map only = { 0 }, lines = { 0 };
	uint64_t *log_lines = mem_zalloc(mem_bytes(w->logs.nr + 1, sizeof(*log_lines)));

	s->is_in_path = mem_zalloc(w->kinds.nr + 1);
	vec_each (&w->path, thing)
		s->is_in_path[w->things.v[*thing].kind] = true;
	only_things(w, &only, &lines, log_lines);
	for (uint32_t log = 0; log < w->logs.nr; log++)
		log_context(s, w, log, &only, &lines, log_lines[log]);
	vec_push(&s->at, (uint32_t)s->v.nr);
	free(log_lines);
	map_done(&only);
	map_done(&lines);
}

size_t contexts_of(const struct contexts *s, const struct census *w, size_t note, uint32_t log,
		   struct context *v)
{
	size_t nr = 0;

	for (uint32_t i = w->named_at.v[note]; i < w->named_at.v[note + 1]; i++) {
		uint32_t kind = w->things.v[w->named.v[i]].kind;
		size_t j = 0;

		if (!contexts_may_be(&w->kinds.v[kind]))
			continue;
		while (j < nr && v[j].kind != kind)
			j++;
		if (j < nr)
			v[j].thing = UINT32_MAX; /* several: which one is not told */
		else if (nr < MAX_CONTEXTS)
			v[nr++] = (struct context){ kind, w->named.v[i] };
	}
	for (uint32_t i = s->at.v[log]; i < s->at.v[log + 1]; i++) {
		size_t j = 0;

		while (j < nr && v[j].kind != s->v.v[i].kind)
			j++;
		if (j == nr && nr < MAX_CONTEXTS)
			v[nr++] = s->v.v[i];
	}
	return nr;
}

void contexts_done(struct contexts *s)
{
	vec_done(&s->v);
	vec_done(&s->at);
	free(s->is_in_path);
}
