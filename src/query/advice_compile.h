/* A plan into advice: one program for each stage and each tracepoint that it is at. */
#ifndef CULPRIT_QUERY_ADVICE_COMPILE_H
#define CULPRIT_QUERY_ADVICE_COMPILE_H

#include "base/vec.h"
#include "query/plan.h"
#include "query/tracepoint.h"
#include "wire/advice.h"

/* What runs at a tracepoint. */
struct woven {
	const struct tracepoint *tracepoint;
	uint32_t stage;
	struct advice_program program;
};

/* What the operator should know before it is installed. */
struct advice_warning {
	uint32_t stage;
	struct str text; /* in the arena */
};

struct advice_set {
	VEC(struct woven) v; /* by stage: at one place they run in this order */
	VEC(struct advice_warning) warnings;
};

/*
 * Compiles and verifies all of it. Everything in a program's totals is an aggregate that is small;
 * of PERCENTILE and HISTOGRAM the values are keys behind those of the query, in the order of the
 * aggregates (struct advice_shape). query: see struct advice_program.
 * -EINVAL with the place in the query: a tracepoint or a field that nobody knows, or what cannot be
 * done where the request runs.
 */
int advice_make(struct advice_set *set, const struct plan *p, uint32_t query,
		const struct tracepoints *files, size_t nr_files, struct arena *arena,
		struct error *err);
void advice_set_done(struct advice_set *set);

/* Of one stage at one tracepoint, verified as well. */
int advice_compile(const struct plan *p, uint32_t stage, uint32_t query, const struct tracepoint *t,
		   struct advice_program *program, struct error *err);

/*
 * How a row that is emitted is to be read. Aggregated: columns are the values of output.keys, then
 * those of large aggregates, each times as often as the row says; aggregates[i] is in total
 * total_of[i], or UINT32_MAX: it is large, and in column column_of[i]. Otherwise: columns are those
 * of Select.
 */
struct advice_shape {
	size_t nr_keys, nr_columns;
	uint32_t total_of[VARIABLES_MAX], column_of[VARIABLES_MAX];
};
void advice_shape_of(const struct plan *p, struct advice_shape *shape);

#endif
