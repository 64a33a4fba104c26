/* A thing ends where a line says so of it, and another begins with the first line of the same log
 * after it that begins things of the kind: by its verb, or since one thing in five is first named
 * by it. Without such an end a silence far longer than usual may be one, where a line says that the
 * thing begins, or where a system hands such numbers out and takes them back: process ids, ports.
 * That is a guess, and counted; numbers that only grow were not given out again. What names a thing
 * for good is never parted: strong names, words, paths, what logs and scopes are named after. One
 * pass to learn how things of each kind begin and end, one to part them; time goes by lines that
 * name such things, sorted. */
#include "infer/objects/lives.h"

#include <stdlib.h>

#include "base/shelf.h"
#include "base/sort.h"
#include "base/time.h"
#include "infer/objects/census.h"
#include "infer/objects/deed.h"
#include "infer/objects/told.h"
#include "model/loss.h"
#include "model/mention.h"

enum {
	MIN_SHARE = 5, /* one thing in so many that begins with a statement makes it a beginning */
	MAX_DIGITS = 7,
	LOOK_BACK = 64, /* lines that are looked at for one that goes on beyond a cut */
	LOOK_EACH = 8,  /* steps that each line counts for which may look back */
};

enum { WORDED_CREATED = 1, WORDED_FINISHED = 2, WORDED_KNOWN = 4 };

/* A line that names a thing. */
struct sight {
	int64_t ns;
	uint32_t thing, note;
};

/* How things of a kind come and go. */
struct habit {
	struct lulls lulls; /* silences */
	struct lulls sizes; /* lines, as so many milliseconds */
	uint64_t nr_things;
	bool may;
	bool is_handle;   /* what a system hands out and takes back */
	int64_t grown_ns; /* numbers only grow until then: none was given out again; or NS_NONE */
};

struct parting {
	struct census *w;
	struct habit *habits;     /* by kind */
	struct map first, last;   /* (kind, template): things that begin and end with it */
	struct map worded;        /* (type as shown, template): WORDED_... */
	VEC(struct sight) sights; /* by thing, then time */
	VEC(bool) cuts;           /* of one thing: a life begins there */
	uint64_t nr_guessed;
};

/* What a system hands out and takes back. */
static bool is_handle(const struct kind *k)
{
	static const struct str keys[] = { STR("pid"),  STR("ppid"),   STR("process"),
					   STR("tid"),  STR("port"),   STR("fd"),
					   STR("conn"), STR("socket"), STR("connection") };
	size_t n = 0;

	while (n < k->shown.n && (k->shown.p[n] | 0x20) >= 'a' && (k->shown.p[n] | 0x20) <= 'z')
		n++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (str_eq_nocase(str_head(k->shown, n), keys[i]))
			return true;
	return k->traits & KIND_ADDRESS;
}

/* "conn-#", "job_#": a number that is written with what it is of. Other names that end in a number
 * were given by people. */
static bool is_numbered_handle(const struct kind *k)
{
	struct str shown = k->shown;
	size_t hash = str_find_char(shown, '#');

	return hash && hash + 1 == shown.n && str_find_char(shown, '*') == shown.n &&
	       (is_handle(k) || str_starts(shown, STR("job")) || str_starts(shown, STR("session")));
}

static bool may_come_again(const struct census *w, uint32_t kind, bool of_addresses)
{
	const struct kind *k = &w->kinds.v[kind];

	if (!kind_is_kept(k) || k->traits & (KIND_PATH | KIND_WORD | KIND_RANDOM | KIND_THREAD |
					     KIND_LOG | KIND_FOLDER))
		return false;
	if (of_addresses || k->traits & KIND_ADDRESS)
		return of_addresses && k->traits & KIND_ADDRESS &&
		       str_find_char(k->shown, ':') < k->shown.n;
	vec_each (&w->kinds, other)
		if (other->scope == kind + 1)
			return false;
	return k->traits & KIND_NUMBER || is_numbered_handle(k);
}

/* Longer numbers are not given out twice. */
static bool is_short(const struct census *w, const struct thing *t)
{
	struct str value = names_str(&w->told->values, t->value);
	size_t nr = 0;

	for (size_t i = 0; i < value.n; i++)
		nr += value.p[i] >= '0' && value.p[i] <= '9';
	return nr <= MAX_DIGITS || w->kinds.v[t->kind].traits & KIND_ADDRESS;
}

