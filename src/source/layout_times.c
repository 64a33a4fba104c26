/* The formats of times that are recognised without being told. */
#include "source/layout_time.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/loss.h"
#include "source/layout_month.h"

/*
 * Letters of SimpleDateFormat; "~" is a fraction and "z" a zone, both of which may be missing, "$"
 * is the epoch in any unit. Where two match the same bytes the first is preferred, unless the
 * sample decides. A "?" in front marks what is so short that much else looks like it, a "!" what
 * only stands behind a letter that is the level.
 */
static const char *const forms[] = {
	"yyyy-MM-dd HH:mm:ss~z",
	"yyyy-MM-dd'T'HH:mm:ss~z",
	"yyyy-MM-dd-HH:mm:ss~z",
	"yyyy-MM-dd_HH:mm:ss~z",
	"yyyy-MM-dd HH-mm-ss~z",
	"yyyy-MM-dd, HH:mm:ss~z",
	"yyyy-MM-dd:HH:mm:ss~z",
	"yyyy-MM-dd.HH:mm:ss~z",
	"yyyy/MM/dd HH:mm:ss~z",
	"yyyy/MM/dd'T'HH:mm:ss~z",
	"yyyy/MM/dd-HH:mm:ss~z",
	"yyyy/MM/dd - HH:mm:ss~z",
	"yyyy.MM.dd HH:mm:ss~z",
	"yyyy-M-d H:mm:ss~z",
	"yyyy/M/d H:mm:ss~z",
	"yyyyMMdd'T'HHmmss~z",
	"yyyyMMdd'T'HH:mm:ss~z",
	"yyyyMMdd HH:mm:ss~z",
	"yyyyMMdd-HH:mm:ss~z",
	"yyyyMMdd:HH:mm:ss~z",
	"yyyyMMdd-HHmmss~",
	"yyyyMMdd.HHmmss~",
	"yyyyMMdd_HHmmss~",
	"yyyyMMdd HHmmss~",
	"yyyyMMdd:HHmmss~",
	"dd/MMM/yyyy:HH:mm:ss~z",
	"dd/MMM/yyyy HH:mm:ss~z",
	"d-MMM-yyyy HH:mm:ss~z",
	"d-MMM-yyyy::HH:mm:ss~z",
	"d-MMM-yyyy:HH:mm:ss~z",
	"d MMM yyyy HH:mm:ss~z",
	"d MMM yyyy, HH:mm:ss~z",
	"d. MMM yyyy HH:mm:ss~z",
	"d-MMM-yy HH:mm:ss~z",
	"d-MMM-yy h.mm.ss~ a z",
	"yyyy MMM d HH:mm:ss~z",
	"yyyy-MMM-dd HH:mm:ss~z",
	"MMM d, yyyy h:mm:ss~ a",
	"MMM d, yyyy, h:mm:ss~ a",
	"MMM d, yyyy HH:mm:ss~z",
	"MMM d, yyyy @ HH:mm:ss~z",
	"MMM d yyyy HH:mm:ss~z",
	"MMM d HH:mm:ss~z yyyy",
	"MMM d HH:mm:ss yyyy z",
	"MMM d HH:mm:ss~z",
	"d MMM HH:mm:ss~z",
	"EEE MMM d HH:mm:ss~z yyyy",
	"EEE MMM d HH:mm:ss~ yyyy z",
	"EEE MMM d HH:mm:ss~z",
	"EEE MMM d yyyy HH:mm:ss~z",
	"EEE d MMM yyyy HH:mm:ss~z",
	"EEE d-MMM-yyyy HH:mm:ss~z",
	"EEE d MMM HH:mm:ss~z yyyy",
	"EEE d MMM yyyy h:mm:ss~ a z",
	"yy/MM/dd HH:mm:ss~z",
	"dd/MM/yyyy HH:mm:ss~z",
	"MM/dd/yyyy HH:mm:ss~z",
	"dd/MM/yyyy, HH:mm:ss~z",
	"MM/dd/yyyy, HH:mm:ss~z",
	"dd/MM/yyyy-HH:mm:ss~z",
	"MM/dd/yyyy-HH:mm:ss~z",
	"M/d/yyyy h:mm:ss~ a z",
	"d/M/yyyy h:mm:ss~ a z",
	"M/d/yyyy, h:mm:ss~ a z",
	"d/M/yyyy, h:mm:ss~ a z",
	"yyyy-MM-dd h:mm:ss~ a z",
	"yyyy/MM/dd h:mm:ss~ a z",
	"d/M/yyyy H:mm:ss~z",
	"M/d/yyyy H:mm:ss~z",
	"dd/MM/yy HH:mm:ss~z",
	"MM/dd/yy HH:mm:ss~z",
	"M/d/yy h:mm:ss~ a",
	"dd.MM.yyyy HH:mm:ss~z",
	"dd.MM.yyyy, HH:mm:ss~z",
	"dd.MM.yy HH:mm:ss~z",
	"d.M.yyyy H:mm:ss~z",
	"dd-MM-yyyy HH:mm:ss~z",
	"MM-dd-yyyy HH:mm:ss~z",
	"dd-MM-yy HH:mm:ss~z",
	"yy-MM-dd HH:mm:ss~z",
	"yyMMdd HH:mm:ss~z",
	"yyMMdd H:mm:ss~",
	"yyMMdd HHmmss~",
	"@",
	"$",
	"yyyy-MM-dd HH:mm z",
	"yyyy-MM-dd'T'HH:mmz",
	"yyyy/MM/dd HH:mm",
	"dd/MM/yyyy HH:mm",
	"MM/dd/yyyy HH:mm",
	"MM-dd HH:mm:ss~",
	"!MMdd HH:mm:ss~",
	"MM/dd HH:mm:ss~z",
	"dd/MM HH:mm:ss~",
	"?yyyyMMddHHmmss~",
	"?HH:mm:ss~z",
	"?h:mm:ss~ a",
	"?^",
};

