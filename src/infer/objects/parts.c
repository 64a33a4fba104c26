/* A thing ends once. Where several writers tell by the same statements that the same thing came and
 * ended, while it lived at each of them at the same time, what ended there was the writer's part of
 * it: {writer, thing} is an object, below both.
 *
 * The writer is known by the context of its log (contexts.h): a name that the log has one of. That
 * half of the things of the kind have parts tells a system that keeps copies from a thing that
 * moved or was tried elsewhere. Where lines that name the thing name something of it as well (the
 * table a region, the application a container), that is what the writer has of it, and no pair is
 * needed. */
#include "infer/objects/parts.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/shelf.h"
#include "base/sort.h"
#include "infer/objects/census.h"
#include "infer/objects/contexts.h"
#include "infer/objects/deed.h"
#include "infer/objects/relate.h"
#include "infer/objects/told.h"

#define SEVERAL UINT64_MAX

enum {
	MIN_THINGS = 5,       /* fewer prove no habit */
	MAX_THINGS = 1 << 14, /* of a kind, about as many are looked at */
};

/* What one log tells of a thing in statements that another log has of it, too. */
struct part {
	uint32_t thing, log;
	uint32_t template; /* the first of the statements */
	bool has_two;      /* and another one */
	bool is_ended;     /* one says that it ended */
	int64_t first_ns, last_ns;
};

/* A kind of which things have parts, as far as is known. */
struct shared {
	uint32_t one_in;     /* of so many things is looked at */
	uint32_t nr_looked;  /* things that are looked at */
	uint32_t nr;         /* things with several parts */
	uint32_t nr_ended;   /* of them, that end in several logs' words */
	uint32_t nr_at_once; /* of them, whose parts live at the same time */
	uint64_t lines;      /* of parts */
};

struct dividing {
	struct census *w;
	const struct relating *r;
	struct contexts contexts;
	bool *ends;        /* by template: it says that something ended */
	struct map log_of; /* (thing, template): 1 + log, or SEVERAL */
	struct map at;     /* (thing, log): 1 + part */
	VEC(struct part) parts;
	struct shared *shared; /* by kind */
	struct map beside;     /* (kind, other): lines of parts that name the other, too */
	struct map apart;      /* (kind, context): things with parts in several of it */
};

static bool may_have_parts(const struct kind *k)
{
	unsigned never = KIND_NUMBER | KIND_WORD | KIND_ADDRESS | KIND_BRIEF | KIND_PATH |
			 KIND_THREAD | KIND_LOG | KIND_FOLDER;

	return kind_is_kept(k) && !(k->traits & never) && !k->scope;
}

/* Parts are a habit of the kind, so that some of its things show it as well as all. */
static bool is_looked_at(const struct dividing *d, uint32_t thing)
{
	uint32_t one_in = d->shared[d->w->things.v[thing].kind].one_in;

	return one_in == 1 || (one_in && (thing * 2654435761u >> 8) % one_in == 0);
}

static void choose_things(struct dividing *d)
{
	const struct census *w = d->w;

	d->shared = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*d->shared)));
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		if (may_have_parts(&w->kinds.v[i]))
			d->shared[i].one_in = w->kinds.v[i].nr_things / MAX_THINGS + 1;
	for (uint32_t i = 0; i < w->things.nr; i++) {
		census_look(w, i);
		if (thing_is_used(w, &w->things.v[i]) && is_looked_at(d, i))
			d->shared[w->things.v[i].kind].nr_looked++;
	}
}

static bool has_context(const struct dividing *d, uint32_t log)
{
	return d->contexts.at.v[log] < d->contexts.at.v[log + 1];
}

/* Whether two logs at least are of different things of one kind. */
static bool are_writers_known(const struct dividing *d)
{
	struct map first = { 0 };
	bool is_any = false;

	vec_each (&d->contexts.v, c) {
		uint64_t *at = map_at(&first, c->kind);

		is_any |= *at && *at != c->thing + 1;
		*at = c->thing + 1;
	}
	map_done(&first);
	return is_any;
}

static void find_ends(struct dividing *d)
{
	const struct told *t = d->w->told;

	d->ends = mem_zalloc(t->templates.nr + 1);
	for (size_t i = 0; i < t->templates.nr; i++)
		d->ends[i] = t->templates.v[i].deed == DEED_FINISHED &&
			     !deed_read(names_str(&t->texts, t->templates.v[i].title)).is_failure;
}

/* Everything that lines of known writers name and that is looked at. */
static void each_sight(struct dividing *d,
		       void (*see)(struct dividing *, const struct note *, uint32_t thing))
{
	const struct census *w = d->w;

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];

		census_look(w, i);
		if (!has_context(d, census_log(w, n->file)))
			continue;
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++)
			if (is_looked_at(d, w->named.v[j]))
				see(d, n, w->named.v[j]);
	}
}