static const struct note *note_of(const struct parting *p, const struct sight *s)
{
	return &p->w->told->notes.v[s->note];
}

static uint64_t by_time(const void *sight)
{
	return sort_signed(((const struct sight *)sight)->ns);
}

static uint64_t by_thing(const void *sight)
{
	return ((const struct sight *)sight)->thing;
}

static bool names_sibling(const struct census *w, size_t note, uint32_t kind)
{
	for (uint32_t i = w->named_at.v[note]; i < w->named_at.v[note + 1]; i++) {
		uint32_t other = w->things.v[w->named.v[i]].kind;

		if (other != kind && w->kinds.v[other].traits & KIND_NUMBER &&
		    kind_is_kept(&w->kinds.v[other]) &&
		    w->kinds.v[other].scope == w->kinds.v[kind].scope)
			return true;
	}
	return false;
}

/* An index within another number ("task 0 of stage 3") comes again with the next one, which is not
 * given out again: nearly all of its lines name both. */
static void drop_indices(struct parting *p)
{
	const struct census *w = p->w;
	uint64_t *with = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*with)));
	uint64_t *lines = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*lines)));

	for (size_t i = 0; i < w->told->notes.nr; i++)
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			uint32_t kind = w->things.v[w->named.v[j]].kind;

			census_look(w, j);
			lines[kind] += w->told->notes.v[i].count;
			if (names_sibling(w, i, kind))
				with[kind] += w->told->notes.v[i].count;
		}
	for (uint32_t i = 0; i < w->kinds.nr; i++)
		p->habits[i].may &= p->habits[i].is_handle || 5 * with[i] < 4 * lines[i];
	free(with);
	free(lines);
}

/* A number that is first named then. */
struct birth {
	uint32_t kind;
	int64_t ns;
	uint64_t number;
};

static uint64_t number_of_birth(const void *birth)
{
	return ((const struct birth *)birth)->number;
}

static uint64_t time_of_birth(const void *birth)
{
	return sort_signed(((const struct birth *)birth)->ns);
}

static uint64_t kind_of_birth(const void *birth)
{
	return ((const struct birth *)birth)->kind;
}

/* Births of one kind: where nine in ten are of a number larger than all before, it counts up, and
 * has not come round as long as it does. */
static void see_order(struct habit *h, const struct birth *b, size_t nr)
{
	uint64_t largest = b->number;
	int64_t ns = b->ns;
	size_t nr_up = 1;

	for (size_t i = 1; i < nr; i++) {
		if (b[i].number < largest)
			continue;
		nr_up++;
		largest = b[i].number;
		ns = b[i].ns;
	}
	h->grown_ns = 10 * nr_up >= 9 * nr ? ns : NS_NONE;
}

static void find_order(struct parting *p)
{
	const struct census *w = p->w;
	VEC(struct birth) births = { 0 };

	vec_each (&w->things, t) {
		struct str value = names_str(&w->told->values, t->value);
		struct birth b = { .kind = t->kind, .ns = t->first_ns };

		census_look(w, (size_t)(t - w->things.v));
		p->habits[t->kind].grown_ns = NS_NONE;
		if (p->habits[t->kind].may && p->habits[t->kind].is_handle && thing_is_used(w, t) &&
		    str_take_uint(&value, &b.number) && !value.n)
			shelf_push(w->shelf, &births, b);
	}
	sort_records_on(w->shelf, births.v, births.nr, sizeof(*births.v), number_of_birth);
	sort_records_on(w->shelf, births.v, births.nr, sizeof(*births.v), time_of_birth);
	sort_records_on(w->shelf, births.v, births.nr, sizeof(*births.v), kind_of_birth);
	for (size_t i = 0, end; i < births.nr; i = end) {
		for (end = i; end < births.nr && births.v[end].kind == births.v[i].kind; end++)
			;
		see_order(&p->habits[births.v[i].kind], births.v + i, end - i);
	}
	shelf_done(w->shelf, &births);
}

