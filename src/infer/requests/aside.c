#include "infer/requests/aside.h"

#include <stdlib.h>

#include "base/mem.h"

#define NEAR_NS INT64_C(200000000)
#define NEARLY 0.9

/* Of a statement: its lines that are about no object, and how they stand. */
struct manner {
	uint32_t all, inside;
	uint32_t next, with; /* the statement that stood behind most of them, by and large */
};

struct finder {
	const struct work *w;
	struct subjects *s;
	struct manner *types;
};

static bool is_near(const struct work *w, uint32_t a, uint32_t b)
{
	const struct seen_line *p = work_line(w, a), *e = work_line(w, b);

	return p->file == e->file && p->thread == e->thread && e->ns - p->ns <= NEAR_NS;
}

/* Lines of one thread, near each other, that are about no object. */
struct run {
	uint32_t from, to;
	uint32_t before, after; /* what the lines around it are about, if they are near */
	bool is_followed;       /* by a line that is near */
};

static bool next_run(const struct finder *f, struct run *r)
{
	const struct work *w = f->w;
	uint32_t nr = (uint32_t)w->g->lines.nr;

	r->from = r->to;
	while (r->from < nr && subject_at(w, f->s, r->from))
		r->from++;
	if (r->from == nr)
		return false;
	r->to = r->from + 1;
	while (r->to < nr && !subject_at(w, f->s, r->to) && is_near(w, r->to - 1, r->to))
		r->to++;
	r->before =
		r->from && is_near(w, r->from - 1, r->from) ? subject_at(w, f->s, r->from - 1) : 0;
	r->is_followed = r->to < nr && is_near(w, r->to - 1, r->to);
	r->after = r->is_followed ? subject_at(w, f->s, r->to) : 0;
	return true;
}

/* The first one, unless others are more. */
static void vote(struct manner *m, uint32_t next)
{
	if (!m->with)
		m->next = next;
	m->with += m->next == next ? 1 : -1u;
}

static void count_runs(struct finder *f)
{
	struct run r = { 0 };

	while (next_run(f, &r))
		for (uint32_t at = r.from; at < r.to; at++) {
			struct manner *m = &f->types[work_line(f->w, at)->type];

			m->all++;
			m->inside += r.after && r.before == r.after;
			if (at + 1 < r.to || r.is_followed)
				vote(m, work_line(f->w, at + 1)->type);
		}
}

static void give_subjects(struct finder *f)
{
	struct run r = { 0 };

	while (next_run(f, &r))
		for (uint32_t at = r.to; r.after && at-- > r.from;) {
			const struct manner *m = &f->types[work_line(f->w, at)->type];

			/* those that stood before others took votes away as well */
			if (m->next != work_line(f->w, at + 1)->type ||
			    m->with < (2 * NEARLY - 1) * m->all)
				break;
			f->s->of_line[f->w->by_thread[at]] = r.after;
		}
}

void aside_find(const struct work *w, struct subjects *s)
{
	struct finder f = { .w = w, .s = s };

	if (!s->kind)
		return;
	f.types = mem_zalloc(mem_bytes(w->g->types.nr + 1, sizeof(*f.types)));
	s->is_aside = mem_zalloc(w->g->lines.nr + 1);
	count_runs(&f);
	give_subjects(&f);
	for (uint32_t at = 0; at < w->g->lines.nr; at++) {
		const struct manner *m = &f.types[work_line(w, at)->type];

		s->is_aside[w->by_thread[at]] =
			!subject_at(w, s, at) && m->inside < NEARLY * m->all;
	}
	free(f.types);
}