static void see_statement(struct dividing *d, const struct note *n, uint32_t thing)
{
	uint64_t log = (uint64_t)census_log(d->w, n->file) + 1;
	uint64_t *at = map_at(&d->log_of, map_pair(thing, n->template));

	*at = *at && *at != log ? SEVERAL : log;
}

static void see_part(struct dividing *d, const struct note *n, uint32_t thing)
{
	uint32_t log = census_log(d->w, n->file);
	uint64_t *at;
	struct part *p;

	if (*map_find(&d->log_of, map_pair(thing, n->template)) != SEVERAL)
		return;
	at = map_at(&d->at, map_pair(thing, log));
	if (!*at) {
		shelf_push(d->w->shelf, &d->parts,
			   (struct part){ .thing = thing,
					  .log = log,
					  .template = n->template,
					  .first_ns = n->first_ns,
					  .last_ns = n->last_ns });
		*at = d->parts.nr;
	}
	p = &d->parts.v[*at - 1];
	p->has_two |= p->template != n->template;
	p->is_ended |= d->ends[n->template];
	if (n->first_ns < p->first_ns)
		p->first_ns = n->first_ns;
	if (n->last_ns > p->last_ns)
		p->last_ns = n->last_ns;
}

static uint64_t thing_of(const void *record)
{
	return ((const struct part *)record)->thing;
}

static uint64_t first_of(const void *record)
{
	return sort_signed(((const struct part *)record)->first_ns);
}

/* Kinds of contexts of which the parts' logs have several. */
static void count_apart(struct dividing *d, uint32_t kind, const struct part *v, size_t nr)
{
	const struct contexts *c = &d->contexts;

	for (uint32_t i = c->at.v[v->log]; i < c->at.v[v->log + 1]; i++) {
		bool is_apart = false;

		for (size_t j = 1; j < nr && !is_apart; j++)
			for (uint32_t k = c->at.v[v[j].log]; k < c->at.v[v[j].log + 1]; k++)
				is_apart |= c->v.v[k].kind == c->v.v[i].kind &&
					    c->v.v[k].thing != c->v.v[i].thing;
		if (is_apart)
			++*map_at(&d->apart, map_pair(kind, c->v.v[i].kind));
	}
}

/* All parts of one thing, in the order of their lives. */
static void count_thing(struct dividing *d, const struct part *v, size_t nr)
{
	uint32_t kind = d->w->things.v[v->thing].kind;
	bool is_ended = false, is_at_once = false;
	int64_t until = v->last_ns;

	if (nr < 2)
		return;
	for (size_t i = 0; i < nr; i++) {
		is_ended |= v[i].is_ended;
		is_at_once |= i && v[i].first_ns <= until;
		until = v[i].last_ns > until ? v[i].last_ns : until;
	}
	d->shared[kind].nr++;
	d->shared[kind].nr_ended += is_ended;
	d->shared[kind].nr_at_once += is_at_once;
	count_apart(d, kind, v, nr);
}

static void count_things(struct dividing *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->parts.nr; i++)
		if (d->parts.v[i].has_two)
			d->parts.v[nr++] = d->parts.v[i];
	d->parts.nr = nr;
	sort_records_on(d->w->shelf, d->parts.v, nr, sizeof(*d->parts.v), first_of);
	sort_records_on(d->w->shelf, d->parts.v, nr, sizeof(*d->parts.v), thing_of);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i; end < nr && d->parts.v[end].thing == d->parts.v[i].thing;)
			end++;
		count_thing(d, d->parts.v + i, end - i);
	}
}

/* A kind whose parts would be objects, but for what lines name beside. */
static bool is_shared(const struct dividing *d, uint32_t kind)
{
	const struct shared *s = &d->shared[kind];

	return s->nr >= MIN_THINGS && 2 * s->nr >= s->nr_looked && 5 * s->nr_ended >= s->nr &&
	       5 * s->nr_at_once >= 4 * s->nr;
}

static bool is_below(const struct dividing *d, uint32_t kind, uint32_t other)
{
	const struct tie *t = relate_find(d->r, kind, other);

	if (!t || d->w->kinds.v[other].traits & (KIND_BRIEF | KIND_THREAD | KIND_LOG))
		return false;
	return t->a == kind ? t->a_of_b.holds && !t->b_of_a.holds
			    : t->b_of_a.holds && !t->a_of_b.holds;
}

/* Lines of shared kinds, and which of them name something of the thing. */
static void count_beside(struct dividing *d)
{
	const struct census *w = d->w;

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t begin = w->named_at.v[i], end = w->named_at.v[i + 1];

		census_look(w, i);
		for (uint32_t j = begin; j < end && has_context(d, census_log(w, n->file)); j++) {
			uint32_t kind = w->things.v[w->named.v[j]].kind;

			if (!is_looked_at(d, w->named.v[j]) || !is_shared(d, kind))
				continue;
			d->shared[kind].lines += n->count;
			for (uint32_t k = begin; k < end; k++) {
				uint32_t other = w->things.v[w->named.v[k]].kind;

				if (is_below(d, kind, other))
					*map_at(&d->beside, map_pair(kind, other)) += n->count;
			}
		}
	}
}