static void gather(struct parting *p)
{
	const struct census *w = p->w;
	struct map fixed = { 0 };

	/* who has a log is there as long as the log is */
	vec_each (&w->path, thing)
		*map_at(&fixed, *thing) = 1;
	vec_each (&w->writers, thing)
		*map_at(&fixed, *thing) = 1;
	for (uint32_t i = 0; i < w->told->notes.nr; i++) {
		if (w->told->notes.v[i].first_ns == NS_NONE)
			continue;
		for (uint32_t j = w->named_at.v[i]; j < w->named_at.v[i + 1]; j++) {
			uint32_t thing = w->named.v[j];

			census_look(w, j);
			if (p->habits[w->things.v[thing].kind].may &&
			    w->things.v[thing].lines > 1 && is_short(w, &w->things.v[thing]) &&
			    !map_find(&fixed, thing))
				shelf_push(
					w->shelf, &p->sights,
					(struct sight){ w->told->notes.v[i].first_ns, thing, i });
		}
	}
	sort_records_on(w->shelf, p->sights.v, p->sights.nr, sizeof(*p->sights.v), by_time);
	sort_records_on(w->shelf, p->sights.v, p->sights.nr, sizeof(*p->sights.v), by_thing);
	map_done(&fixed);
}

static const struct sight *end_of_thing(const struct parting *p, const struct sight *s)
{
	const struct sight *end = p->sights.v + p->sights.nr;
	uint32_t thing = s->thing;

	while (s < end && s->thing == thing)
		s++;
	return s;
}

static uint64_t key_of(const struct parting *p, const struct sight *s)
{
	return map_pair(p->w->things.v[s->thing].kind, note_of(p, s)->template);
}

/* How one thing begins, ends, and is silent in between. */
static void learn(struct parting *p, const struct sight *s, const struct sight *end)
{
	struct habit *h = &p->habits[p->w->things.v[s->thing].kind];
	int64_t last_ns = note_of(p, s)->last_ns;
	uint64_t lines = 0;

	h->nr_things++;
	(*map_at(&p->first, key_of(p, s)))++;
	(*map_at(&p->last, key_of(p, end - 1)))++;
	for (const struct sight *at = s; at < end; at++) {
		const struct note *n = note_of(p, at);

		census_look(p->w, (size_t)(at - p->sights.v));
		if (at > s && n->first_ns > last_ns)
			lulls_add(&h->lulls, n->first_ns - last_ns);
		if (n->count > 1)
			lulls_add(&h->lulls, (n->last_ns - n->first_ns) / (int64_t)(n->count - 1));
		if (n->last_ns > last_ns)
			last_ns = n->last_ns;
		lines += n->count;
	}
	lulls_add(&h->sizes, (int64_t)lines * NS_MS);
}

static bool is_shown_as(struct str shown, struct str key)
{
	size_t n = 0;

	while (n < shown.n && (shown.p[n] | 0x20) >= 'a' && (shown.p[n] | 0x20) <= 'z')
		n++;
	shown = str_head(shown, n);
	return n >= 2 && key.n >= n && str_eq_nocase(str_head(key, n), shown) && key.n <= n + 2;
}

/* The identifier of the line that names the thing: one line may name a child and its parent, both
 * of one kind. */
static const struct told_id *id_of(const struct parting *p, const struct sight *s)
{
	const struct note *n = note_of(p, s);
	const struct thing *t = &p->w->things.v[s->thing];
	const struct told_id *ids = p->w->told->ids.v + n->ids;

	for (size_t i = 0; i < n->nr; i++)
		if (ids[i].value == t->value && census_kind(p->w, &ids[i]) == t->kind)
			return &ids[i];
	return n->nr ? ids : NULL;
}

/* Whether the deed of a statement is done to what this identifier of it names. */
static bool is_about(const struct census *w, const struct note *n, const struct told_id *id,
		     const struct deed *d)
{
	const struct told_id *ids = w->told->ids.v + n->ids;
	size_t nr = 0, at = SIZE_MAX;

	for (size_t i = 0; i < n->nr; i++) {
		if (ids[i].place & (NAMED_IN_THREAD | NAMED_WITHIN))
			continue;
		if (nr++ == d->mask)
			at = i;
	}
	if (nr == 1)
		return true;
	if (d->nr_masks == nr && at != SIZE_MAX)
		return &ids[at] == id;
	return is_shown_as(names_str(&w->told->shown, id->shown), d->key);
}

static unsigned worded(struct parting *p, const struct sight *s)
{
	const struct census *w = p->w;
	const struct note *n = note_of(p, s);
	const struct told_id *id = id_of(p, s);
	const struct told_template *t = &w->told->templates.v[n->template];
	uint64_t *at;

	if (!id || (t->deed != DEED_CREATED && t->deed != DEED_FINISHED))
		return 0;
	at = map_at(&p->worded, map_pair(id->shown, n->template));
	if (!*at) {
		struct deed d = deed_read(names_str(&w->told->texts, t->title));

		*at = WORDED_KNOWN;
		if (!d.is_failure && is_about(w, n, id, &d)) {
			*at |= d.deed == DEED_CREATED ? WORDED_CREATED : 0;
			*at |= d.deed == DEED_FINISHED ? WORDED_FINISHED : 0;
		}
	}
	return (unsigned)*at;
}

