#include "infer/objects/kinds.h"

#include <stdlib.h>

#include "base/time.h"
#include "infer/objects/shape.h"
#include "infer/objects/told.h"
#include "infer/objects/census.h"
#include "model/loss.h"
#include "model/mention.h"
#include "model/shown.h"

/* How the values of a kind behave. */
struct habit {
	uint64_t thread_lines, id_lines;     /* in threads; where the key says id */
	uint64_t nr_places, nr_places_twice; /* (log, value), and those that two statements name */
	uint64_t nr_steps, nr_up;            /* first appearances in a log, and those that ascend */
	uint64_t nr_mixed;                   /* statements that name several values */
	uint64_t nr_outer;                   /* lines where it contains another identifier */
	uint64_t nr_paths;                   /* (value, path that it is a part of) */
	uint64_t nr_within;                  /* lines where it is a part of another one */
	uint64_t zero_lines;                 /* lines where it is 0 */
};

struct habits {
	struct census *w;
	struct habit *v;       /* by kind */
	struct map templates;  /* (kind, template): 1 + value, or MANY */
	struct map places;     /* (kind, log, value): 1 + template, or MANY */
	struct map around;     /* (kind, value, path) */
	struct map last_first; /* (kind, log): 1 + the number that appeared last */
};

#define MANY UINT64_MAX
#define SPEAKS ((uint64_t)1 << 40) /* a key is better than any number of schemas */

static void first_kinds(struct census *w)
{
	struct told *t = w->told;

	for (size_t i = 0; i < 3 * ((size_t)t->shown.nr + 1); i++)
		w->kind_of[i] = UINT32_MAX;
	vec_each (&w->distinct, id) {
		census_look(w, (size_t)(id - w->distinct.v));
		if (census_kind(w, id) != UINT32_MAX)
			continue;
		census_set_kind(w, id, (uint32_t)w->kinds.nr);
		vec_push(&w->kinds, (struct kind){ .id = w->kinds.nr + 1,
						   .shown = names_str(&t->shown, id->shown) });
	}
}

/* Constants and what varies between them: attempt_#_m_#, req-*. */
static bool is_schema(struct str shown)
{
	return str_find_char(shown, '#') < shown.n || str_find_char(shown, '*') < shown.n;
}

/* Addresses of mail are known by their look, as what is made by a schema is. */
static bool is_mail(struct str shown)
{
	return str_starts(shown, STR("mail")) && (shown.n == 4 || shown.p[4] == '/');
}

/* A trait holds when nine in ten distinct values have it; a small number must all be small. */
static void find_traits(struct census *w)
{
	static const unsigned traits[] = { KIND_NUMBER, KIND_SMALL,   KIND_WORD,
					   KIND_PATH,   KIND_ADDRESS, KIND_RANDOM };
	struct map many = { .shelf = w->shelf };
	uint64_t(*nr)[6] = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	uint64_t *all = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*all)));

	for (size_t d = 0; d < w->distinct.nr; d++) {
		const struct told_id *id = &w->distinct.v[d];
		uint32_t kind = census_kind(w, id);
		unsigned shape;

		census_look(w, d);
		if (!census_is_first(w, d, &many))
			continue;
		shape = shape_of(names_str(&w->told->values, id->value));
		all[kind]++;
		for (size_t i = 0; i < 6; i++)
			nr[kind][i] += !!(shape & traits[i]);
	}
	for (size_t k = 0; k < w->kinds.nr; k++) {
		for (size_t i = 0; i < 6; i++) {
			uint64_t need = traits[i] == KIND_SMALL ? all[k] : (9 * all[k] + 9) / 10;

			if (nr[k][i] >= need)
				w->kinds.v[k].traits |= traits[i];
		}
		/* a key with values of all sorts: names at best, and to be proved as words are */
		if (!w->kinds.v[k].traits && !is_schema(w->kinds.v[k].shown) &&
		    !is_mail(w->kinds.v[k].shown))
			w->kinds.v[k].traits = KIND_WORD;
	}
	free(nr);
	free(all);
	map_done(&many);
}

