#include "ask/objects/times.h"

#include <stdbool.h>

#include "ask/length.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/vec.h"
#include "report/report.h"

#define OBJECT_MOST 2000   /* of one object: more than a screen has columns */
#define ANSWER_MOST 400000 /* of all: some megabytes */

struct moment {
	int64_t ns;
	bool is_error;
};

typedef VEC(struct moment) moment_vec;

size_t times_most(const struct object_graph *g, const uint32_t *objects, size_t nr)
{
	size_t most = OBJECT_MOST;

	for (;;) {
		uint64_t sum = 0;

		for (size_t i = 0; i < nr; i++) {
			size_t n = 2 * g->objects[objects[i]].nr_parts;

			sum += n < most ? n : most;
		}
		if (sum <= ANSWER_MOST || most == 1)
			return most;
		most /= 2;
	}
}

static bool add_moment(moment_vec *to, const struct object_event *e, int64_t ns,
		       const struct times_wanted *w)
{
	if (ns < w->from_ns || ns >= w->until_ns)
		return false;
	vec_push(to, (struct moment){ ns, e->level >= LEVEL_ERROR });
	return true;
}

/* The number of lines whose moments are not known. */
static uint64_t gather(const struct object *o, const struct times_wanted *w, moment_vec *to)
{
	uint64_t left = 0;

	for (size_t i = 0; i < o->nr_parts; i++) {
		const struct object_event *e = &o->events[i];
		uint64_t nr = 0;

		if (e->first_ns == NS_NONE || e->last_ns < w->from_ns || e->first_ns >= w->until_ns)
			continue;
		nr += add_moment(to, e, e->first_ns, w);
		if (e->last_ns != e->first_ns)
			nr += add_moment(to, e, e->last_ns, w);
		if (e->count > 2 && e->last_ns != e->first_ns)
			left += e->count - 2;
	}
	return left;
}

static uint64_t ns_of(const void *moment)
{
	return sort_signed(((const struct moment *)moment)->ns);
}

/* Those that are at least so far from the one before them. The number of those that are not. */
static uint64_t put_moments(struct section *s, struct row *row, size_t column, const moment_vec *v,
			    const struct object *o, int64_t apart, bool is_of_errors)
{
	static const struct column bare[] = { { NULL, NULL, CELL_COUNT, 0 } };
	struct section *in = NULL;
	int64_t before = 0;
	uint64_t left = 0;

	vec_each (v, m) {
		if (is_of_errors && !m->is_error)
			continue;
		if (in && m->ns == before)
			continue; /* drawn once */
		if (in && length_ns(before, m->ns) < apart) {
			left++;
			continue;
		}
		if (!in)
			in = row_rows(s, row, column, bare, 1);
		row_int(in, section_row(in), 0, length_signed(o->first_ns, m->ns));
		before = m->ns;
	}
	return left;
}

uint64_t times_cells(struct section *s, struct row *row, size_t times, size_t errors,
		     const struct object *o, const struct times_wanted *w)
{
	moment_vec v = { 0 };
	uint64_t left = gather(o, w, &v);
	int64_t apart = 0;

	if (v.nr > 1)
		sort_records(v.v, v.nr, sizeof(*v.v), ns_of);
	if (v.nr > w->most)
		apart = length_ns(v.v[0].ns, v.v[v.nr - 1].ns) / (int64_t)w->most + 1;
	left += put_moments(s, row, times, &v, o, apart, false);
	put_moments(s, row, errors, &v, o, apart, true);
	vec_done(&v);
	return left;
}
