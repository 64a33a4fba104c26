#include "ident/namer.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "ident/gist.h"
#include "ident/known.h"
#include "ident/line.h"
#include "ident/overrides.h"
#include "model/loss.h"

#define NR_SLOTS_FIRST 4096u

struct slot {
	uint64_t hash;
	struct mention *mention; /* NULL: free */
};

/* What is named where a mention is looked for: of the text, then of the thread. */
struct found {
	struct named v[2 * LINE_NAMES];
	size_t nr;
	uint64_t template;
	struct str title;
};

struct namer {
	struct known *lines, *threads;
	struct line_aids aids;
	bool is_forgetful; /* digits may decide what a line names */
	struct gist gist;
	struct line line;
	struct found found;
	struct slot *slots; /* mentions of this round */
	size_t nr, nr_slots;
};

struct namer *namer_new(const struct namer_options *o)
{
	struct namer *n = mem_zalloc(sizeof(*n));

	if (o) {
		n->aids.overrides = o->overrides;
		n->aids.constants = o->constants;
		n->is_forgetful = o->overrides && overrides_has_expressions(o->overrides);
	}
	n->lines = known_new();
	n->threads = known_new();
	n->nr_slots = NR_SLOTS_FIRST;
	n->slots = mem_zalloc(mem_bytes(n->nr_slots, sizeof(*n->slots)));
	return n;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	known_free(n->lines);
	known_free(n->threads);
	cover_done(&n->aids.cover);
	free(n->slots);
	free(n);
}

void namer_begin(struct namer *n)
{
	known_tidy(n->lines);
	known_tidy(n->threads);
	if (n->nr)
		memset(n->slots, 0, mem_bytes(n->nr_slots, sizeof(*n->slots)));
	n->nr = 0;
}

/* --- what a text names --------------------------------------------------------------------- */

static void add_known(struct found *f, const struct known_line *k, const struct gist *g,
		      struct str text, struct arena *arena)
{
	for (size_t i = 0; i < k->nr; i++) {
		const struct known_name *v = &k->v[i];
		struct spelling s = { .from = (uint16_t)gist_find(g, v->from),
				      .to = (uint16_t)gist_find(g, v->to),
				      .how = v->how };
		char *to = NULL;

		if (v->how || v->prefix.n)
			to = arena_room(arena, v->prefix.n + (size_t)(s.to - s.from));
		f->v[f->nr++] = (struct named){ .type = v->type,
						.value = line_spell(text, &s, v->prefix, to),
						.place = v->place };
	}
	if (k->is_repeated)
		line_mark_lists(f->v + f->nr - k->nr, k->nr);
}

/* The line is read anew with the next text: what it holds is copied. */
static void add_read(struct found *f, const struct line *l, struct arena *arena)
{
	const char *end = l->room + sizeof(l->room);

	for (size_t i = 0; i < l->nr; i++) {
		struct named v = l->v[i];

		v.type = arena_str(arena, v.type);
		if (v.value.p >= l->room && v.value.p < end)
			v.value = arena_str(arena, v.value);
		f->v[f->nr++] = v;
	}
}

static void find(struct namer *n, struct known *known, struct str text, bool is_thread,
		 struct arena *arena, struct losses *losses)
{
	struct found *f = &n->found;
	const struct known_line *k = NULL;
	bool is_new = true, is_gist = !n->is_forgetful && gist_make(&n->gist, text);

	if (is_gist)
		k = known_find(known, &n->gist, &is_new);
	if (!k) {
		if (is_thread)
			line_read_thread(&n->line, text, &n->aids);
		else
			line_read(&n->line, text, &n->aids);
		losses->count[LOSS_IDENTIFIERS_LEFT] += n->line.is_cut;
		if (!is_new && !n->line.is_cut)
			k = known_keep(known, &n->gist, &n->line);
	}
	if (!is_thread) {
		f->template = k ? k->template : n->line.template;
		f->title = k ? k->title : arena_str(arena, n->line.title);
	}
	if (k)
		add_known(f, k, &n->gist, text, arena);
	else
		add_read(f, &n->line, arena);
}

/* What is named twice is named once: where it stands first, which is in the text. */
static void drop_twins(struct found *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		const struct named *v = &f->v[i];
		size_t k = 0;

		while (k < nr &&
		       (f->v[k].value.n != v->value.n || !str_eq(f->v[k].value, v->value) ||
			!str_eq(f->v[k].type, v->type)))
			k++;
		if (k == nr)
			f->v[nr++] = *v;
	}
	f->nr = nr;
}

/* --- mentions of a round ------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static bool is_same(const struct mention *m, const struct found *f, const struct namer_where *at)
{
	if (m->template != f->template || m->nr != f->nr || m->level != at->level ||
	    !str_eq(m->thread, at->thread) || !str_eq(m->node, at->node))
		return false;
	for (size_t i = 0; i < f->nr; i++)
		if (!str_eq(m->v[i].value, f->v[i].value) ||
		    (m->v[i].type.p != f->v[i].type.p && !str_eq(m->v[i].type, f->v[i].type)))
			return false;
	return true;
}

static struct slot *slot_of(struct namer *n, uint64_t hash, const struct namer_where *where)
{
	size_t at = hash & (n->nr_slots - 1);

	for (;; at = (at + 1) & (n->nr_slots - 1)) {
		struct slot *s = &n->slots[at];

		if (!s->mention || (s->hash == hash && is_same(s->mention, &n->found, where)))
			return s;
	}
}

static void grow(struct namer *n)
{
	struct slot *old = n->slots;
	size_t nr_old = n->nr_slots;

	n->nr_slots *= 2;
	n->slots = mem_zalloc(mem_bytes(n->nr_slots, sizeof(*n->slots)));
	for (size_t i = 0; i < nr_old; i++) {
		size_t at = old[i].hash & (n->nr_slots - 1);

		if (!old[i].mention)
			continue;
		while (n->slots[at].mention)
			at = (at + 1) & (n->nr_slots - 1);
		n->slots[at] = old[i];
	}
	free(old);
}

static struct mention *mention_new(const struct found *f, const struct namer_where *at,
				   struct arena *arena)
{
	struct mention *m = arena_room(arena, sizeof(*m));
	struct named *v = arena_room(arena, mem_bytes(f->nr, sizeof(*v)));

	if (f->nr)
		memcpy(v, f->v, mem_bytes(f->nr, sizeof(*v)));
	*m = (struct mention){ .first_ns = NS_NONE,
			       .last_ns = NS_NONE,
			       .node = at->node,
			       .thread = at->thread,
			       .level = at->level,
			       .template = f->template,
			       .title = f->title,
			       .v = v,
			       .nr = f->nr };
	return m;
}

struct mention *namer_line(struct namer *n, struct str text, const struct namer_where *at,
			   struct arena *arena, struct losses *losses)
{
	struct found *f = &n->found;
	struct slot *s;
	uint64_t hash;

	f->nr = 0;
	text = str_head(text, str_find_char(text, '\n'));
	find(n, n->lines, text, false, arena, losses);
	if (at->thread.n)
		find(n, n->threads, at->thread, true, arena, losses);
	drop_twins(f);
	hash = mix(f->template, str_hash(at->thread));
	for (size_t i = 0; i < f->nr; i++)
		hash = mix(hash, str_hash(f->v[i].value));
	if (2 * n->nr >= n->nr_slots)
		grow(n);
	s = slot_of(n, hash, at);
	if (!s->mention) {
		*s = (struct slot){ hash, mention_new(f, at, arena) };
		n->nr++;
	}
	return s->mention;
}
