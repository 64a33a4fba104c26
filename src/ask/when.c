#include "ask/when.h"

#include <errno.h>

#include "ask/length.h"
#include "ask/question.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "store/store.h"

/* ":SS" and a fraction, both optional. */
static bool take_seconds(struct str *s, struct civil *c)
{
	unsigned sec = 0, digit;
	int32_t unit = 100000000;

	if (str_take_char(s, ':')) {
		if (!str_take_digits(s, 2, &sec))
			return false;
		if (str_take_char(s, '.') || str_take_char(s, ','))
			for (; str_take_digits(s, 1, &digit); unit /= 10)
				c->ns += (int32_t)digit * unit;
	}
	c->sec = (int)sec;
	return true;
}

static bool take_clock(struct str *s, struct civil *c)
{
	unsigned hour, min;

	if (!str_take_digits(s, 2, &hour) || !str_take_char(s, ':') || !str_take_digits(s, 2, &min))
		return false;
	c->hour = (int)hour;
	c->min = (int)min;
	return take_seconds(s, c);
}

static bool take_date(struct str *s, struct civil *c)
{
	struct str t = *s;
	unsigned year, month, day;

	if (!str_take_digits(&t, 4, &year) || !str_take_char(&t, '-') ||
	    !str_take_digits(&t, 2, &month) || !str_take_char(&t, '-') ||
	    !str_take_digits(&t, 2, &day))
		return false;
	c->year = (int)year;
	c->month = (int)month;
	c->day = (int)day;
	*s = t;
	return true;
}

/* "Z", "+02:00", "-0530" or nothing, which means the local zone. */
static bool take_zone(struct str *s, int64_t wall, int64_t *ns)
{
	unsigned hour, min = 0;
	bool east = str_take_char(s, '+');

	if (!east && !str_take_char(s, '-')) {
		*ns = str_take_char(s, 'Z') ? wall : time_from_local(wall);
		return true;
	}
	if (!str_take_digits(s, 2, &hour))
		return false;
	str_take_char(s, ':');
	if (s->n && !str_take_digits(s, 2, &min))
		return false;
	*ns = length_signed((east ? 1 : -1) * ((int64_t)hour * 3600 + min * 60) * NS_S, wall);
	return true;
}

/* Seconds, milliseconds, microseconds or nanoseconds, told apart by their size. */
static bool number_of(struct str s, int64_t *ns)
{
	double v;
	uint64_t whole;
	struct str t = s;

	if (str_take_uint(&t, &whole) && !t.n && whole >= 100000000000000000u &&
	    whole <= INT64_MAX) {
		*ns = (int64_t)whole;
		return true;
	}
	if (!str_take_double(&s, &v) || s.n || v < 0 || v >= 1e17)
		return false;
	*ns = length_of(v * (v < 1e11 ? 1e9 : v < 1e14 ? 1e6 : 1e3));
	return true;
}

int when_parse(const char *text, int64_t day_ns, int64_t *ns, struct error *err)
{
	struct str s = str_trim(str_of(text));
	struct civil c, day = { 0 };
	int64_t wall, at;

	if (!s.n)
		goto bad;
	if (number_of(s, ns))
		return 0;
	time_to_civil(day_ns + time_local_offset(day_ns) * NS_S, &c);
	day = (struct civil){ .year = c.year, .month = c.month, .day = c.day };
	if (take_date(&s, &day) && s.n && !str_take_char(&s, 'T') && !str_take_spaces(&s))
		goto bad;
	if ((s.n && !take_clock(&s, &day)) || !time_of_civil(&day, &wall))
		goto bad;
	str_take_spaces(&s);
	if (!take_zone(&s, wall, &at) || s.n)
		goto bad;
	*ns = at;
	return 0;
bad:
	return error_set(err, EINVAL,
			 "'%s' is no time; write 2026-11-15T09:31:15, 09:31:15 or a number "
			 "since the epoch",
			 text);
}

int when_times(const struct args *args, struct store *s, struct request_filter *f,
	       struct error *err)
{
	const char *from = args_get(args, "from"), *until = args_get(args, "until");
	int64_t day = store_first_ns(s);

	if (!from && !until)
		return 0;
	if (day == NS_NONE)
		day = 0;
	f->from_ns = INT64_MIN;
	f->until_ns = INT64_MAX;
	if (from && when_parse(from, day, &f->from_ns, err) < 0)
		return error_prefix(err, "--from");
	if (until && when_parse(until, day, &f->until_ns, err) < 0)
		return error_prefix(err, "--until");
	return 0;
}

int when_filter(const struct args *args, struct store *s, struct request_filter *f,
		struct error *err)
{
	const char *type = args_get(args, "type");
	int r;

	if (type) {
		r = store_find_type(s, str_of(type), &f->type, err);
		if (r <= 0)
			return r < 0 ? r : -EINVAL;
	}
	return when_times(args, s, f, err);
}
