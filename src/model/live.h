/*
 * The answer of a standing query as far as it is known, and who works for it, as plain data:
 * whoever shows it, or hands it on to other tools, knows neither queries nor hubs.
 */
#ifndef CULPRIT_MODEL_LIVE_H
#define CULPRIT_MODEL_LIVE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/loss.h"

enum live_type { LIVE_NONE, LIVE_TEXT, LIVE_INT, LIVE_DOUBLE, LIVE_BOOL, LIVE_BUCKETS };

/* How many values were from (inclusive) to (exclusive). */
struct live_bucket {
	double from, to;
	uint64_t nr;
};

struct live_value {
	enum live_type type;
	union {
		struct str text;
		int64_t i; /* INT, BOOL */
		double d;
		struct {
			const struct live_bucket *v;
			size_t nr;
			double sum; /* of the values */
		} buckets;          /* of a HISTOGRAM, ascending */
	};
};

struct live_column {
	struct str name;
	bool is_key;   /* its values name the row; those of others were measured */
	bool adds_up;  /* a count or a sum: that of a longer time is the sum of its parts */
	bool is_count; /* and never becomes less */
};

struct live_row {
	const struct live_value *values; /* by column, of the whole time */
	/* By column, then by step; NAN where nothing was measured. NULL where nothing is. */
	const double *series;
};

struct live_answer {
	struct str id, text;
	const struct live_column *columns;
	size_t nr_columns;
	const struct live_row *rows;
	size_t nr_rows;
	uint64_t nr_left_out;      /* rows that exist besides */
	uint64_t nr_not_over_time; /* that were seen and are in no series */
	int64_t since_ns;          /* when the query was asked */
	/* The steps of all series; those are over that have had the time to be told. */
	int64_t first_ns, step_ns;
	size_t nr_steps;
	struct losses losses;
};

#define LIVE_LATEST \
	3 /* steps: what is told now and then only is not told as nothing in between \
	   */

/* What a row measured last, lately; NAN: nothing. */
static inline double live_latest(const struct live_answer *a, const struct live_row *row,
				 size_t column)
{
	for (size_t i = a->nr_steps; row->series && i > 0 && i + LIVE_LATEST > a->nr_steps; i--)
		if (!isnan(row->series[column * a->nr_steps + i - 1]))
			return row->series[column * a->nr_steps + i - 1];
	return NAN;
}

/* A query that stands at the hub. */
struct live_standing {
	struct str id, name, text, who; /* who asked */
	int64_t since_ns;
	uint64_t nr_agents, nr_agents_failed; /* that run it, that could not */
	struct str why;                       /* of the first that could not */
	uint64_t nr_reports, nr_rows;
};

/* A hub or an agent, as it was heard of last. */
struct live_peer {
	struct str name, host;
	bool is_hub, is_silent;
	int64_t seen_ns;
	uint64_t nr_below, nr_silent_below; /* agents of a hub */
	uint64_t nr_processes, nr_reports, nr_dropped, nr_late, nr_twice;
	double overhead; /* of the processor, 0..1; negative: not told */
};

/* What a query would do at its tracepoints. */
struct live_advice {
	struct str name;
	const struct str *at, *operations;
	size_t nr_at, nr_operations;
	struct str rule;      /* that lets equal tuples be packed as one; may be empty */
	struct str warning;   /* likewise */
	double tuples, bytes; /* packed for each request, at most; negative: not known */
	double per_second;    /* how often it would run, as measured; negative: not measured */
};

/* A word that an editor offers: a tracepoint with what it exports. */
struct live_word {
	struct str name, where;
	const struct str *fields;
	size_t nr_fields;
};

#endif
