/* What a layout printed of the place that wrote a line, taken apart and held against a logger. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_WHERE_H
#define CULPRIT_INFER_REQUESTS_MATCH_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct match_where {
	struct str logger; /* "datanode.DataNode"; may be empty */
	struct str file;   /* "DataNode.java"; may be empty */
	uint32_t line;     /* 0: not told */
};

/* "File.java:12", "a.b.Name", "a.b.Name(File.java:12)", "b.Name(12)", "b.Name:12". */
struct match_where match_where_of(struct str point);
/* What follows the last dot. */
struct str match_where_last(struct str logger);
/*
 * Whether this is how the logger of that name may be printed: whole, its end ("%c{2}"), its words
 * cut to some letters ("o.a.h.Name", all but the last), or cut off at the left ("%.20c").
 */
bool match_where_is(struct str printed, struct str name);

#endif