/* One thing in five is first (or last) named by the statement. */
static bool is_common(const struct parting *p, const struct map *of, const struct sight *s)
{
	const struct habit *h = &p->habits[p->w->things.v[s->thing].kind];
	const uint64_t *nr = map_find(of, key_of(p, s));

	return !p->w->is_small && nr && MIN_SHARE * *nr >= h->nr_things;
}

static bool ends(struct parting *p, const struct sight *s, bool is_begin_worded)
{
	return worded(p, s) & WORDED_FINISHED || (is_begin_worded && is_common(p, &p->last, s));
}

/* Whether the log said that the thing ended before this line of it, and no line of the log goes on
 * beyond. Other logs tell of the same end at other times. */
static bool has_ended(struct parting *p, const struct sight *begin, const struct sight *s,
		      bool is_begin_worded)
{
	const struct note *n = note_of(p, s);
	bool is_ended = false;

	for (int i = 0; i < LOOK_BACK && s > begin; i++) {
		const struct note *before = note_of(p, --s);

		if (before->file != n->file)
			continue;
		if (before->last_ns > n->first_ns)
			return false;
		is_ended |= ends(p, s, is_begin_worded);
	}
	return is_ended;
}

/* What is known of the life that goes on. */
struct life {
	const struct sight *begin;
	int64_t last_ns;
	uint64_t lines;
};

enum verdict { GOES_ON, BEGINS, MAY_BEGIN };

static enum verdict judge(struct parting *p, const struct life *l, const struct sight *s)
{
	const struct census *w = p->w;
	uint32_t kind = w->things.v[s->thing].kind;
	const struct habit *h = &p->habits[kind];
	bool is_address = w->kinds.v[kind].traits & KIND_ADDRESS;
	unsigned words = worded(p, s);
	int64_t silence = note_of(p, s)->first_ns - l->last_ns;
	bool is_long = silence > 0 && lulls_is_long(&h->lulls, silence);

	if (!is_address && (words & WORDED_CREATED || is_common(p, &p->first, s)) &&
	    has_ended(p, l->begin, s, words & WORDED_CREATED))
		return BEGINS;
	if (!is_long || w->is_small)
		return GOES_ON;
	if (!(words & WORDED_CREATED && !is_address) &&
	    !(h->is_handle && is_common(p, &p->first, s)))
		return GOES_ON;
	return h->grown_ns == NS_NONE || note_of(p, s)->first_ns > h->grown_ns ? MAY_BEGIN
									       : GOES_ON;
}

static void see(struct parting *p, struct life *l, const struct sight *s)
{
	const struct note *n = note_of(p, s);

	if (l->last_ns == NS_NONE || n->last_ns > l->last_ns)
		l->last_ns = n->last_ns;
	l->lines += n->count;
}

/* By silence alone: every life must be as brief and have as few lines as things of the kind do, and
 * more than one line on the average. A server is named by many lines at all times. */
static bool is_believed(const struct parting *p, const struct sight *s, const struct sight *end)
{
	const struct habit *h = &p->habits[p->w->things.v[s->thing].kind];
	int64_t usual = lulls_usual(&h->sizes) / NS_MS, span = p->w->last_ns - p->w->first_ns;
	struct life l = { .begin = s, .last_ns = NS_NONE };
	uint64_t nr_lives = 1, lines = 0;

	for (const struct sight *at = s; at < end; at++) {
		const struct note *n = note_of(p, at);

		census_look(p->w, (size_t)(at - p->sights.v));
		if (at > s && p->cuts.v[at - s]) {
			nr_lives++;
			l = (struct life){ .begin = at, .last_ns = NS_NONE };
		}
		l.lines += n->count;
		lines += n->count;
		if (l.last_ns == NS_NONE || n->last_ns > l.last_ns)
			l.last_ns = n->last_ns;
		if ((int64_t)l.lines > 2 * usual + 2 ||
		    l.last_ns - note_of(p, l.begin)->first_ns > span / 10)
			return false;
	}
	return h->nr_things >= 8 && lines >= 2 * nr_lives;
}