static uint64_t count_of(const struct map *m, uint64_t key)
{
	const uint64_t *at = map_find(m, key);

	return at ? *at : 0;
}

static bool has_between(const struct dividing *d, uint32_t kind)
{
	for (uint32_t other = 0; other < d->w->kinds.nr; other++)
		if (2 * count_of(&d->beside, map_pair(kind, other)) > d->shared[kind].lines)
			return true;
	return false;
}

/* Whose part it is: what tells the writers of nearly all parts apart, and is named most. */
static uint32_t writer_of(const struct dividing *d, uint32_t kind)
{
	uint32_t best = UINT32_MAX;
	uint64_t most = 0;

	for (uint32_t c = 0; c < d->w->kinds.nr; c++) {
		const struct tie *t = relate_find(d->r, kind, c);

		if (c == kind || (t && relate_kind(t) != RELATION_CROSS) ||
		    10 * count_of(&d->apart, map_pair(kind, c)) <
			    9 * (uint64_t)d->shared[kind].nr ||
		    d->w->kinds.v[c].lines <= most)
			continue;
		most = d->w->kinds.v[c].lines;
		best = c;
	}
	return best;
}

static uint32_t context_of(const struct dividing *d, uint32_t log, uint32_t kind)
{
	for (uint32_t i = d->contexts.at.v[log]; i < d->contexts.at.v[log + 1]; i++)
		if (d->contexts.v.v[i].kind == kind)
			return d->contexts.v.v[i].thing;
	return UINT32_MAX;
}

/* The lines of each writer name its parts behind the things that they are of. */
static void name_parts(struct dividing *d, uint32_t kind, uint32_t writer, uint32_t made)
{
	struct census *w = d->w;
	VEC(uint32_t) named = { 0 };

	for (size_t i = 0; i < w->told->notes.nr; i++) {
		const struct note *n = &w->told->notes.v[i];
		uint32_t begin = w->named_at.v[i], end = w->named_at.v[i + 1];
		uint32_t of = context_of(d, census_log(w, n->file), writer);

		census_look(w, i);
		w->named_at.v[i] = (uint32_t)named.nr;
		for (uint32_t j = begin; j < end; j++) {
			uint32_t thing = w->named.v[j];

			shelf_push(w->shelf, &named, thing);
			if (w->things.v[thing].kind != kind || of == UINT32_MAX)
				continue;
			thing = census_thing(w, made, w->things.v[thing].value, of + 1);
			census_lives(w, thing, n);
			shelf_push(w->shelf, &named, thing);
		}
	}
	w->named_at.v[w->told->notes.nr] = (uint32_t)named.nr;
	shelf_done(w->shelf, &w->named);
	w->named.v = named.v;
	w->named.nr = named.nr;
	w->named.room = named.room;
}

static void divide(struct dividing *d, uint32_t kind, uint32_t writer)
{
	struct census *w = d->w;
	struct kind made = w->kinds.v[kind];

	made.id = kind_made_of(made.id, w->kinds.v[writer].id);
	made.scope = writer + 1;
	made.version_of = 0;
	made.is_settled = false;
	vec_push(&w->kinds, made);
	name_parts(d, kind, writer, (uint32_t)w->kinds.nr - 1);
}

static void divide_all(struct dividing *d)
{
	uint32_t nr = (uint32_t)d->w->kinds.nr;

	count_beside(d);
	for (uint32_t kind = 0; kind < nr; kind++) {
		uint32_t writer = UINT32_MAX;

		if (is_shared(d, kind) && !has_between(d, kind))
			writer = writer_of(d, kind);
		if (writer != UINT32_MAX)
			divide(d, kind, writer);
	}
}

static void find_parts(struct dividing *d)
{
	bool is_any = false;

	find_ends(d);
	choose_things(d);
	each_sight(d, see_statement);
	each_sight(d, see_part);
	count_things(d);
	for (uint32_t kind = 0; kind < d->w->kinds.nr; kind++)
		is_any |= is_shared(d, kind);
	if (is_any)
		divide_all(d);
}

void parts_make(struct census *w, const struct relating *r)
{
	struct dividing d = { .w = w, .r = r, .log_of.shelf = w->shelf, .at.shelf = w->shelf };

	if (w->is_small)
		return;
	census_count(w);
	contexts_find(&d.contexts, w);
	if (are_writers_known(&d))
		find_parts(&d);
	contexts_done(&d.contexts);
	free(d.ends);
	free(d.shared);
	map_done(&d.log_of);
	map_done(&d.at);
	map_done(&d.beside);
	map_done(&d.apart);
	shelf_done(w->shelf, &d.parts);
}