static void note_order(struct habits *h, uint32_t kind, uint32_t log, sym_t value)
{
	struct str text = names_str(&h->w->told->values, value);
	uint64_t number, *last = map_at(&h->last_first, map_pair(kind, log));

	if (!str_take_uint(&text, &number))
		return;
	if (*last) {
		h->v[kind].nr_steps++;
		h->v[kind].nr_up += number + 1 > *last;
	}
	*last = number + 1;
}

static uint64_t key_of(uint32_t kind, sym_t value, uint32_t where)
{
	return map_three(kind, where, value);
}

static void note_place(struct habits *h, uint32_t kind, uint32_t log, sym_t value,
		       uint32_t template)
{
	uint64_t *at = map_at(&h->places, key_of(kind, value, log));

	if (!*at) {
		*at = template + 1;
		h->v[kind].nr_places++;
		note_order(h, kind, log, value);
	} else if (*at != MANY && *at != template + 1) {
		*at = MANY;
		h->v[kind].nr_places_twice++;
	}
}

static bool holds_another(const struct census *w, const struct note *n, const struct told_id *outer)
{
	struct str text = names_str(&w->told->values, outer->value);

	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &w->told->ids.v[n->ids + i];
		struct str inner = names_str(&w->told->values, id->value);

		if (id != outer && id->place & NAMED_WITHIN && inner.n < text.n &&
		    kind_is_kept(&w->kinds.v[census_kind(w, id)]) && str_find(text, inner) < text.n)
			return true;
	}
	return false;
}

/* The path that it is a part of, or 0. Parts of a path are names of folders; parts of another name
 * may be what it belongs to, unless they are at random: then it is known by them. */
static sym_t path_around(const struct census *w, const struct note *n, const struct told_id *inner)
{
	struct str part = names_str(&w->told->values, inner->value);

	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &w->told->ids.v[n->ids + i];
		struct str text = names_str(&w->told->values, id->value);

		if (id != inner && w->kinds.v[census_kind(w, id)].traits & KIND_PATH &&
		    text.n > part.n && str_find(text, part) < text.n)
			return id->value;
	}
	return 0;
}

/* How many values each kind has. */
static void count_values(struct census *w)
{
	struct map many = { .shelf = w->shelf };

	for (size_t d = 0; d < w->distinct.nr; d++) {
		census_look(w, d);
		w->kinds.v[census_kind(w, &w->distinct.v[d])].nr_values +=
			census_is_first(w, d, &many);
	}
	map_done(&many);
}

/* 00083: one of files that are to be listed in order. */
static bool is_padded(struct str number)
{
	return number.n > 1 && number.p[0] == '0';
}

static void note_statement(struct habits *h, uint32_t kind, uint32_t template, sym_t value)
{
	uint64_t *at = map_at(&h->templates, map_pair(kind, template));

	h->w->kinds.v[kind].nr_templates += !*at;
	if (!*at) {
		*at = (uint64_t)value + 1;
	} else if (*at != MANY && *at != (uint64_t)value + 1) {
		*at = MANY;
		h->v[kind].nr_mixed++;
	}
}

static void note_habits(struct habits *h, const struct note *n)
{
	struct census *w = h->w;
	uint32_t log = census_log(w, n->file);

	for (size_t i = 0; i < n->nr; i++) {
		const struct told_id *id = &w->told->ids.v[n->ids + i];
		uint32_t k = census_kind(w, id);
		struct kind *kind = &w->kinds.v[k];

		note_statement(h, k, n->template, id->value);
		kind->lines += n->count;
		if (id->place & NAMED_IN_THREAD)
			h->v[k].thread_lines += n->count;
		if (id->place & NAMED_ID && !is_padded(names_str(&w->told->values, id->value)))
			h->v[k].id_lines += n->count;
		if (str_eq(names_str(&w->told->values, id->value), STR("0")))
			h->v[k].zero_lines += n->count;
		if (id->place & NAMED_WITHIN) {
			sym_t path = path_around(w, n, id);

			h->v[k].nr_within += path || kind->traits & KIND_RANDOM ? n->count : 0;
			if (path && !(*map_at(&h->around, key_of(k, id->value, path)))++)
				h->v[k].nr_paths++;
		}
		/* of others nobody asks where they are, and there may be very many */
		if (kind->traits & KIND_NUMBER)
			note_place(h, k, log, id->value, n->template);
	}
}

