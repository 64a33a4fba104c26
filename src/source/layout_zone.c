#include "source/layout_zone.h"

#include <ctype.h>

#include "base/time.h"

static const struct {
	char name[6];
	bool doubtful;
	int minutes;
} zones[] = {
	{ "UTC", false, 0 },     { "GMT", false, 0 },    { "Z", false, 0 },
	{ "UT", false, 0 },      { "WET", false, 0 },    { "WEST", false, 60 },
	{ "CET", false, 60 },    { "CEST", false, 120 }, { "MEZ", false, 60 },
	{ "MESZ", false, 120 },  { "EET", false, 120 },  { "EEST", false, 180 },
	{ "MSK", false, 180 },   { "BST", true, 60 },    { "IST", true, 330 },
	{ "EST", false, -300 },  { "EDT", false, -240 }, { "CST", true, -360 },
	{ "CDT", false, -300 },  { "MST", false, -420 }, { "MDT", false, -360 },
	{ "PST", false, -480 },  { "PDT", false, -420 }, { "AKST", false, -540 },
	{ "AKDT", false, -480 }, { "HST", false, -600 }, { "AST", true, -240 },
	{ "ADT", false, -180 },  { "NST", false, -210 }, { "BRT", false, -180 },
	{ "JST", false, 540 },   { "KST", false, 540 },  { "HKT", false, 480 },
	{ "SGT", false, 480 },   { "AEST", false, 600 }, { "AEDT", false, 660 },
	{ "ACST", false, 570 },  { "AWST", false, 480 }, { "NZST", false, 720 },
	{ "NZDT", false, 780 },  { "SAST", false, 120 }, { "PKT", false, 300 },
};

/* "+hh", "+hhmm", "+hh:mm" */
static bool take_offset(struct str *s, int *offset_s)
{
	struct str rest = *s;
	bool west = str_take_char(&rest, '-');
	unsigned hours, minutes = 0;

	if ((!west && !str_take_char(&rest, '+')) || !str_take_digits(&rest, 2, &hours))
		return false;
	if (rest.n && rest.p[0] == ':') {
		rest = str_skip(rest, 1);
		if (!str_take_digits(&rest, 2, &minutes))
			return false;
	} else {
		str_take_digits(&rest, 2, &minutes);
	}
	if (hours > 15 || minutes > 59 || (rest.n && isdigit((unsigned char)rest.p[0])))
		return false;
	*offset_s = (int)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	*s = rest;
	return true;
}

static bool take_name(struct str *s, int *offset_s, bool *doubtful)
{
	size_t n = 0;

	while (n < s->n && s->p[n] >= 'A' && s->p[n] <= 'Z')
		n++;
	if (!n || n > 5 || (n < s->n && (isalnum((unsigned char)s->p[n]) || s->p[n] == '_')))
		return false;
	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++)
		if (zones[i].name[0] == s->p[0] && str_eq(str_head(*s, n), str_of(zones[i].name))) {
			*offset_s = zones[i].minutes * 60;
			*doubtful = zones[i].doubtful;
			*s = str_skip(*s, n);
			return true;
		}
	return false;
}

bool layout_zone_take(struct str *s, int *offset_s, bool *doubtful)
{
	struct str rest = *s;
	bool spaced = str_take_char(&rest, ' ');
	struct str begin = rest;
	int more;

	*doubtful = false;
	if (take_offset(&rest, offset_s)) {
		/* " -12" after a time is rather the message than a zone */
		if (spaced && begin.n - rest.n == 3)
			return false;
	} else if (take_name(&rest, offset_s, doubtful)) {
		if (!*offset_s && take_offset(&rest, &more))
			*offset_s = more;
	} else {
		return false;
	}
	*s = rest;
	return true;
}

bool layout_zone_of(struct layout_zone *zone, struct str name)
{
	bool doubtful, is_local = !name.n;
	int offset = 0;

	if (!is_local && (!layout_zone_take(&name, &offset, &doubtful) || name.n))
		return false;
	*zone = (struct layout_zone){ .is_local = is_local, .offset_s = offset };
	return true;
}

int64_t layout_zone_utc(struct layout_zone_cache *cache, const struct layout_zone *zone,
			int64_t wall_ns)
{
	int64_t quarter = wall_ns / (900 * NS_S);

	if (!zone->is_local)
		return wall_ns - zone->offset_s * NS_S;
	if (!cache->is_set || cache->quarter != quarter) {
		cache->quarter = quarter;
		cache->offset_ns = wall_ns - time_from_local(wall_ns);
		cache->is_set = true;
	}
	return wall_ns - cache->offset_ns;
}
