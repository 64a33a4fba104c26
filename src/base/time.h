/* Time as int64_t nanoseconds since the epoch: from calendar fields, and back to text. */
#ifndef CULPRIT_BASE_TIME_H
#define CULPRIT_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define NS_NONE INT64_MIN /* no time known */
#define NS_US 1000LL
#define NS_MS 1000000LL
#define NS_S 1000000000LL

struct civil {
	int year, month, day; /* month and day from 1 */
	int hour, min, sec;   /* sec up to 60 */
	int32_t ns;
};

/* UTC; false when a field is out of range or the time does not fit. */
bool time_of_civil(const struct civil *c, int64_t *ns);
void time_to_civil(int64_t ns, struct civil *c);
/* Days since the epoch of a date in the Gregorian calendar. */
int64_t time_days(int year, int month, int day);
/* Seconds east of UTC that the machine's zone has at this moment of UTC. */
int time_local_offset(int64_t ns);
/* The moment that a local wall clock showed as if it were UTC (mktime's question). */
int64_t time_from_local(int64_t wall_ns);

/* "2026-11-15 09:31:15.045" in the local zone, digits 0, 3, 6 or 9 of the fraction. */
void time_text(struct buf *b, int64_t ns, int digits);
/* "41 ms", "1.9 s", "3 min 20 s": three significant digits at most. */
void time_span_text(struct buf *b, int64_t ns);
/* The whole text is a span such as "10ms", "1.5 s", "2min", "0": units ns us ms s min h d. */
bool time_parse_span(struct str text, int64_t *ns);
int64_t time_now(void);  /* the wall clock */
int64_t time_tick(void); /* a clock that never jumps, for progress and rates */

#endif