/* Keys of numbers that count, or that do not say what they number. */
static bool is_counting(struct str key)
{
	static const struct str keys[] = { STR("id"),         STR("ids"),    STR("index"),
					   STR("idx"),        STR("no"),     STR("nr"),
					   STR("num"),        STR("number"), STR("seq"),
					   STR("seqid"),      STR("seqno"),  STR("sequence"),
					   STR("sequenceid"), STR("count"),  STR("counter") };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (str_eq_nocase(key, keys[i]))
			return true;
	return false;
}

/* Whether what stands in front says that it numbers something. */
static bool is_called_id(const struct kind *k, const struct habit *h)
{
	return k->traits & (KIND_NUMBER | KIND_RANDOM) && 2 * h->id_lines > k->lines;
}

/* Numbers are amounts unless they are given out in order and named again elsewhere. */
static enum fate number_fate(const struct kind *k, const struct habit *h, bool is_small)
{
	if (k->lines < (is_small ? 2 : 5) || k->nr_values < 2)
		return FATE_RARE;
	if (is_counting(k->shown))
		return FATE_ONCE;
	/* who calls it an id need not give them out in order */
	if (is_called_id(k, h))
		return 5 * k->lines < 6 * (uint64_t)k->nr_values ? FATE_ONCE : FATE_KEPT;
	if (2 * k->lines < 3 * (uint64_t)k->nr_values)
		return FATE_ONCE;
	if (10 * h->nr_places_twice < 3 * h->nr_places)
		return FATE_ALONE;
	if (h->nr_steps && 100 * h->nr_up < 55 * h->nr_steps)
		return FATE_NO_ORDER;
	return FATE_KEPT;
}

/* Words that answer a question rather than name something. */
static bool is_answer(struct str s)
{
	static const struct str answers[] = { STR("true"), STR("false"), STR("null"), STR("none"),
					      STR("yes"),  STR("no"),    STR("on"),   STR("off") };

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (str_eq_nocase(s, answers[i]))
			return true;
	return false;
}

/* Kinds of hexadecimal values most of which spell a text: contents, not names. */
static void drop_spelled(struct census *w)
{
	uint64_t *nr = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr)));
	uint64_t *nr_texts = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*nr_texts)));

	vec_each (&w->told->ids, id) {
		uint32_t kind = census_kind(w, id);

		census_look(w, (size_t)(id - w->told->ids.v));
		if (!(w->kinds.v[kind].traits & KIND_RANDOM))
			continue;
		nr[kind]++;
		nr_texts[kind] += shape_is_text(names_str(&w->told->values, id->value));
	}
	for (size_t i = 0; i < w->kinds.nr; i++)
		if (w->kinds.v[i].traits & KIND_RANDOM && 2 * nr_texts[i] >= nr[i] &&
		    kind_is_kept(&w->kinds.v[i]))
			w->kinds.v[i].fate = FATE_ONCE;
	free(nr);
	free(nr_texts);
}

static void drop_answers(struct census *w)
{
	vec_each (&w->distinct, id) {
		struct kind *k = &w->kinds.v[census_kind(w, id)];

		census_look(w, (size_t)(id - w->distinct.v));
		if (k->traits & KIND_WORD && kind_is_kept(k) &&
		    is_answer(names_str(&w->told->values, id->value)))
			k->fate = FATE_STATE;
	}
}

/* 0+955890 and the like are ranges and sums. */
static bool has_letters(struct str shown)
{
	for (size_t i = 0; i < shown.n; i++)
		if (((shown.p[i] | 0x20) >= 'a' && (shown.p[i] | 0x20) <= 'z') || shown.p[i] == '*')
			return true;
	return false;
}

static bool is_at_random(const struct kind *k)
{
	return k->traits & KIND_RANDOM || str_find_char(k->shown, '*') < k->shown.n;
}

