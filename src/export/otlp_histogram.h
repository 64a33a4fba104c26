/* Buckets as those of a data point of OpenTelemetry's histograms: bounds, and counts between them.
 */
#ifndef CULPRIT_EXPORT_OTLP_HISTOGRAM_H
#define CULPRIT_EXPORT_OTLP_HISTOGRAM_H

#include "base/buf.h"

struct jsonout;
struct live_value;

/* Fields of HistogramDataPoint, of a value with buckets: count, sum, bucket_counts and
 * explicit_bounds. */
void otlp_histogram_json(struct jsonout *j, const struct live_value *v);
void otlp_histogram_proto(struct buf *point, const struct live_value *v);

#endif
