/* Answers of standing queries, and the health of who works for them, in the text format that
 * Prometheus reads (version 0.0.4). */
#ifndef CULPRIT_EXPORT_PROMETHEUS_H
#define CULPRIT_EXPORT_PROMETHEUS_H

#include <stddef.h>

#include "base/buf.h"

struct live_answer;
struct live_peer;

#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define PROMETHEUS_ROWS_MAX 10000 /* of one query: more would hurt whoever keeps them */

/* Counts and sums are counters of the whole time; anything else is a gauge of the last step that is
 * over. Keys are labels. */
void prometheus_write(const struct live_answer *const *answers, size_t nr_answers,
		      const struct live_peer *peers, size_t nr_peers, struct buf *out);

#endif