/* AH00128, ORA-01555: each statement has its own, and each is of one statement. */
static bool is_code(const struct kind *k, const struct habit *h)
{
	return k->nr_values >= 3 && !h->nr_mixed && k->nr_templates == k->nr_values &&
	       !h->nr_places_twice;
}

static enum fate fate_of(const struct kind *k, const struct habit *h, bool is_small)
{
	/* a random name in several paths is that of what they are all of; /orders/17 is order 17 */
	if (10 * h->nr_within >= 9 * k->lines &&
	    !(is_at_random(k) && h->nr_paths >= 2 * (uint64_t)k->nr_values) && !is_called_id(k, h))
		return FATE_PART;
	if (k->traits & KIND_NUMBER)
		return number_fate(k, h, is_small);
	if (!(k->traits & (KIND_RANDOM | KIND_ADDRESS | KIND_PATH)) && !has_letters(k->shown))
		return FATE_ONCE;
	if (is_small)
		return FATE_KEPT;
	if (k->nr_values < 2 || k->lines < 4)
		return FATE_RARE;
	if (5 * k->lines < 6 * (uint64_t)k->nr_values)
		return FATE_ONCE;
	return is_code(k, h) ? FATE_ALONE : FATE_KEPT;
}

/* 0 on many more lines than any number has: nobody has it. */
static bool is_zero_none(const struct kind *k, const struct habit *h)
{
	return k->traits & KIND_NUMBER && k->nr_values >= 50 && 5 * h->zero_lines >= k->lines &&
	       h->zero_lines >= 20 * (k->lines / k->nr_values);
}

/* Whether names end in small numbers, as threads of a pool do. */
static bool is_counted(const struct census *w, uint32_t kind)
{
	vec_each (&w->distinct, id) {
		uint64_t v[8];
		size_t nr;

		census_look(w, (size_t)(id - w->distinct.v));
		if (census_kind(w, id) != kind)
			continue;
		nr = shape_numbers(names_str(&w->told->values, id->value), v, 8);
		if (!nr || nr > 2 || v[nr - 1] >= 10000)
			return false;
	}
	return true;
}

static bool has_inner(const struct census *w, const struct note *n)
{
	unsigned places = 0;

	for (size_t i = 0; i < n->nr; i++)
		places |= w->told->ids.v[n->ids + i].place;
	return places & NAMED_WITHIN;
}

/* Paths that hold the name of a thing are about that thing; so are threads named after one. */
static void drop_outer(struct habits *h)
{
	struct census *w = h->w;

	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		for (size_t i = 0; i < n->nr && has_inner(w, n); i++) {
			const struct told_id *id = &w->told->ids.v[n->ids + i];
			uint32_t k = census_kind(w, id);

			if (!(id->place & NAMED_WITHIN) && holds_another(w, n, id))
				h->v[k].nr_outer += n->count;
		}
	}
	for (size_t i = 0; i < w->kinds.nr; i++) {
		struct kind *k = &w->kinds.v[i];
		bool is_shell = 2 * h->v[i].thread_lines >= k->lines;

		if (kind_is_kept(k) && is_shell && 2 * h->v[i].nr_outer >= k->lines)
			k->fate = FATE_OUTER;
	}
}

/* A flood of names that are each seen once makes no objects, and is told. Numbers are amounts. */
static void count_once(const struct census *w)
{
	vec_each (&w->kinds, k)
		if (k->fate == FATE_ONCE && !(k->traits & KIND_NUMBER) && has_letters(k->shown))
			w->losses->count[LOSS_NAMES_ONCE] += k->nr_values;
}

static void judge(struct census *w)
{
	struct habits h = { .w = w };

	h.places.shelf = h.around.shelf = w->shelf;

	h.v = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*h.v)));
	count_values(w);
	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		note_habits(&h, n);
	}
	for (size_t i = 0; i < w->kinds.nr; i++) {
		struct kind *k = &w->kinds.v[i];

		if (k->fate != FATE_KEPT)
			continue;
		k->fate = fate_of(k, &h.v[i], w->is_small);
		k->is_called_id = is_called_id(k, &h.v[i]);
		k->zero_is_none = is_zero_none(k, &h.v[i]);
		if (10 * h.v[i].nr_within >= 9 * k->lines)
			k->traits |= KIND_FOLDER;
		if (10 * h.v[i].thread_lines >= 9 * k->lines && is_counted(w, (uint32_t)i))
			k->traits |= KIND_THREAD;
	}
	if (!w->is_small)
		kinds_keep_hanging(w);
	drop_outer(&h);
	count_once(w);
	free(h.v);
	map_done(&h.templates);
	map_done(&h.places);
	map_done(&h.last_first);
	map_done(&h.around);
}

