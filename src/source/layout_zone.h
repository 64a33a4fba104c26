/* Zones as log lines write them, and the zone of times that name none. */
#ifndef CULPRIT_SOURCE_LAYOUT_ZONE_H
#define CULPRIT_SOURCE_LAYOUT_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct layout_zone {
	bool is_local; /* that of this machine */
	int offset_s;  /* east of UTC, when not local */
};

/* Asking the C library for every line would cost more than all the rest of it. */
struct layout_zone_cache {
	int64_t quarter, offset_ns; /* zones change at full quarters of an hour */
	bool is_set;
};

/* "" for the local one, "UTC", "+02:00", "CET"; false when it is no zone. */
bool layout_zone_of(struct layout_zone *zone, struct str name);
/*
 * Takes "Z", "+hh", "+hhmm", "+hh:mm", "UTC", "EST" … from the front of *s. An abbreviation of
 * several meanings is *doubtful, and so is a word right behind the digits that is no known zone.
 */
bool layout_zone_take(struct str *s, int *offset_s, bool *doubtful);
int64_t layout_zone_utc(struct layout_zone_cache *cache, const struct layout_zone *zone,
			int64_t wall_ns);

#endif
