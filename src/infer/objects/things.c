#include "infer/objects/things.h"

#include <stdlib.h>

#include "base/shelf.h"
#include "base/time.h"
#include "infer/objects/elders.h"
#include "infer/objects/hosts.h"
#include "infer/objects/lives.h"
#include "infer/objects/spelling.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/mention.h"

#define UNKNOWN (UINT32_MAX - 1)

/* "blk_12_7" without its last number and the sign before it. */
static struct str without_last(struct str s)
{
	size_t n = s.n;

	while (n && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	return str_head(s, n ? n - 1 : 0);
}

/* The kind that shows as this one does without its last number, or UINT32_MAX. */
static uint32_t front_kind(const struct census *w, const struct kind *k)
{
	if (!kind_is_kept(k) || k->shown.n < 3 || !str_ends(k->shown, STR("#")))
		return UINT32_MAX;
	for (size_t i = 0; i < w->kinds.nr; i++)
		if ((kind_is_kept(&w->kinds.v[i]) || w->kinds.v[i].fate == FATE_PART) &&
		    str_eq(w->kinds.v[i].shown, str_head(k->shown, k->shown.n - 2)))
			return (uint32_t)i;
	return UINT32_MAX;
}

/* Seen in paths only, the front is known all the same. */
static void take_versions(struct census *w, uint32_t kind, uint32_t front)
{
	w->kinds.v[kind].version_of = front + 1;
	w->kinds.v[front].fate = FATE_KEPT;
	w->kinds.v[front].traits &= ~(unsigned)KIND_FOLDER;
	w->kinds.v[front].name = w->kinds.v[kind].name;
	w->kinds.v[front].lines += w->kinds.v[kind].lines;
	w->kinds.v[front].nr_templates += w->kinds.v[kind].nr_templates;
}

/* The value without its last number, if lines show it: an earlier settling may know more. */
static sym_t told_front(const struct census *w, sym_t value)
{
	const struct names *values = &w->told->values;
	sym_t head = names_find(values, without_last(names_str(values, value)));

	return head < w->nr_values && w->latest_of[head] ? head : 0;
}

struct fronts {
	uint64_t nr_values, nr_fronts, nr_known; /* distinct values, fronts, fronts seen alone */
};

/* Values that are another kind's with one more number behind are versions of those, when each has
 * few of them: a part of it would have many. */
static void find_versions(struct census *w)
{
	struct map many = { .shelf = w->shelf }, fronts = { .shelf = w->shelf };
	struct fronts *nr = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	uint32_t *front = mem_alloc(mem_bytes(w->kinds.nr + 1, sizeof(*front)));

	for (size_t i = 0; i < w->kinds.nr; i++)
		front[i] = front_kind(w, &w->kinds.v[i]);
	for (size_t d = 0; d < w->distinct.nr; d++) {
		const struct told_id *id = &w->distinct.v[d];
		uint32_t k = census_kind(w, id);
		uint64_t *at;
		sym_t head;

		census_look(w, d);
		if (!census_is_first(w, d, &many) || front[k] == UINT32_MAX)
			continue;
		head = told_front(w, id->value);
		nr[k].nr_values++;
		at = head ? map_at(&fronts, map_pair(k, head)) : NULL;
		nr[k].nr_fronts += !head || !*at;
		if (head && !(*at)++)
			nr[k].nr_known += census_has(w, front[k], head);
	}
	for (size_t i = 0; i < w->kinds.nr; i++)
		if (nr[i].nr_known && 5 * nr[i].nr_known >= nr[i].nr_fronts &&
		    2 * nr[i].nr_values <= 3 * nr[i].nr_fronts)
			take_versions(w, (uint32_t)i, front[i]);
	free(nr);
	free(front);
	map_done(&many);
	map_done(&fronts);
}

/* Kinds of numbers that come as 3 and as 3.1. */
static void find_dotted(struct census *w)
{
	struct told *t = w->told;
	unsigned char *seen = mem_zalloc(w->kinds.nr + 1);

	vec_each (&w->distinct, id) {
		struct str value = names_str(&t->values, id->value);
		size_t dot = str_find_char(value, '.');

		census_look(w, (size_t)(id - w->distinct.v));
		seen[census_kind(w, id)] |= dot < value.n ? 2 : 1;
	}
	for (size_t i = 0; i < w->kinds.nr; i++)
		if (w->kinds.v[i].traits & KIND_NUMBER && seen[i] == 3)
			w->kinds.v[i].traits |= KIND_DOTTED;
	free(seen);
}

static uint32_t thing_of(struct census *w, const struct told_id *id)
{
	uint32_t kind = census_kind(w, id);
	const struct kind *k = &w->kinds.v[kind];
	struct str value = names_str(&w->told->values, id->value);
	sym_t sym = id->value;

	const uint64_t *same = map_find(&w->same, map_pair(kind, id->value));

	if (same)
		return census_thing(w, (uint32_t)((*same - 1) >> 32), (sym_t)(*same - 1), 0);
	if (!kind_is_kept(k) || (k->zero_is_none && str_eq(value, STR("0"))))
		return UINT32_MAX;
	if (k->version_of) {
		kind = k->version_of - 1;
		sym = names_add(&w->told->values, without_last(value));
	} else if (k->traits & KIND_DOTTED) {
		sym = names_add(&w->told->values, str_head(value, str_find_char(value, '.')));
	}
	return census_thing(w, kind, sym, 0);
}

/* /orders/17/items: what it is asked of is order 17, the rest is a manner of asking. */
static bool is_asked_of_another(const struct census *w, const struct note *n,
				const struct told_id *path)
{
	struct str text = names_str(&w->told->values, path->value);

	if (!(w->kinds.v[census_kind(w, path)].traits & KIND_PATH))
		return false;
	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &w->told->ids.v[n->ids + i];
		const struct kind *k = &w->kinds.v[census_kind(w, id)];

		if (id->place & NAMED_WITHIN && kind_is_kept(k) && k->traits & KIND_FOLDER &&
		    k->is_called_id &&
		    str_find(text, names_str(&w->told->values, id->value)) < text.n)
			return true;
	}
	return false;
}