/* Of the keys of one kind: the one that says most, which is one with letters and many lines. */
static uint64_t worth_of(struct str name, uint64_t lines)
{
	size_t nr_letters = 0;

	for (size_t i = 0; i < name.n; i++)
		nr_letters += (name.p[i] | 0x20) >= 'a' && (name.p[i] | 0x20) <= 'z';
	if (nr_letters < 2 || str_find_char(name, '*') < name.n)
		return lines;
	/* one schema of many says what some of them are called */
	return str_find_char(name, '#') == name.n ? lines + SPEAKS : lines;
}

static bool has_words(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if ((name.p[i] | 0x20) >= 'a' && (name.p[i] | 0x20) <= 'z')
			return true;
	return false;
}

/* "attempt_m" rather than "attempt_#_m_#". */
static void find_names(struct census *w)
{
	uint64_t *lines = mem_zalloc(mem_bytes((size_t)w->told->shown.nr + 1, sizeof(*lines)));
	uint64_t *worth = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*worth)));

	vec_each (&w->told->notes, n) {
		census_look(w, (size_t)(n - w->told->notes.v));
		for (size_t i = 0; i < n->nr; i++)
			lines[w->told->ids.v[n->ids + i].shown] += n->count;
	}
	vec_each (&w->distinct, id) {
		struct kind *k = &w->kinds.v[census_kind(w, id)];
		struct str shown = names_str(&w->told->shown, id->shown);
		uint64_t found = worth_of(shown, lines[id->shown]);
		char *name;

		census_look(w, (size_t)(id - w->distinct.v));
		if (k->name.n && found <= worth[k - w->kinds.v])
			continue;
		worth[k - w->kinds.v] = found;
		if (k->is_family && str_find_char(shown, '#') < shown.n) {
			k->name = arena_fmt(w->arena, "*" STR_FMT, STR_ARG(kinds_tail(shown)));
			continue;
		}
		name = arena_room(w->arena, shown.n + 1);
		k->name = (struct str){ name, shown_name(shown, name) };
		if (!has_words(k->name))
			k->name = arena_str(w->arena, shown);
	}
	free(worth);
	free(lines);
}

static int by_lines(const void *a, const void *b)
{
	const struct kind *x = *(struct kind *const *)a, *y = *(struct kind *const *)b;

	if (x->lines != y->lines)
		return x->lines > y->lines ? -1 : 1;
	return (x > y) - (x < y);
}

/* Of kinds with the same name the one with the most lines has it, others get a number. */
static void give_names(struct census *w)
{
	struct kind **kinds = mem_alloc(mem_bytes(w->kinds.nr + 1, sizeof(struct kind *)));
	struct names taken = { 0 };
	struct map nr = { 0 };

	find_names(w);
	for (size_t i = 0; i < w->kinds.nr; i++)
		kinds[i] = &w->kinds.v[i];
	qsort(kinds, w->kinds.nr, sizeof(struct kind *), by_lines);
	for (size_t i = 0; i < w->kinds.nr; i++) {
		uint64_t *at;

		if (!kind_is_kept(kinds[i]))
			continue;
		at = map_at(&nr, names_add(&taken, kinds[i]->name));
		if ((*at)++)
			kinds[i]->name =
				arena_fmt(w->arena, STR_FMT "/%llu", STR_ARG(kinds[i]->name),
					  (unsigned long long)*at);
	}
	free(kinds);
	names_done(&taken);
	map_done(&nr);
}

void kinds_make(struct census *w)
{
	first_kinds(w);
	find_traits(w);
	kinds_unite(w);
	drop_answers(w);
	drop_spelled(w);
	judge(w);
	give_names(w);
}
