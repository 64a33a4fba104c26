#include "source/jaeger_time.h"

#include <math.h>

#include "base/time.h"

/* Digits behind a dot as a part of the unit; more than nine are passed over. */
static int64_t take_fraction(struct str *s, int64_t unit_ns)
{
	int64_t ns = 0, place = unit_ns;

	if (!str_take_char(s, '.'))
		return 0;
	for (; s->n && s->p[0] >= '0' && s->p[0] <= '9'; *s = str_skip(*s, 1)) {
		ns += (s->p[0] - '0') * place / 10;
		place /= 10;
	}
	return ns;
}

static bool take_zone(struct str *s, int64_t *east_s)
{
	unsigned hour, min;
	bool is_west;

	if (str_take_char(s, 'Z') || str_take_char(s, 'z')) {
		*east_s = 0;
		return true;
	}
	is_west = str_take_char(s, '-');
	if ((!is_west && !str_take_char(s, '+')) || !str_take_digits(s, 2, &hour))
		return false;
	str_take_char(s, ':');
	if (!str_take_digits(s, 2, &min))
		return false;
	*east_s = ((int64_t)hour * 3600 + min * 60) * (is_west ? -1 : 1);
	return true;
}

bool jaeger_time_of_rfc3339(struct str s, int64_t *ns)
{
	unsigned year, month, day, hour, min, sec;
	int64_t wall, east_s = 0;
	struct civil c;

	if (!str_take_digits(&s, 4, &year) || !str_take_char(&s, '-') ||
	    !str_take_digits(&s, 2, &month) || !str_take_char(&s, '-') ||
	    !str_take_digits(&s, 2, &day) ||
	    !(str_take_char(&s, 'T') || str_take_char(&s, 't') || str_take_char(&s, ' ')) ||
	    !str_take_digits(&s, 2, &hour) || !str_take_char(&s, ':') ||
	    !str_take_digits(&s, 2, &min) || !str_take_char(&s, ':') ||
	    !str_take_digits(&s, 2, &sec))
		return false;
	c = (struct civil){ (int)year, (int)month, (int)day, (int)hour, (int)min, (int)sec, 0 };
	c.ns = (int32_t)take_fraction(&s, NS_S);
	if (!take_zone(&s, &east_s) || s.n || !time_of_civil(&c, &wall))
		return false;
	return !__builtin_sub_overflow(wall, east_s * NS_S, ns);
}

static bool take_unit(struct str *s, int64_t *unit_ns)
{
	static const struct {
		struct str name;
		int64_t ns;
	} units[] = {
		{ { "ns", 2 }, 1 },          { { "us", 2 }, NS_US }, { { "\xc2\xb5s", 3 }, NS_US },
		{ { "ms", 2 }, NS_MS },      { { "s", 1 }, NS_S },   { { "m", 1 }, 60 * NS_S },
		{ { "h", 1 }, 3600 * NS_S },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!str_take(s, units[i].name))
			continue;
		*unit_ns = units[i].ns;
		return true;
	}
	return false;
}

bool jaeger_time_of_duration(struct str s, int64_t *ns)
{
	bool is_negative = str_take_char(&s, '-');
	int64_t sum = 0, unit;

	if (!s.n)
		return false;
	while (s.n) {
		struct str fraction;
		uint64_t whole = 0;
		int64_t part;

		if (!str_take_uint(&s, &whole) && s.p[0] != '.')
			return false;
		fraction = s;
		take_fraction(&s, 1);
		if (!take_unit(&s, &unit) || whole > INT64_MAX ||
		    __builtin_mul_overflow((int64_t)whole, unit, &part) ||
		    __builtin_add_overflow(part, take_fraction(&fraction, unit), &part) ||
		    __builtin_add_overflow(sum, part, &sum))
			return false;
	}
	*ns = is_negative ? -sum : sum;
	return true;
}

static bool number(struct json_value v, int64_t unit_ns, int64_t *ns)
{
	int64_t n;
	double d;

	if (json_int(v, &n))
		return !__builtin_mul_overflow(n, unit_ns, ns);
	if (!json_double(v, &d) || !(fabs(d) < 9.2e18 / (double)unit_ns))
		return false;
	/* Apart, so that the fraction is not rounded away by the whole. */
	*ns = (int64_t)floor(d) * unit_ns + llround((d - floor(d)) * (double)unit_ns);
	return true;
}

bool jaeger_time_point(struct json_value v, int64_t unit_ns, int64_t *ns)
{
	struct str s;

	return number(v, unit_ns, ns) || (json_str(v, &s) && jaeger_time_of_rfc3339(s, ns));
}

bool jaeger_time_span(struct json_value v, int64_t unit_ns, int64_t *ns)
{
	struct str s;

	return number(v, unit_ns, ns) || (json_str(v, &s) && jaeger_time_of_duration(s, ns));
}
