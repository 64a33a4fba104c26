/*
 * Once words are known to be names, they are wherever they stand by themselves: in the text of a
 * line, between the slashes of a path, in the name of a thread. What each path, thread and text
 * holds is found once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "infer/requests/nouns.h"
#include "infer/requests/plain.h"
#include "infer/requests/tokens.h"

enum {
	FEW_MAX = 4,        /* names in one path, thread or text */
	WORDS_OF_LINE = 16, /* in one line */
	ATOMS = 3,          /* pieces of a thread's name that make up one */
	BESIDE_MIN = 3, /* a word that stands beside so many others of its sort is above them ... */
	BESIDE_PART = 4, /* ... if these are one in so many, at least */
	PAIR_MAX = 3,    /* a line with more lists things */
};

/* Words as numbers of chosen. */
struct few {
	unsigned nr;
	uint32_t v[FEW_MAX];
};

struct namer {
	struct gather *g;
	const struct names *chosen;
	uint32_t *thing; /* of each word: its name, or 0 */
	VEC(struct few) few;
	struct map in_path, in_thread, in_type; /* which of the few */
	uint32_t *type;                         /* of each type: that without the names */
	sym_t nr_types;
};

static void add_word(struct few *f, uint32_t word)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (f->v[i] == word)
			return;
	if (word && f->nr < FEW_MAX)
		f->v[f->nr++] = word;
}

static void keep_few(struct namer *n, struct map *in, uint32_t key, const struct few *f)
{
	if (!f->nr)
		return;
	vec_push(&n->few, *f);
	*map_at(in, key) = n->few.nr;
}