#define NR_FORMS (sizeof(forms) / sizeof(*forms))

struct layout_times {
	struct layout_time v[NR_FORMS];
};

struct layout_times *layout_times_new(void)
{
	struct layout_times *times = mem_zalloc(sizeof(*times));

	for (size_t i = 0; i < NR_FORMS; i++) {
		struct str form = str_of(forms[i]);
		bool weak = str_take_char(&form, '?'), lettered = str_take_char(&form, '!');

		/* the table is ours: a form that does not compile stays empty and matches nothing
		 */
		layout_time_compile(&times->v[i], form);
		times->v[i].weak = weak;
		times->v[i].lettered = lettered;
	}
	return times;
}

void layout_times_free(struct layout_times *times)
{
	free(times);
}

size_t layout_times_nr(const struct layout_times *times)
{
	(void)times;
	return NR_FORMS;
}

const struct layout_time *layout_times_at(const struct layout_times *times, size_t i)
{
	return &times->v[i];
}

/* Whether a name of a month or a day stands here; most words of a text are neither. */
static bool begins_with_name(struct str s)
{
	struct str rest = s;
	int month;

	return layout_month_take(&rest, &month) || layout_weekday_take(&rest);
}

const struct layout_time *layout_times_match(const struct layout_times *times, struct str s,
					     unsigned kinds, size_t *bytes)
{
	const struct layout_time *best = NULL;
	bool weak = kinds & LAYOUT_TIMES_WEAK, lettered = kinds & LAYOUT_TIMES_LETTERED;
	bool named = s.n && (isalpha((unsigned char)s.p[0]) || s.p[0] < 0);
	size_t most = 0;

	*bytes = 0;
	if (named && !begins_with_name(s))
		return NULL;
	for (size_t i = 0; i < NR_FORMS; i++) {
		const struct layout_time *t = &times->v[i];
		struct layout_stamp stamp;
		struct str rest = s;

		if (layout_time_is_named(t) != named)
			continue;

		if ((t->weak && !weak) || t->lettered != lettered ||
		    !layout_time_take(t, NULL, &rest, &stamp))
			continue;
		/* the digits must end where the time ends */
		if (rest.n && isdigit((unsigned char)rest.p[0]) &&
		    isdigit((unsigned char)rest.p[-1]))
			continue;
		if (s.n - rest.n > most) {
			most = s.n - rest.n;
			best = t;
		}
	}
	*bytes = most;
	return best;
}

bool layout_times_value(const struct layout_times *times, struct layout_clock *clock, struct str s,
			struct layout_stamp *stamp)
{
	struct str rest = s;
	double number;
	size_t n;

	if (!s.n)
		return false;
	if (clock->value_format && layout_time_take(clock->value_format, clock, &rest, stamp) &&
	    !rest.n)
		return true;
	clock->value_format = layout_times_match(times, s, 0, &n);
	if (clock->value_format && n == s.n)
		return layout_time_take(clock->value_format, clock, &s, stamp);
	rest = s;
	clock->value_format = NULL;
	return str_take_double(&rest, &number) && !rest.n && layout_time_of_number(number, stamp);
}

/* See layout_settle.c for what these years mean. */
static int64_t set_aside(const struct layout_stamp *stamp)
{
	static const int years[] = { 0, 1680, 1688, 1696 };
	int year = years[stamp->lack] + (stamp->zoned ? 4 : 0);
	int64_t from = stamp->lack == LACK_ORIGIN ? 0 : time_days(1972, 1, 1) * 86400 * NS_S;

	return stamp->ns - from + time_days(year, 1, 1) * 86400 * NS_S;
}

int64_t layout_time_ns(struct layout_clock *clock, const struct layout_zone *zone,
		       const struct layout_stamp *stamp, struct losses *losses)
{
	if (stamp->doubtful || (!stamp->zoned && zone->is_local && stamp->lack != LACK_ORIGIN))
		losses->count[LOSS_ZONE_GUESSED]++;
	if (stamp->lack != LACK_NOTHING)
		return set_aside(stamp);
	return stamp->zoned ? stamp->ns : layout_zone_utc(&clock->zone, zone, stamp->ns);
}
