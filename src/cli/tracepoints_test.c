/* Each tracepoint is asked by a query of its own: how often, and the greatest of what it exports.
 */
#include "cli/tracepoints_test.h"

#include <errno.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/weave/weave.h"
#include "cli/stopping.h"
#include "cli/tracepoint_files.h"
#include "query/partial.h"
#include "query/run.h"
#include "report/report.h"

#define SHOWN_MAX (ADVICE_TOTALS - 1) /* exports of one, beside the count */
#define ASKED_MAX 200
#define ROWS_NS 50000000

static const struct column columns[] = {
	{ "tracepoint", "TRACEPOINT", CELL_TEXT, 0 },
	{ "places", "PLACES", CELL_COUNT, 0 },
	{ "passed", "PASSED", CELL_COUNT, 0 },
	{ "per_second", "PER SECOND", CELL_NUMBER, 0 },
	{ "example", "EXAMPLE", CELL_TEXT, COLUMN_WIDE },
};
enum { COL_NAME, COL_PLACES, COL_PASSED, COL_RATE, COL_EXAMPLE };
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

struct tested {
	const struct tracepoint *t;
	int nr_places; /* or what was wrong */
	struct str why;
};

struct testing {
	struct weave *weave;
	struct arena arena;
	VEC(struct tested) v;
	struct buf told;
	/* of the row that is made */
	struct section *section;
	const struct tracepoint *at;
	double seconds;
	int64_t nr_passed;
	struct row *row;
	const struct names *names;
};

static bool is_native(const struct tracepoint *t)
{
	return tracepoint_is_at(t, WHERE_FUNCTION) || tracepoint_is_at(t, WHERE_USDT) ||
	       tracepoint_is_at(t, WHERE_SYSCALL);
}

static void install(struct testing *x, const struct tracepoint *t)
{
	struct tested one = { .t = t };
	struct weave_request r = { .id = x->v.nr + 1, .tracepoints = t->text, .file = t->name };
	struct error err = { 0 };
	struct buf query = { 0 };

	buf_fmt(&query, "From t In `" STR_FMT "` Select COUNT", STR_ARG(t->name));
	for (size_t i = 0; i < t->nr_exports && i < SHOWN_MAX; i++)
		buf_fmt(&query, ", MAX(t.`" STR_FMT "`)", STR_ARG(t->exports[i].name));
	r.text = arena_str(&x->arena, buf_str(&query));
	buf_clear(&x->told);
	one.nr_places = weave_install(x->weave, &r, &x->told, &err);
	one.why = arena_str(&x->arena,
			    str_head(buf_str(&x->told), str_find_char(buf_str(&x->told), '\n')));
	if (one.nr_places < 0)
		one.why = arena_str(&x->arena, str_of(err.msg));
	vec_push(&x->v, one);
	buf_done(&query);
}

static int watch(struct testing *x, int64_t ns, struct error *err)
{
	int64_t from = time_tick();
	int got = 0;

	while (got == 0 && !stopping_is_told() && time_tick() - from < ns) {
		nanosleep(&(struct timespec){ .tv_nsec = ROWS_NS }, NULL);
		got = weave_gather(x->weave, true, err);
	}
	for (size_t i = 0; got >= 0 && i < x->v.nr; i++)
		if (x->v.v[i].nr_places > 0)
			got = weave_remove(x->weave, i + 1, err);
	if (got >= 0)
		got = weave_gather(x->weave, true, err);
	x->seconds = (double)(time_tick() - from) / 1e9;
	return got < 0 ? got : 0;
}

static int take_row(void *ctx, const struct answer_cell *cells, size_t nr)
{
	struct testing *x = ctx;
	struct buf b = { 0 };

	x->nr_passed = cells[0].value.i;
	for (size_t i = 1; i < nr; i++) {
		buf_fmt(&b, "%s" STR_FMT " ", i > 1 ? ", " : "",
			STR_ARG(x->at->exports[i - 1].name));
		value_show(&b, cells[i].value, x->names);
	}
	if (b.n)
		row_text(x->section, x->row, COL_EXAMPLE, buf_str(&b));
	buf_done(&b);
	return 0;
}

static int tell_one(struct testing *x, size_t i, struct error *err)
{
	const struct tested *one = &x->v.v[i];
	struct partial *p = one->nr_places > 0 ? weave_partial(x->weave, i + 1) : NULL;
	const struct answer to = { x, take_row };
	int got = 0;

	x->row = section_row(x->section);
	x->at = one->t;
	x->nr_passed = 0;
	row_text(x->section, x->row, COL_NAME, one->t->name);
	row_int(x->section, x->row, COL_PLACES, one->nr_places > 0 ? one->nr_places : 0);
	if (!p) {
		row_text(x->section, x->row, COL_EXAMPLE, one->why);
		return 0;
	}
	x->names = &p->names;
	got = partial_answer(p, weave_plan(x->weave, i + 1), &to, err);
	row_int(x->section, x->row, COL_PASSED, x->nr_passed);
	row_double(x->section, x->row, COL_RATE, (double)x->nr_passed / x->seconds);
	return got < 0 ? got : x->nr_passed > 0;
}

static int test_all(struct testing *x, const struct tracepoint_files *f, int pid, int64_t ns,
		    struct error *err)
{
	struct weave_options o = { 0 };
	int got = weave_open(&x->weave, &o, err), nr = 0;

	if (got >= 0)
		got = weave_enter(x->weave, pid, &x->told, err);
	for (size_t i = 0; got >= 0 && i < f->v.nr; i++)
		for (size_t k = 0; k < f->v.v[i].nr && x->v.nr < ASKED_MAX; k++)
			if (is_native(&f->v.v[i].v[k]))
				install(x, &f->v.v[i].v[k]);
	if (got >= 0)
		got = watch(x, ns, err);
	for (size_t i = 0; got >= 0 && i < x->v.nr; i++) {
		got = tell_one(x, i, err);
		nr += got > 0;
	}
	return got < 0 ? got : nr;
}

int tracepoints_test(const struct tracepoint_files *f, int pid, int64_t ns, struct report *r,
		     struct error *err)
{
	struct testing x = { 0 };
	struct weave_health health;
	int got;

	x.section =
		report_table(r, "tracepoints", "Tracepoints of the process", columns, NR_COLUMNS);
	got = test_all(&x, f, pid, ns, err);
	if (x.weave) {
		weave_health(x.weave, &health);
		r->losses = health.losses;
		weave_close(x.weave);
	}
	vec_done(&x.v);
	buf_done(&x.told);
	arena_done(&x.arena);
	return got;
}