static void look_at_path(struct namer *n, uint32_t thing)
{
	struct str path = gather_value(n->g, thing);
	struct few f = { 0 };

	while (path.n) {
		size_t end = str_find_char(path, '/');

		if (end)
			add_word(&f, names_find(n->chosen, str_head(path, end)));
		path = str_skip(path, end < path.n ? end + 1 : end);
	}
	keep_few(n, &n->in_path, thing, &f);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

/* Where the letters end that begin here. */
static size_t atom_end(struct str s, size_t at)
{
	while (at < s.n && is_letter(s.p[at]))
		at++;
	return at;
}

static void look_at_thread(struct namer *n, uint32_t thread)
{
	struct str s = names_str(&n->g->threads, thread);
	struct few f = { 0 };

	for (size_t at = 0; at < s.n;) {
		size_t end = at, to = atom_end(s, at), next = to > at ? to : at + 1;

		for (int i = 0; i < ATOMS && to > end; i++) {
			add_word(&f, names_find(n->chosen, (struct str){ s.p + at, to - at }));
			end = to;
			to = to + 1 < s.n ? atom_end(s, to + 1) : to;
		}
		at = next;
	}
	keep_few(n, &n->in_thread, thread, &f);
}

/* The text without its names is that of one statement. */
static void look_at_type(struct namer *n, uint32_t type)
{
	struct str text = names_str(&n->g->types, type), word;
	size_t at = str_find_char(text, '|'), from = 0;
	struct buf masked = { 0 };
	struct few f = { 0 };

	while (plain_next(text, &at, &word)) {
		uint32_t found = names_find(n->chosen, word);

		if (!found || !n->thing[found])
			continue;
		add_word(&f, found);
		buf_add(&masked, (struct str){ text.p + from, (size_t)(word.p - text.p) - from });
		buf_add(&masked, STR("<*>"));
		from = (size_t)(word.p - text.p) + word.n;
	}
	buf_add(&masked, str_skip(text, from));
	if (f.nr)
		n->type[type] = names_add(&n->g->types, buf_str(&masked));
	while (n->g->statement.nr < n->g->types.nr)
		vec_push(&n->g->statement, 0);
	keep_few(n, &n->in_type, type, &f);
	buf_done(&masked);
}

static void look_at_types(struct namer *n)
{
	n->nr_types = n->g->types.nr;
	n->type = mem_zalloc(mem_bytes(n->nr_types + 1u, sizeof(*n->type)));
	for (uint32_t i = 0; i < n->nr_types; i++) {
		n->type[i] = i;
		if (i < n->g->statement.nr && !n->g->statement.v[i])
			look_at_type(n, i);
	}
}

static void look_at_all(struct namer *n)
{
	for (uint32_t i = 1; i < n->g->things.nr; i++)
		if (str_starts(names_str(&n->g->things, i), STR("path/")))
			look_at_path(n, i);
	for (uint32_t i = 1; i < n->g->threads.nr; i++)
		look_at_thread(n, i);
	look_at_types(n);
}

/* --- names of a line ----------------------------------------------------------------------- */

struct line_words {
	unsigned nr;
	uint32_t v[WORDS_OF_LINE];
};

static void put_word(const struct namer *n, struct line_words *to, uint32_t word)
{
	for (unsigned i = 0; i < to->nr; i++)
		if (to->v[i] == word)
			return;
	if (word && n->thing[word] && to->nr < WORDS_OF_LINE)
		to->v[to->nr++] = word;
}

static void put_few(const struct namer *n, struct line_words *to, const struct map *in,
		    uint32_t key)
{
	const uint64_t *at = in->nr ? map_find(in, key) : NULL;

	for (unsigned i = 0; at && i < n->few.v[*at - 1].nr; i++)
		put_word(n, to, n->few.v[*at - 1].v[i]);
}

/* What the text of the line names. */
static void words_of(const struct namer *n, const struct seen_line *l, struct line_words *to)
{
	const uint32_t *named = n->g->named.v + l->name_at;

	to->nr = 0;
	for (unsigned i = 0; i < l->nr_words; i++)
		put_word(n, to, names_find(n->chosen, gather_value(n->g, named[l->nr_names + i])));
	put_few(n, to, &n->in_type, l->type);
	for (unsigned i = 0; i < l->nr_own; i++)
		put_few(n, to, &n->in_path, named[i]);
}

/* What stands beside many others is not one of them: the folder that all are in, the list of all.
 */
static void drop_above(struct namer *n)
{
	uint32_t *beside = mem_zalloc(mem_bytes(n->chosen->nr + 1u, sizeof(*beside)));
	struct line_words words;
	struct map pairs = { 0 };

	vec_each (&n->g->lines, l) {
		words_of(n, l, &words);
		for (unsigned i = 0; i < words.nr && words.nr <= PAIR_MAX; i++)
			for (unsigned k = 0; k < words.nr; k++)
				if (i != k &&
				    !(*map_at(&pairs, map_pair(words.v[i], words.v[k])))++)
					beside[words.v[i]]++;
	}
	for (uint32_t w = 1; w < n->chosen->nr; w++)
		if (beside[w] >= BESIDE_MIN && beside[w] * BESIDE_PART >= n->chosen->nr - 1)
			n->thing[w] = 0;
	free(beside);
	map_done(&pairs);
}

static void push_thing(struct gather *g, struct seen_line *l, uint32_t thing)
{
	for (size_t i = l->name_at; i < g->named.nr; i++)
		if (g->named.v[i] == thing)
			return;
	vec_push(&g->named, thing);
	l->nr_names++;
}

/* The line as it was, from the saved one. */
static void name_line(struct namer *n, const struct nouns *old, const struct seen_line *was,
		      const struct line_words *own, struct seen_line *l)
{
	const uint32_t *named = old->named.v + was->name_at;
	struct line_words thread = { 0 };

	l->name_at = (uint32_t)n->g->named.nr;
	l->nr_names = 0;
	for (unsigned i = 0; i < was->nr_own; i++)
		push_thing(n->g, l, named[i]);
	for (unsigned i = 0; i < own->nr; i++)
		push_thing(n->g, l, n->thing[own->v[i]]);
	l->nr_own = l->nr_names;
	for (unsigned i = was->nr_own; i < was->nr_names; i++)
		push_thing(n->g, l, named[i]);
	put_few(n, &thread, &n->in_thread, l->thread);
	for (unsigned i = 0; i < thread.nr; i++)
		push_thing(n->g, l, n->thing[thread.v[i]]);
	l->nr_words = 0;
	l->type = l->type < n->nr_types ? n->type[l->type] : l->type;
}

static void name_lines(struct namer *n, struct nouns *old)
{
	struct gather *g = n->g;
	struct line_words *own = mem_zalloc(mem_bytes(g->lines.nr + 1, sizeof(*own)));

	for (size_t i = 0; i < g->lines.nr; i++)
		words_of(n, &g->lines.v[i], &own[i]);
	vec_each (&g->lines, l)
		vec_push(&old->lines, *l);
	memcpy(&old->named, &g->named, sizeof(old->named));
	memset(&g->named, 0, sizeof(g->named));
	for (size_t i = 0; i < g->lines.nr; i++)
		name_line(n, old, &old->lines.v[i], &own[i], &g->lines.v[i]);
	free(own);
}

static void name_things(struct namer *n)
{
	struct buf name = { 0 };

	n->thing = mem_zalloc(mem_bytes(n->chosen->nr + 1u, sizeof(*n->thing)));
	for (uint32_t w = 1; w < n->chosen->nr; w++) {
		buf_clear(&name);
		buf_add(&name, STR(TOKENS_WORD));
		buf_char(&name, TOKENS_SEPARATOR);
		buf_add(&name, names_str(n->chosen, w));
		n->thing[w] = gather_thing(n->g, buf_str(&name), str_hash(buf_str(&name)));
	}
	buf_done(&name);
}

bool nouns_add(struct nouns *old, struct gather *g, const struct names *chosen)
{
	struct namer n = { .g = g, .chosen = chosen };
	uint32_t left = 0;

	name_things(&n);
	look_at_all(&n);
	drop_above(&n);
	for (uint32_t w = 1; w < chosen->nr; w++)
		left += n.thing[w] > 0;
	if (left)
		name_lines(&n, old);
	free(n.thing);
	free(n.type);
	vec_done(&n.few);
	map_done(&n.in_path);
	map_done(&n.in_thread);
	map_done(&n.in_type);
	return left > 0;
}

void nouns_undo(struct nouns *n, struct gather *g)
{
	if (n->is_on) {
		vec_done(&g->named);
		memcpy(&g->named, &n->named, sizeof(g->named));
		memset(&n->named, 0, sizeof(n->named));
		for (size_t i = 0; i < g->lines.nr; i++)
			g->lines.v[i] = n->lines.v[i];
	}
	vec_done(&n->lines);
	n->is_on = false;
}