/* known: by distinct identifier, what was found for it. */
static void name_things(struct census *w, const struct note *n, uint32_t *known)
{
	size_t begin = w->named.nr;

	shelf_push(w->shelf, &w->named_at, (uint32_t)begin);
	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &w->told->ids.v[n->ids + i];
		uint32_t *at = &known[w->distinct_of[n->ids + i]], thing;
		bool is_new;

		if (is_asked_of_another(w, n, id) || elders_is(w, n, id))
			continue;
		if (*at == UNKNOWN)
			*at = thing_of(w, id);
		thing = *at;
		is_new = thing != UINT32_MAX;

		for (size_t j = begin; j < w->named.nr; j++)
			is_new &= w->named.v[j] != thing;
		if (!is_new)
			continue;
		shelf_push(w->shelf, &w->named, thing);
		census_lives(w, thing, n);
	}
}

static bool has_port(struct str address)
{
	return str_find_char(address, ':') < address.n;
}

/* An address that lives for a small part of the run is the far end of a connection. */
static void part_addresses(struct census *w)
{
	int64_t span = w->last_ns - w->first_ns;
	uint32_t *brief = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*brief)));

	if (w->first_ns == NS_NONE || w->is_small)
		span = 0;
	vec_each (&w->things, t) {
		struct kind *k = &w->kinds.v[t->kind];

		census_look(w, (size_t)(t - w->things.v));
		if (!(k->traits & KIND_ADDRESS) || k->traits & KIND_BRIEF || !span ||
		    !has_port(names_str(&w->told->values, t->value)))
			continue;
		if (t->lines >= 5 && (t->last_ns - t->first_ns) / 3 >= span / 10)
			continue;
		if (!brief[t->kind]) {
			struct kind made = { .id = kind_made_of(k->id, 0),
					     .traits = k->traits | KIND_BRIEF };

			brief[t->kind] = (uint32_t)w->kinds.nr + 1;
			made.shown = k->shown;
			made.name = arena_fmt(w->arena, STR_FMT " (brief)", STR_ARG(k->name));
			vec_push(&w->kinds, made);
		}
		t->kind = brief[t->kind] - 1;
	}
	free(brief);
}

void things_make(struct census *w)
{
	uint32_t *known = shelf_alloc(w->shelf, mem_bytes(w->distinct.nr + 1, sizeof(*known)));

	find_versions(w);
	find_dotted(w);
	spelling_find(w);
	for (size_t i = 0; i < w->distinct.nr; i++) {
		census_look(w, i);
		known[i] = UNKNOWN;
	}
	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		name_things(w, n, known);
	}
	shelf_give(w->shelf, known);
	shelf_push(w->shelf, &w->named_at, (uint32_t)w->named.nr);
	lives_part(w, true);
	part_addresses(w);
	hosts_name(w);
}

