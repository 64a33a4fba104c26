/* Which definitions a query needs, and those that come with culprit (share/tracepoints). */
#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "query/lex.h"
#include "query/near.h"
#include "query/plan.h"
#include "query/tracepoint.h"

/* made by tools/tracepoint-sets: static const struct tracepoint_set sets[] */
#include "query/tracepoint_sets.inc"

#define NR_SETS (sizeof(sets) / sizeof(*sets))

const struct tracepoint_set *tracepoint_set_at(size_t i)
{
	return i < NR_SETS ? &sets[i] : NULL;
}

const struct tracepoint_set *tracepoint_set_find(struct str name)
{
	for (size_t i = 0; i < NR_SETS; i++)
		if (str_eq(str_of(sets[i].name), name))
			return &sets[i];
	return NULL;
}

int tracepoint_unknown(struct str query, const struct source_name *s,
		       const struct tracepoints *files, size_t nr, struct error *err)
{
	struct near near;

	near_begin(&near, s->name);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < files[i].nr; k++)
			near_offer(&near, files[i].v[k].name);
	if (near.best.n)
		return lex_error(query, s->place, err,
				 "no tracepoint is called '" STR_FMT "'; did you mean '" STR_FMT
				 "'?",
				 STR_ARG(s->name), STR_ARG(near.best));
	return lex_error(query, s->place, err,
			 "no tracepoint is called '" STR_FMT
			 "': 'culprit tracepoints' lists those that are known, --tracepoints FILE "
			 "defines others",
			 STR_ARG(s->name));
}

static bool has(const struct tracepoint *const *v, size_t nr, const struct tracepoint *t)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i] == t)
			return true;
	return false;
}

int tracepoints_needed(const struct plan *p, const struct tracepoints *files, size_t nr,
		       struct buf *to, struct error *err)
{
	VEC(const struct tracepoint *) needed = { 0 };
	int got = 0;

	vec_each (&p->stages, s)
		for (size_t i = 0; i < s->nr_points && got >= 0; i++) {
			const struct tracepoint *t = tracepoints_find(files, nr, s->points[i].name);

			if (!t)
				got = tracepoint_unknown(p->text, &s->points[i], files, nr, err);
			else if (!has(needed.v, needed.nr, t))
				vec_push(&needed, t);
		}
	for (size_t i = 0; i < needed.nr && got >= 0; i++) {
		buf_add(to, needed.v[i]->text);
		buf_char(to, '\n');
	}
	vec_done(&needed);
	return got;
}

static void add_quoted(struct buf *to, struct str name)
{
	buf_char(to, '`');
	for (size_t i = 0; i < name.n; i++) {
		buf_char(to, name.p[i]);
		if (name.p[i] == '`')
			buf_char(to, '`');
	}
	buf_char(to, '`');
}

static bool is_of_run(const struct tracepoint_place *p)
{
	return p->where == WHERE_SPAN || p->where == WHERE_LOG || p->where == WHERE_MESSAGE;
}

/* Where a span ends is a tracepoint of its own: NAME.exit. */
static size_t add_sources(const struct tracepoint *t, struct buf *to)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_places; i++) {
		struct buf name = { 0 };

		if (!is_of_run(&t->places[i]))
			continue;
		buf_add(&name, t->places[i].name);
		if (t->places[i].moment == MOMENT_EXIT)
			buf_add(&name, STR(".exit"));
		buf_add(to, nr++ ? STR(", ") : STR(": From t In "));
		add_quoted(to, buf_str(&name));
		buf_done(&name);
	}
	return nr;
}

size_t tracepoints_as_queries(const struct tracepoints *files, size_t nr, struct buf *to)
{
	size_t nr_added = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < files[i].nr; k++) {
			const struct tracepoint *t = &files[i].v[k];
			size_t from = to->n;

			add_quoted(to, t->name);
			if (!add_sources(t, to)) {
				to->n = from;
				continue;
			}
			buf_add(to, STR(" Select "));
			for (int d = 0; d < ADVICE_INPUT_OWN; d++) {
				struct str name = tracepoint_default((enum advice_input)d);

				buf_fmt(to, "%st." STR_FMT " As " STR_FMT, d ? ", " : "",
					STR_ARG(name), STR_ARG(name));
			}
			for (size_t e = 0; e < t->nr_exports; e++) {
				buf_add(to, STR(", t."));
				add_quoted(to, t->exports[e].expression);
				buf_add(to, STR(" As "));
				add_quoted(to, t->exports[e].name);
			}
			buf_add(to, STR("\n;\n"));
			nr_added++;
		}
	return nr_added;
}
