/* A histogram in cells: rows for JSON; for people its range, and a row of bars. */
#ifndef CULPRIT_REPORT_BUCKETS_H
#define CULPRIT_REPORT_BUCKETS_H

#include <stddef.h>

#include "report/report.h"

struct live_bucket;

/* Of the bars. */
extern const struct column buckets_column;

/* Each bucket as a row with from, to and count. */
void buckets_rows(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		  size_t nr);
/* "1 to 64": the lowest and the highest bound. */
void buckets_range(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		   size_t nr);
/* A bar for each power of two from the lowest to the highest, those that are empty too. */
void buckets_bars(struct section *s, struct row *row, size_t column, const struct live_bucket *v,
		  size_t nr);

#endif
