#include "base/time.h"

#include <stdio.h>
#include <time.h>

/* Howard Hinnant's days_from_civil: years begin in March, so that leap days come last. */
int64_t time_days(int year, int month, int day)
{
	int64_t y = (int64_t)year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

	return era * 146097 + doe - 719468;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

bool time_of_civil(const struct civil *c, int64_t *ns)
{
	int64_t s;

	if (c->year < 1678 || c->year > 2261 || c->month < 1 || c->month > 12 || c->day < 1 ||
	    c->day > days_in(c->year, c->month))
		return false;
	if (c->hour < 0 || c->hour > 23 || c->min < 0 || c->min > 59 || c->sec < 0 || c->sec > 60 ||
	    c->ns < 0 || c->ns >= NS_S)
		return false;
	s = time_days(c->year, c->month, c->day) * 86400 + c->hour * 3600 + c->min * 60 + c->sec;
	*ns = s * NS_S + c->ns;
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

void time_to_civil(int64_t ns, struct civil *c)
{
	int64_t s = floor_div(ns, NS_S), days = floor_div(s, 86400), rest = s - days * 86400;
	int64_t z = days + 719468, era = floor_div(z, 146097), doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

	c->month = (int)(mp < 10 ? mp + 3 : mp - 9);
	c->year = (int)(yoe + era * 400 + (c->month <= 2));
	c->day = (int)(doy - (153 * mp + 2) / 5 + 1);
	c->hour = (int)(rest / 3600);
	c->min = (int)(rest / 60 % 60);
	c->sec = (int)(rest % 60);
	c->ns = (int32_t)(ns - s * NS_S);
}

int time_local_offset(int64_t ns)
{
	time_t s = (time_t)floor_div(ns, NS_S);
	struct tm tm;

	return localtime_r(&s, &tm) ? (int)tm.tm_gmtoff : 0;
}

int64_t time_from_local(int64_t wall_ns)
{
	/* The offset is that of the result, which is not known yet: twice is enough but in the hour
	 * of a change. */
	int64_t guess = wall_ns - time_local_offset(wall_ns) * NS_S;

	return wall_ns - time_local_offset(guess) * NS_S;
}

void time_text(struct buf *b, int64_t ns, int digits)
{
	struct civil c;

	if (ns == NS_NONE) {
		buf_add(b, STR("-"));
		return;
	}
	time_to_civil(ns + time_local_offset(ns) * NS_S, &c);
	buf_fmt(b, "%04d-%02d-%02d %02d:%02d:%02d", c.year, c.month, c.day, c.hour, c.min, c.sec);
	if (digits == 3)
		buf_fmt(b, ".%03d", c.ns / 1000000);
	else if (digits == 6)
		buf_fmt(b, ".%06d", c.ns / 1000);
	else if (digits == 9)
		buf_fmt(b, ".%09d", c.ns);
}

static void scaled(struct buf *b, double v, const char *unit)
{
	/* 999.6 would round up to four digits */
	buf_fmt(b, v < 9.995 ? "%.2f" : v < 99.95 ? "%.1f" : "%.0f", v);
	if (memchr(b->p, '.', b->n)) {
		while (b->p[b->n - 1] == '0')
			b->n--;
		if (b->p[b->n - 1] == '.')
			b->n--;
	}
	buf_fmt(b, " %s", unit);
}

void time_span_text(struct buf *b, int64_t ns)
{
	struct buf t = { 0 };
	double v = (double)ns;

	if (ns < 0) {
		buf_char(b, '-');
		v = -v;
	}
	if (v < 1e3)
		buf_fmt(&t, "%.0f ns", v);
	else if (v < 999.5e3)
		scaled(&t, v / 1e3, "us");
	else if (v < 999.5e6)
		scaled(&t, v / 1e6, "ms");
	else if (v < 119.5e9)
		scaled(&t, v / 1e9, "s");
	else if (v < 7200e9)
		buf_fmt(&t, "%.0f min %02.0f s", (double)(int64_t)(v / 60e9),
			(double)((int64_t)(v / 1e9) % 60));
	else
		buf_fmt(&t, "%.0f h %02.0f min", (double)(int64_t)(v / 3600e9),
			(double)((int64_t)(v / 60e9) % 60));
	buf_add(b, buf_str(&t));
	buf_done(&t);
}

bool time_parse_span(struct str text, int64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },
		      { "s", 1e9 },  { "sec", 1e9 },  { "min", 60e9 },
		      { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 } };
	double v;

	text = str_trim(text);
	if (!str_take_double(&text, &v) || v < 0)
		return false;
	text = str_trim(text);
	if (!text.n && v == 0) {
		*ns = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!str_eq(text, str_of(units[i].name)) || v * units[i].ns > 9e18)
			continue;
		*ns = (int64_t)(v * units[i].ns);
		return true;
	}
	return false;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_S + ts.tv_nsec;
}

int64_t time_now(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int64_t time_tick(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
