/* Answers of standing queries as metrics of OpenTelemetry: one export request, as JSON or protobuf.
 */
#ifndef CULPRIT_EXPORT_OTLP_METRICS_H
#define CULPRIT_EXPORT_OTLP_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct live_answer;

/* Counts, sums and histograms are of all since the query was asked; anything else is a gauge of the
 * last step. */
void otlp_metrics_json(const struct live_answer *const *answers, size_t nr, struct buf *out);
void otlp_metrics_proto(const struct live_answer *const *answers, size_t nr, struct buf *out);

#endif