/* Lines of other logs that come shortly before the one that begins the life belong to it. */
static const struct sight *with_leaders(const struct parting *p, const struct life *l,
					const struct sight *s)
{
	const struct note *n = note_of(p, s);
	const struct sight *first = s, *before = s;

	while (before - 1 > l->begin && note_of(p, before - 1)->file != n->file)
		first = --before;
	/* half of the time since this log last named it */
	for (; first < s; first++) {
		int64_t from = note_of(p, before - 1)->last_ns;

		if (note_of(p, first)->first_ns > from + (n->first_ns - from) / 2)
			break;
	}
	return first;
}

/* Marks where lives begin. The number of lives after the first. */
static uint32_t find_cuts(struct parting *p, const struct sight *s, const struct sight *end,
			  bool with_guesses)
{
	struct life l = { .begin = s, .last_ns = NS_NONE };
	uint32_t nr = 0, nr_guessed = 0;

	vec_clear(&p->cuts);
	for (const struct sight *at = s; at < end; at++)
		vec_push(&p->cuts, false);
	for (const struct sight *at = s; at < end; at++) {
		enum verdict v = at > s ? judge(p, &l, at) : GOES_ON;

		/* each may look back at many lines */
		census_look(p->w, LOOK_EACH * (size_t)(at - p->sights.v) + LOOK_EACH - 1);
		if (v == BEGINS || (v == MAY_BEGIN && with_guesses)) {
			p->cuts.v[with_leaders(p, &l, at) - s] = true;
			l = (struct life){ .begin = at, .last_ns = NS_NONE };
			nr++;
			nr_guessed += v == MAY_BEGIN;
		}
		see(p, &l, at);
	}
	if (nr_guessed && !is_believed(p, s, end))
		return find_cuts(p, s, end, false);
	p->nr_guessed += nr_guessed;
	return nr;
}

/* Lines after a cut name another thing. */
static void part(struct parting *p, const struct sight *s, const struct sight *end)
{
	struct census *w = p->w;
	uint32_t thing = s->thing, to = thing;
	struct thing fresh = w->things.v[thing];

	w->kinds.v[fresh.kind].is_settled = false;
	fresh.first_ns = fresh.last_ns = NS_NONE;
	fresh.lines = 0;
	w->things.v[thing] = fresh;
	for (const struct sight *at = s; at < end; at++) {
		census_look(w, (size_t)(at - p->sights.v));
		if (p->cuts.v[at - s]) {
			fresh.life++;
			to = (uint32_t)w->things.nr;
			shelf_push(w->shelf, &w->things, fresh);
		}
		census_lives(w, to, note_of(p, at));
		for (uint32_t i = w->named_at.v[at->note]; i < w->named_at.v[at->note + 1]; i++)
			if (w->named.v[i] == thing)
				w->named.v[i] = to;
	}
}

void lives_part(struct census *w, bool of_addresses)
{
	struct parting p = { .w = w };

	p.habits = mem_zalloc(mem_bytes(w->kinds.nr + 1, sizeof(*p.habits)));
	for (uint32_t i = 0; i < w->kinds.nr; i++) {
		p.habits[i].may = may_come_again(w, i, of_addresses);
		/* numbers of something else than a process or a host are its own affair */
		p.habits[i].is_handle = is_handle(&w->kinds.v[i]) &&
					(!w->kinds.v[i].scope || w->kinds.v[i].is_of_writer ||
					 w->kinds.v[w->kinds.v[i].scope - 1].traits & KIND_ADDRESS);
	}
	if (!of_addresses)
		drop_indices(&p);
	find_order(&p);
	gather(&p);
	for (const struct sight *s = p.sights.v, *end; s < p.sights.v + p.sights.nr; s = end) {
		end = end_of_thing(&p, s);
		learn(&p, s, end);
	}
	for (const struct sight *s = p.sights.v; s < p.sights.v + p.sights.nr;) {
		const struct sight *end = end_of_thing(&p, s);
		size_t nr = (size_t)(end - s);

		if (nr > 1 && find_cuts(&p, s, end, true))
			part(&p, s, end);
		s += nr;
	}
	w->losses->count[LOSS_LIVES_GUESSED] += p.nr_guessed;
	free(p.habits);
	map_done(&p.first);
	map_done(&p.last);
	map_done(&p.worded);
	shelf_done(w->shelf, &p.sights);
	vec_done(&p.cuts);
}
