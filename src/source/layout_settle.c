/*
 * Completes times that lack their year, their date or their origin, which only the order of lines
 * can tell. Until here they stand in years that no log has, four years apart so that leap days and
 * zones do no harm:
 *
 *	1680 no year       1688 no date       1696 no origin     (a local clock)
 *	1684 no year       1692 no date                          (UTC already)
 *
 * The file was last written at its mtime, so its first line is taken to stand as many days or years
 * before it as the sample shows beginning anew; a step back of more than half a day or half a year
 * is the beginning of the next one.
 */
#include "source/layout_settle.h"

#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"

#define DAY (86400 * NS_S)
#define YEAR_MAX 2200 /* a file that begins anew more often than that is no longer believed */

enum set_aside { ASIDE_YEAR, ASIDE_YEAR_UTC, ASIDE_DATE, ASIDE_DATE_UTC, ASIDE_ORIGIN, ASIDE_NO };

static int64_t new_year(int year)
{
	return time_days(year, 1, 1) * DAY;
}

/* Which kind of incomplete time this is, and what it says. */
static enum set_aside aside_of(int64_t ns, int64_t *part)
{
	int kind;

	if (ns == NS_NONE || ns >= new_year(1750) || ns < new_year(1679))
		return ASIDE_NO;
	kind = ns >= new_year(1695) ? ASIDE_ORIGIN
				    : (int)((ns - new_year(1679)) / (4 * 365 * DAY + DAY));
	if (kind > ASIDE_ORIGIN)
		kind = ASIDE_ORIGIN;
	*part = ns - new_year(1680 + 4 * kind);
	return (enum set_aside)kind;
}

static int year_of(int64_t ns)
{
	struct civil c;

	time_to_civil(ns, &c);
	return c.year;
}

/* The part counts from New Year of a leap year; in others March comes a day earlier. */
static int64_t in_year(int64_t part, int year)
{
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (!leap && part >= 60 * DAY)
		part -= DAY;
	return new_year(year) + part;
}

static int64_t reference(const struct layout *layout)
{
	int64_t ns = layout->mtime_ns > 0 ? layout->mtime_ns : time_now();

	return layout->zone.is_local ? ns + time_local_offset(ns) * NS_S
				     : ns + layout->zone.offset_s * NS_S;
}

static int64_t complete_year(struct layout *layout, int64_t part)
{
	struct layout_settling *s = &layout->settling;
	int64_t end = reference(layout);

	if (!s->began) {
		int year = year_of(end) - (int)s->head_wraps;

		if (in_year(s->head_wraps ? s->head_last : part, year_of(end)) > end + DAY)
			year--;
		s->base_ns = year;
	} else if (part < s->last_part - 183 * DAY && s->base_ns < YEAR_MAX) {
		s->base_ns++;
	} else if (part > s->last_part + 183 * DAY && s->base_ns > 1970) {
		/* a late line of December after the first ones of January */
		return in_year(part, (int)s->base_ns - 1);
	}
	s->last_part = part;
	return in_year(part, (int)s->base_ns);
}

static int64_t complete_date(struct layout *layout, int64_t part)
{
	struct layout_settling *s = &layout->settling;
	int64_t end = reference(layout), midnight = end - end % DAY;

	if (!s->began) {
		int64_t last = s->head_wraps ? s->head_last : part;

		s->base_ns = midnight - s->head_wraps * DAY;
		if (midnight + last % DAY > end + NS_S * 3600)
			s->base_ns -= DAY;
	} else if (part < s->last_part - DAY / 24 && s->base_ns < new_year(YEAR_MAX)) {
		/* small steps back are threads that overtake each other */
		s->base_ns += DAY;
	}
	s->last_part = part;
	return s->base_ns + part;
}

static int64_t complete_origin(struct layout *layout, int64_t part)
{
	struct layout_settling *s = &layout->settling;

	if (!s->began)
		s->base_ns = (layout->mtime_ns > 0 ? layout->mtime_ns : time_now()) -
			     (s->head_last > part ? s->head_last : part);
	return s->base_ns + part;
}

static int64_t complete(struct layout *layout, int64_t ns, struct layout_zone_cache *cache,
			struct losses *losses)
{
	int64_t part, done;
	enum set_aside kind = aside_of(ns, &part);

	/* one file may write times of several kinds, and what completes one completes no other */
	if (kind != ASIDE_NO && layout->settling.lacks != kind / 2) {
		layout->settling.began = false;
		layout->settling.lacks = kind / 2;
	}
	switch (kind) {
	case ASIDE_YEAR:
	case ASIDE_YEAR_UTC:
		losses->count[LOSS_YEAR_GUESSED]++;
		done = complete_year(layout, part);
		break;
	case ASIDE_DATE:
	case ASIDE_DATE_UTC:
		losses->count[LOSS_DATE_GUESSED]++;
		done = complete_date(layout, part);
		break;
	case ASIDE_ORIGIN:
		losses->count[LOSS_DATE_GUESSED]++;
		done = complete_origin(layout, part);
		break;
	default:
		return ns;
	}
	layout->settling.began = true;
	if (kind == ASIDE_YEAR || kind == ASIDE_DATE)
		return layout_zone_utc(cache, &layout->zone, done);
	return done;
}

int layout_settle(struct layout *layout, struct event *events, size_t nr, struct losses *losses)
{
	struct layout_settling *s = &layout->settling;
	struct layout_zone_cache cache = { 0 };
	const int64_t aside_end = new_year(1750);

	for (size_t i = 0; i < nr; i++) {
		struct event *ev = &events[i];

		if (ev->ns == NS_NONE)
			continue;
		if (ev->ns < aside_end)
			ev->ns = complete(layout, ev->ns, &cache, losses);
		if (s->last_ns && ev->ns < s->last_ns - NS_S)
			losses->count[LOSS_TIME_BACK]++;
		s->last_ns = ev->ns;
	}
	return 0;
}

void layout_settle_learn(struct layout *layout, const int64_t *ns, size_t nr)
{
	struct layout_settling *s = &layout->settling;
	int64_t last = 0;
	bool any = false;

	for (size_t i = 0; i < nr; i++) {
		int64_t part;
		enum set_aside kind = aside_of(ns[i], &part);

		if (kind == ASIDE_NO)
			continue;
		/* a late line of December: see complete_year */
		if (any && kind <= ASIDE_YEAR_UTC && part > last + 183 * DAY)
			continue;
		if (any &&
		    ((kind <= ASIDE_YEAR_UTC && part < last - 183 * DAY) ||
		     (kind >= ASIDE_DATE && kind <= ASIDE_DATE_UTC && part < last - DAY / 24)))
			s->head_wraps++;
		last = part;
		if (part > s->head_last || kind != ASIDE_ORIGIN)
			s->head_last = part;
		any = true;
	}
}
