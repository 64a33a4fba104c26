/* Named values (JSON members, logfmt pairs, columns, MDC): what their names mean, and the event
 * that they make together. */
#ifndef CULPRIT_SOURCE_LAYOUT_SAID_H
#define CULPRIT_SOURCE_LAYOUT_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct arena;
struct event;
struct layout;
struct layout_worker;
struct losses;

enum layout_meaning {
	MEANS_NOTHING,
	MEANS_TIME,
	MEANS_DATE, /* half of a time: the other half is in MEANS_CLOCK */
	MEANS_CLOCK,
	MEANS_NANOS, /* what a time in whole seconds leaves out */
	MEANS_LEVEL,
	MEANS_LEVEL_SYSLOG, /* 0 emergency … 7 debug */
	MEANS_LEVEL_PYTHON, /* 10 debug … 50 critical */
	MEANS_LEVEL_OTEL,   /* 1 trace … 24 fatal */
	MEANS_MESSAGE,
	MEANS_THREAD,
	MEANS_PID,
	MEANS_LOGGER,
	MEANS_FILE,
	MEANS_LINE,
	MEANS_PROGRAM,
	MEANS_HOST,
	MEANS_SERVICE,
	MEANS_TRACE,
	MEANS_SPAN,
	MEANS_REQUEST,
	MEANS_METHOD,
	MEANS_PATH,
	MEANS_REQUEST_LINE,
	MEANS_STATUS,
	MEANS_DURATION, /* with its unit, or in seconds when it has a fraction */
	MEANS_DURATION_S,
	MEANS_DURATION_MS,
	MEANS_DURATION_US,
	MEANS_DURATION_NS,
	MEANS_START,
	MEANS_NR
};

/* What a line said, each the surest of those that mean it. Zero is nothing. */
struct layout_said {
	struct str value[MEANS_NR];
	uint8_t rank[MEANS_NR]; /* the smaller the surer; meaningful where value.p is set */
};

/* What a name means, whatever its case and whether its words stand apart by _ - . or capitals. */
enum layout_meaning layout_meaning_of(struct str name, uint8_t *rank);
void layout_say(struct layout_said *said, enum layout_meaning meaning, uint8_t rank,
		struct str value);
/* A value of the line that may name what it is about, kept for layout_pairs_end. */
void layout_pair(struct layout_worker *worker, enum layout_meaning meaning, struct str key,
		 struct str value);
/* After the event was made: what layout_pair kept becomes part of layout_naming. */
void layout_pairs_end(struct layout_worker *worker, struct arena *arena);
/* Makes the event; false when what was said has no time. */
bool layout_said_event(const struct layout_said *said, const struct layout *layout,
		       struct layout_worker *worker, struct arena *arena, struct event *ev,
		       struct losses *losses);
/* Everything but the time. */
void layout_said_rest(const struct layout_said *said, struct layout_worker *worker,
		      struct arena *arena, struct event *ev);
/* "1.5ms", "3s", "00:00:01.5", "250" in the unit given; -1 when it is no duration. */
int64_t layout_duration(struct str text, int64_t unit_ns);
/* The same without a unit of its own: then it is what the file writes such durations in. */
int64_t layout_duration_bare(struct str text, struct layout_worker *worker);
/* Method and path with its numbers masked: "GET /orders/<*>"; also from "GET /orders/7 HTTP/1.1".
 */
struct str layout_route(struct arena *arena, struct str method, struct str path);

#endif
