/* Reads the times and durations that Jaeger writes: microseconds, RFC 3339, "1.5ms". */
#ifndef CULPRIT_SOURCE_JAEGER_TIME_H
#define CULPRIT_SOURCE_JAEGER_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

/* A number of units (with a fraction), or a time or duration as text. */
bool jaeger_time_point(struct json_value v, int64_t unit_ns, int64_t *ns);
bool jaeger_time_span(struct json_value v, int64_t unit_ns, int64_t *ns);

/* "2017-01-26T16:46:31.639875139-05:00" */
bool jaeger_time_of_rfc3339(struct str s, int64_t *ns);
/* "5000ns", "0.000005s", "1m2.5s", "-3ms" */
bool jaeger_time_of_duration(struct str s, int64_t *ns);

#endif