/* Strong names only: a number or a word in a path is that thing by chance. */
static void index_values(const struct census *w, struct map *by_value)
{
	for (size_t i = 0; i < w->things.nr; i++) {
		const struct thing *t = &w->things.v[i];

		census_look(w, i);
		if (!(w->kinds.v[t->kind].traits & (KIND_NUMBER | KIND_WORD | KIND_PATH)))
			*map_at(by_value, t->value) = i + 1;
	}
}

/* "logs/nm1.log" is written by nm1: the name of the file up to its first point. */
static struct str writer_of(struct str path)
{
	size_t begin = path.n;

	while (begin && path.p[begin - 1] != '/')
		begin--;
	path = str_skip(path, begin);
	return str_head(path, str_find_char(path, '.'));
}

static void path_part(struct census *w, struct str part, uint32_t log_kind,
		      const struct map *by_value, const struct names *writers)
{
	sym_t value = part.n ? names_find(&w->told->values, part) : 0;
	uint64_t *at = value ? map_find(by_value, value) : NULL;

	if (at)
		vec_push(&w->path, (uint32_t)(*at - 1));
	else if (writers && part.n && names_find(writers, part))
		vec_push(&w->path, census_thing(w, log_kind, names_add(&w->told->values, part), 0));
}

static void path_things(struct census *w, struct str path, uint32_t log_kind,
			const struct map *by_value, const struct names *writers)
{
	struct str part;

	while (str_take_until(&path, '/', &part))
		path_part(w, part, log_kind, by_value, writers);
	path_part(w, writer_of(path), log_kind, by_value, NULL);
}

/* Who writes a log, for what means something within one process: what its path names last, or the
 * log itself. */
static void find_writers(struct census *w, uint32_t log_kind)
{
	struct map nr = { 0 };

	for (size_t i = 0; i < w->logs.nr; i++) {
		struct str writer = writer_of(names_str(&w->told->texts, w->logs.v[i]));

		(*map_at(&nr, str_hash(writer)))++;
	}
	for (size_t i = 0; i < w->logs.nr; i++) {
		struct str path = names_str(&w->told->texts, w->logs.v[i]);
		struct str writer = writer_of(path);

		if (w->path_at.v[i + 1] > w->path_at.v[i]) {
			vec_push(&w->writers, w->path.v[w->path_at.v[i + 1] - 1]);
			continue;
		}
		if (*map_at(&nr, str_hash(writer)) > 1 || !writer.n)
			writer = path;
		vec_push(&w->writers,
			 census_thing(w, log_kind, names_add(&w->told->values, writer), 0));
	}
	map_done(&nr);
}

/* What stands in the log of a thing is about it, whether a line says so or not. */
static void live_by_paths(struct census *w)
{
	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t log = census_log(w, n->file);

		census_look(w, i);
		for (uint32_t j = w->path_at.v[log]; j < w->path_at.v[log + 1]; j++) {
			bool is_named = false;

			for (uint32_t k = w->named_at.v[i]; k < w->named_at.v[i + 1]; k++)
				is_named |= w->named.v[k] == w->path.v[j];
			if (!is_named)
				census_lives(w, w->path.v[j], n);
		}
	}
}

void things_of_paths(struct census *w)
{
	struct map by_value = { .shelf = w->shelf };
	struct names writers = { 0 };
	uint32_t log_kind = (uint32_t)w->kinds.nr;

	vec_push(&w->kinds, (struct kind){ .id = UINT64_MAX,
					   .name = STR("log"),
					   .shown = STR("log"),
					   .traits = KIND_LOG });
	index_values(w, &by_value);
	vec_each (&w->logs, file)
		names_add(&writers, writer_of(names_str(&w->told->texts, *file)));
	for (size_t i = 0; i < w->logs.nr; i++) {
		vec_push(&w->path_at, (uint32_t)w->path.nr);
		path_things(w, names_str(&w->told->texts, w->logs.v[i]), log_kind, &by_value,
			    &writers);
	}
	vec_push(&w->path_at, (uint32_t)w->path.nr);
	find_writers(w, log_kind);
	live_by_paths(w);
	names_done(&writers);
	map_done(&by_value);
}
