#include "ask/requests/points.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/report.h"
#include "store/levels.h"
#include "store/store.h"

/*
 * Largest triangle, three buckets (Steinarsson 2013): time is cut into buckets, and of each bucket
 * the point is kept that makes the largest triangle with the one kept before and with the mean of
 * the bucket after. Latency counts by its logarithm, as it is drawn. Two walks, no copy of all.
 */

enum { ID, START, DURATION, TYPE, FAILED };

static const struct column columns[] = {
	[ID] = { "id", "id", CELL_COUNT, 0 },
	[START] = { "start", "start", CELL_TIME, 0 },
	[DURATION] = { "duration", "duration", CELL_DURATION, 0 },
	[TYPE] = { "type", "type", CELL_TEXT, COLUMN_WIDE },
	[FAILED] = { "errors", "error", CELL_BOOL, 0 },
};

struct bucket {
	double x, y; /* sums, then means */
	uint64_t nr;
	uint32_t after; /* the next that has any, or itself */
};

struct points {
	struct store *s;
	int64_t first;
	double width; /* ns of a bucket */
	uint32_t nr;
	struct bucket *buckets;
	uint64_t all; /* requests */
	bool is_few;  /* each is shown */
	/* the second walk */
	uint32_t at;
	double x, y; /* what was kept last */
	double best_x, best_y, area;
	struct brief best;
	bool has_best;
	struct section *out;
};

static uint32_t bucket_of(const struct points *p, const struct brief *b, double *x, double *y)
{
	double at = ((double)b->start - (double)p->first) / p->width;
	uint32_t nr = at < 0 ? 0 : (uint32_t)at;

	*x = at;
	/* forty octaves of latency are about as high as the whole of time is wide */
	*y = log2(b->duration > 0 ? (double)b->duration : 1) * p->nr / 40;
	return nr < p->nr ? nr : p->nr - 1;
}

static int add_up(void *ctx, const struct brief *b)
{
	struct points *p = ctx;
	double x, y;
	struct bucket *to = &p->buckets[bucket_of(p, b, &x, &y)];

	to->x += x;
	to->y += y;
	to->nr++;
	p->all++;
	return 0;
}

static void keep(struct points *p)
{
	struct row *row;

	if (!p->has_best)
		return;
	row = section_row(p->out);
	row_int(p->out, row, ID, (int64_t)p->best.id);
	row_int(p->out, row, START, p->best.start);
	row_int(p->out, row, DURATION, p->best.duration);
	row_text(p->out, row, TYPE, store_type(p->s, p->best.type));
	row_int(p->out, row, FAILED, p->best.error);
	p->x = p->best_x;
	p->y = p->best_y;
	p->has_best = false;
}

static int choose(void *ctx, const struct brief *b)
{
	struct points *p = ctx;
	double x, y, area;
	uint32_t nr = bucket_of(p, b, &x, &y);
	const struct bucket *next;

	if (nr != p->at || p->is_few)
		keep(p);
	p->at = nr;
	next = &p->buckets[p->buckets[nr].after];
	area = fabs((p->x - next->x) * (y - p->y) - (p->x - x) * (next->y - p->y));
	if (p->has_best && area <= p->area)
		return 0;
	p->has_best = true;
	p->best = *b;
	p->best_x = x;
	p->best_y = y;
	p->area = area;
	return 0;
}

static void take_means(struct points *p)
{
	uint32_t after = p->nr;

	for (uint32_t i = p->nr; i-- > 0;) {
		struct bucket *b = &p->buckets[i];

		b->after = after < p->nr ? after : i;
		if (!b->nr)
			continue;
		b->x /= (double)b->nr;
		b->y /= (double)b->nr;
		after = i;
	}
	p->y = p->buckets[0].y;
	p->is_few = p->all <= p->nr;
}

int points_report(struct store *s, const struct request_filter *f, uint32_t at_most,
		  struct report *report, struct error *err)
{
	struct points p = { .s = s, .nr = at_most };
	int64_t last;
	int r = store_first_and_last(s, f, &p.first, &last, err);

	if (r <= 0)
		return r < 0 ? r : 1;
	p.out = report_table(report, "points", "", columns, sizeof(columns) / sizeof(*columns));
	p.out->tagged = true;
	p.width = ((double)last - (double)p.first) / at_most;
	if (p.width <= 0)
		p.width = 1;
	p.buckets = mem_zalloc(mem_bytes(p.nr, sizeof(*p.buckets)));
	r = store_each_point(s, f, at_most, add_up, &p, err);
	take_means(&p);
	if (r >= 0)
		r = store_each_point(s, f, at_most, choose, &p, err);
	keep(&p);
	free(p.buckets);
	return r < 0 ? r : !p.out->rows.nr;
}
