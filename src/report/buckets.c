#include "report/buckets.h"

#include <math.h>

#include "base/buf.h"
#include "model/live.h"
#include "report/shown.h"

const struct column buckets_column = { NULL, "low to high", CELL_SPARK, COLUMN_TEXT_ONLY };

static const struct column bucket_columns[] = {
	{ "from", NULL, CELL_NUMBER, 0 },
	{ "to", NULL, CELL_NUMBER, 0 },
	{ "count", NULL, CELL_COUNT, 0 },
};

void buckets_rows(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		  size_t nr)
{
	struct section *in = row_rows(s, row, column, bucket_columns, 3);

	for (size_t i = 0; i < nr; i++) {
		struct row *one = section_row(in);

		row_double(in, one, 0, v[i].from);
		row_double(in, one, 1, v[i].to);
		row_int(in, one, 2, (int64_t)v[i].nr);
	}
}

void buckets_range(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		   size_t nr)
{
	struct buf text = { 0 };

	if (!nr)
		return;
	shown_cell(&text, &(struct cell){ .type = CELL_NUMBER, .d = v[0].from });
	buf_add(&text, STR(" to "));
	shown_cell(&text, &(struct cell){ .type = CELL_NUMBER, .d = v[nr - 1].to });
	row_text(s, row, column, buf_str(&text));
	buf_done(&text);
}

/* Powers of two between two buckets; around zero nothing is missing. */
static size_t nr_empty(const struct live_bucket *low, const struct live_bucket *high)
{
	return low->to * high->from > 0 ? (size_t)fabs(log2(fabs(high->from)) - log2(fabs(low->to)))
					: 0;
}

void buckets_bars(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		  size_t nr)
{
	size_t nr_bars = nr, at = 0;
	double *bars;

	for (size_t i = 1; i < nr; i++)
		nr_bars += nr_empty(&v[i - 1], &v[i]);
	bars = arena_array(s->arena, double, nr_bars + 1);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = i ? nr_empty(&v[i - 1], &v[i]) : 0; k; k--)
			bars[at++] = 0;
		bars[at++] = (double)v[i].nr;
	}
	row_spark(s, row, column, bars, nr_bars);
}
