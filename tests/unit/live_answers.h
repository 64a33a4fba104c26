/* An answer of a standing query as tests want it: bytes read by host and program, three steps. */
#ifndef CULPRIT_TESTS_LIVE_ANSWERS_H
#define CULPRIT_TESTS_LIVE_ANSWERS_H

#include <math.h>

#include "base/time.h"
#include "model/live.h"

#define LIVE_T(s) \
	{ \
		LIVE_TEXT, \
		{ \
			.text = { s, sizeof(s) - 1 } \
		} \
	}
#define LIVE_I(n) \
	{ \
		LIVE_INT, \
		{ \
			.i = (n) \
		} \
	}
#define LIVE_D(n) \
	{ \
		LIVE_DOUBLE, \
		{ \
			.d = (n) \
		} \
	}

enum { LIVE_HOST, LIVE_PROGRAM, LIVE_SUM, LIVE_AVERAGE, LIVE_COLUMNS };

static const struct live_column live_columns[LIVE_COLUMNS] = {
	{ .name = { "e.host", 6 }, .is_key = true },
	{ .name = { "cl.procName", 11 }, .is_key = true },
	{ .name = { "SUM(e.delta)", 12 }, .adds_up = true },
	{ .name = { "AVERAGE(e.took)", 15 } },
};

#define LIVE_SERIES(a, b, c, d, e, f) { NAN, NAN, NAN, NAN, NAN, NAN, a, b, c, d, e, f }

static const double live_series[][3 * LIVE_COLUMNS] = {
	LIVE_SERIES(10, NAN, 5, 1.5, NAN, 2.5), LIVE_SERIES(1, 1, 1, 4, 4, 4),
	LIVE_SERIES(NAN, 7, NAN, NAN, 3, NAN),  LIVE_SERIES(11, 1, 6, 2, 4, 3),
	LIVE_SERIES(NAN, 7, NAN, NAN, 3, NAN),  LIVE_SERIES(10, 7, 5, 1.5, 3, 2.5),
	LIVE_SERIES(11, 8, 6, 2, 3.5, 3),
};

static const struct live_value live_values[][LIVE_COLUMNS] = {
	{ LIVE_T("a"), LIVE_T("scan"), LIVE_I(15), LIVE_D(2) },
	{ LIVE_T("a"), LIVE_T("sort"), LIVE_I(3), LIVE_D(4) },
	{ LIVE_T("b"), LIVE_T("scan"), LIVE_I(7), LIVE_D(3) },
	{ LIVE_T("a"), { 0 }, LIVE_I(18), LIVE_D(2.5) },
	{ LIVE_T("b"), { 0 }, LIVE_I(7), LIVE_D(3) },
	{ { 0 }, LIVE_T("scan"), LIVE_I(22), LIVE_D(2.2) },
	{ { 0 }, { 0 }, LIVE_I(25), LIVE_D(2.8) },
};

#define LIVE_ROW(n) { live_values[n], live_series[n] }
static const struct live_row live_cells[] = { LIVE_ROW(0), LIVE_ROW(1), LIVE_ROW(2) };
static const struct live_row live_by_host[] = { LIVE_ROW(3), LIVE_ROW(4) };
static const struct live_row live_by_program[] = { LIVE_ROW(1), LIVE_ROW(5) };
static const struct live_row live_all[] = { LIVE_ROW(6) };

#define LIVE_ANSWER(from) \
	{ .id = { "Q2", 2 }, \
	  .text = { "From e In X", 11 }, \
	  .columns = live_columns, \
	  .nr_columns = LIVE_COLUMNS, \
	  .rows = (from), \
	  .nr_rows = sizeof(from) / sizeof(*(from)), \
	  .since_ns = 90 * NS_S, \
	  .first_ns = 100 * NS_S, \
	  .step_ns = NS_S, \
	  .nr_steps = 3 }

#endif
