/*
 * A format is a short list of parts. Those up to the minute, where they have their usual width, are
 * remembered with the moment they meant: a log writes many lines in one minute, and comparing the
 * bytes is much cheaper than reading them again.
 */
#include "source/layout_time.h"

#include <ctype.h>

#include "base/time.h"
#include "model/loss.h"
#include "source/layout_month.h"

enum part {
	PART_BYTE,
	PART_SPACES,
	PART_YEAR,
	PART_YEAR2,
	PART_MONTH,
	PART_MONTH_NAME,
	PART_DAY,
	PART_DAY_OF_YEAR,
	PART_WEEKDAY,
	PART_HOUR,
	PART_HOUR12,
	PART_MINUTE,
	PART_SECOND,
	PART_FRACTION, /* optional, with the byte in front of it */
	PART_DIGITS,   /* a fraction without anything in front */
	PART_AMPM,
	PART_ZONE, /* optional */
	PART_EPOCH,
	PART_TAI64N,
	PART_UPTIME,
};

struct reading {
	struct civil c;
	int64_t epoch_ns;
	int offset_s, yday;
	bool zoned, doubtful, is_pm, has_ampm, is_epoch;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_number(struct str *s, unsigned width, unsigned most, int *value)
{
	unsigned n = 0, v = 0;

	while (n < s->n && n < most && is_digit(s->p[n]))
		v = v * 10 + (unsigned)(s->p[n++] - '0');
	if (!n || (width && n != width))
		return false;
	*s = str_skip(*s, n);
	*value = (int)v;
	return true;
}

/* Digits of a second; those beyond nanoseconds are passed over. */
static void take_fraction(struct str *s, int32_t *ns)
{
	int32_t v = 0;
	unsigned n = 0;

	while (n < s->n && is_digit(s->p[n])) {
		if (n < 9)
			v = v * 10 + (s->p[n] - '0');
		n++;
	}
	for (unsigned i = n; i < 9; i++)
		v *= 10;
	*ns = v;
	*s = str_skip(*s, n);
}

static bool take_epoch(struct str *s, struct reading *r)
{
	struct str rest = *s;
	struct layout_stamp stamp;
	uint64_t v;
	size_t n;
	int32_t ns = 0;

	if (!str_take_uint(&rest, &v))
		return false;
	n = s->n - rest.n;
	if (n != 10 && n != 13 && n != 16 && n != 19)
		return false;
	if (!layout_time_of_uint(v, &stamp))
		return false;
	r->epoch_ns = stamp.ns;
	if (rest.n > 1 && (rest.p[0] == '.' || rest.p[0] == ',') && is_digit(rest.p[1])) {
		rest = str_skip(rest, 1);
		take_fraction(&rest, &ns);
		r->epoch_ns += n == 10 ? ns : n == 13 ? ns / 1000 : n == 16 ? ns / 1000000 : 0;
	}
	r->is_epoch = r->zoned = true;
	*s = rest;
	return true;
}

/* "@" and 24 hexadecimal digits: seconds from 2^62 in TAI, then nanoseconds. */
static bool take_tai64n(struct str *s, struct reading *r)
{
	struct str seconds = str_head(str_skip(*s, 1), 16), nanos = str_head(str_skip(*s, 17), 8);
	const uint64_t origin = ((uint64_t)1 << 62) + 10;
	uint64_t sec, ns;

	if (s->n < 25 || s->p[0] != '@' || !str_take_hex(&seconds, &sec) || seconds.n ||
	    !str_take_hex(&nanos, &ns) || nanos.n)
		return false;
	if (sec < origin || sec - origin > 9000000000u || ns >= (uint64_t)NS_S)
		return false;
	r->epoch_ns = (int64_t)((sec - origin) * (uint64_t)NS_S + ns);
	r->is_epoch = r->zoned = true;
	*s = str_skip(*s, 25);
	return true;
}

static bool take_uptime(struct str *s, struct reading *r)
{
	struct str rest = *s;
	uint64_t sec;
	int32_t ns;

	str_take_spaces(&rest);
	if (!str_take_uint(&rest, &sec) || sec > 400000000 || !str_take_char(&rest, '.') ||
	    !rest.n || !is_digit(rest.p[0]))
		return false;
	take_fraction(&rest, &ns);
	r->epoch_ns = (int64_t)sec * NS_S + ns;
	r->is_epoch = true;
	*s = rest;
	return true;
}

static bool take_optional_fraction(struct str *s, struct reading *r)
{
	if (s->n > 1 && (s->p[0] == '.' || s->p[0] == ',' || s->p[0] == ':') && is_digit(s->p[1])) {
		*s = str_skip(*s, 1);
		take_fraction(s, &r->c.ns);
	}
	return true;
}

static bool take_zone(struct str *s, struct reading *r)
{
	size_t n = 0;

	if (layout_zone_take(s, &r->offset_s, &r->doubtful)) {
		r->zoned = true;
		return true;
	}
	/* capitals right behind the digits are meant as a zone, even one that nobody knows */
	while (n < s->n && s->p[n] >= 'A' && s->p[n] <= 'Z')
		n++;
	if (n >= 2 && n <= 5 && (n == s->n || s->p[n] == ' '))
		*s = str_skip(*s, n);
	return true;
}

static bool take_ampm(struct str *s, struct reading *r)
{
	char c = s->n >= 2 ? (char)(s->p[0] | 0x20) : 0;

	if ((c != 'a' && c != 'p') || (s->p[1] | 0x20) != 'm')
		return false;
	r->is_pm = c == 'p';
	r->has_ampm = true;
	*s = str_skip(*s, 2);
	return true;
}

static bool take_year2(struct str *s, struct reading *r)
{
	if (!take_number(s, 2, 2, &r->c.year))
		return false;
	r->c.year += r->c.year < 70 ? 2000 : 1900;
	return true;
}

static bool take_spaces(struct str *s)
{
	/* a no-break space stands before AM and PM in newer JDKs and browsers */
	if (str_take(s, STR("\u202f")))
		return true;
	return str_take_spaces(s) > 0;
}

static bool take_part(const struct layout_time_op *op, struct str *s, struct reading *r)
{
	switch ((enum part)op->part) {
	case PART_BYTE:
		return str_take_char(s, op->byte);
	case PART_SPACES:
		return take_spaces(s);
	case PART_YEAR:
		return take_number(s, 4, 4, &r->c.year);
	case PART_YEAR2:
		return take_year2(s, r);
	case PART_MONTH:
		return take_number(s, op->width, 2, &r->c.month);
	case PART_MONTH_NAME:
		return layout_month_take(s, &r->c.month);
	case PART_DAY:
		return take_number(s, op->width, 2, &r->c.day);
	case PART_DAY_OF_YEAR:
		return take_number(s, op->width, 3, &r->yday);
	case PART_WEEKDAY:
		return layout_weekday_take(s);
	case PART_HOUR:
	case PART_HOUR12:
		return take_number(s, op->width, 2, &r->c.hour);
	case PART_MINUTE:
		return take_number(s, 2, 2, &r->c.min);
	case PART_SECOND:
		return take_number(s, 2, 2, &r->c.sec);
	case PART_FRACTION:
		return take_optional_fraction(s, r);
	case PART_DIGITS:
		take_fraction(s, &r->c.ns);
		return true;
	case PART_AMPM:
		return take_ampm(s, r);
	case PART_ZONE:
		return take_zone(s, r);
	case PART_EPOCH:
		return take_epoch(s, r);
	case PART_TAI64N:
		return take_tai64n(s, r);
	case PART_UPTIME:
		return take_uptime(s, r);
	}
	return false;
}

/* Fields to nanoseconds of the wall clock; what is lacking stands in a leap year or on its first
 * day. */
static bool reading_ns(struct reading *r, int lack, int64_t *ns)
{
	if (r->is_epoch) {
		*ns = r->epoch_ns;
		return true;
	}
	if (r->has_ampm) {
		if (r->c.hour < 1 || r->c.hour > 12)
			return false;
		r->c.hour = r->c.hour % 12 + (r->is_pm ? 12 : 0);
	}
	if (lack == LACK_NOTHING && r->c.year < 1900)
		return false;
	if (r->yday) {
		struct civil first = { r->c.year, 1, 1, r->c.hour, r->c.min, r->c.sec, r->c.ns };

		if (r->yday > 366 || !time_of_civil(&first, ns))
			return false;
		*ns += (r->yday - 1) * 86400 * NS_S;
		return true;
	}
	return time_of_civil(&r->c, ns);
}

/* How far such a time reaches behind the minute: ":ss,SSS", three digits and no more, which most
 * logs write; 0: it is written otherwise. */
static size_t take_usual_end(const struct layout_time *t, struct str s, int64_t *ns)
{
	const struct layout_time_op *op = &t->ops[t->prefix_ops];
	const char *p = s.p;

	if (t->nr != t->prefix_ops + 3 || op[0].part != PART_BYTE || op[1].part != PART_SECOND ||
	    op[2].part != PART_FRACTION || s.n < 8)
		return 0;
	if (p[0] != op[0].byte || !is_digit(p[1]) || !is_digit(p[2]) ||
	    (p[3] != '.' && p[3] != ',' && p[3] != ':') || !is_digit(p[4]) || !is_digit(p[5]) ||
	    !is_digit(p[6]) || is_digit(p[7]) || p[1] > '5')
		return 0;
	*ns = ((p[1] - '0') * 10 + p[2] - '0') * NS_S +
	      ((p[4] - '0') * 100 + (p[5] - '0') * 10 + p[6] - '0') * NS_MS;
	return 7;
}

static bool is_same_minute(const struct layout_time *t, const struct layout_clock *clock,
			   struct str s)
{
	return clock && clock->format == t && t->prefix_bytes && s.n >= t->prefix_bytes &&
	       !memcmp(s.p, clock->prefix, t->prefix_bytes);
}

static bool take_time(const struct layout_time *t, struct layout_clock *clock, struct str *s,
		      struct layout_stamp *stamp, bool known)
{
	struct reading r = { .c = { .year = 1972, .month = 1, .day = 1 } };
	struct str rest = *s;
	unsigned op = 0;
	int64_t ns;

	if (known) {
		op = t->prefix_ops;
		rest = str_skip(rest, t->prefix_bytes);
	}
	for (; op < t->nr; op++) {
		if (!take_part(&t->ops[op], &rest, &r) &&
		    !(t->any_t && t->ops[op].part == PART_SPACES && str_take_char(&rest, 'T')))
			return false;
		/* two blanks where one is usual: the bytes to compare would end too early */
		if (op + 1 == t->prefix_ops && s->n - rest.n != t->prefix_bytes)
			clock = NULL;
	}
	if (known) {
		if (r.c.sec > 60)
			return false;
		ns = clock->prefix_ns + r.c.sec * NS_S + r.c.ns;
	} else if (!reading_ns(&r, t->lack, &ns)) {
		return false;
	} else if (clock && t->prefix_bytes) {
		clock->format = t;
		memcpy(clock->prefix, s->p, t->prefix_bytes);
		clock->prefix_ns = ns - r.c.sec * NS_S - r.c.ns;
	}
	*stamp = (struct layout_stamp){ .ns = ns - r.offset_s * NS_S,
					.lack = t->lack,
					.zoned = r.zoned,
					.doubtful = r.doubtful };
	*s = rest;
	return true;
}

bool layout_time_take(const struct layout_time *t, struct layout_clock *clock, struct str *s,
		      struct layout_stamp *stamp)
{
	bool known = is_same_minute(t, clock, *s);
	int64_t ns;
	size_t n = known ? take_usual_end(t, str_skip(*s, t->prefix_bytes), &ns) : 0;

	if (!n)
		return take_time(t, clock, s, stamp, known);
	*stamp = (struct layout_stamp){ .ns = clock->prefix_ns + ns, .lack = t->lack };
	*s = str_skip(*s, t->prefix_bytes + n);
	return true;
}

bool layout_time_of_uint(uint64_t number, struct layout_stamp *stamp)
{
	static const uint64_t units[] = { 1000000000, 1000000, 1000, 1 };

	for (unsigned i = 0; i < 4; i++)
		if (number >= 631152000u * (1000000000 / units[i]) &&
		    number <= 4102444800u * (1000000000 / units[i])) {
			*stamp = (struct layout_stamp){ .ns = (int64_t)(number * units[i]),
							.zoned = true };
			return true;
		}
	return false;
}

bool layout_time_of_number(double number, struct layout_stamp *stamp)
{
	static const double units[] = { 1e9, 1e6, 1e3, 1 };

	/* from 1990 to 2100: ranges in s, ms, us and ns do not touch */
	for (unsigned i = 0; i < 4; i++) {
		double ns = number * units[i];

		if (ns >= 631152000e9 && ns <= 4102444800e9) {
			*stamp = (struct layout_stamp){ .ns = (int64_t)ns, .zoned = true };
			return true;
		}
	}
	return false;
}

/* The letter's part when it stands n times in a row. */
static bool letter_op(char c, unsigned n, struct layout_time_op *op)
{
	static const struct {
		char letter;
		uint8_t part;
	} letters[] = {
		{ 'd', PART_DAY },      { 'D', PART_DAY_OF_YEAR }, { 'H', PART_HOUR },
		{ 'k', PART_HOUR },     { 'h', PART_HOUR12 },      { 'K', PART_HOUR12 },
		{ 'm', PART_MINUTE },   { 's', PART_SECOND },      { 'S', PART_DIGITS },
		{ 'n', PART_DIGITS },   { 'a', PART_AMPM },        { 'z', PART_ZONE },
		{ 'Z', PART_ZONE },     { 'X', PART_ZONE },        { 'x', PART_ZONE },
		{ 'O', PART_ZONE },     { 'V', PART_ZONE },        { 'E', PART_WEEKDAY },
		{ '$', PART_EPOCH },    { '@', PART_TAI64N },      { '^', PART_UPTIME },
		{ '~', PART_FRACTION },
	};

	op->width = n >= 2 ? (uint8_t)n : 0;
	if (c == 'y' || c == 'u') {
		op->part = n == 2 ? PART_YEAR2 : PART_YEAR;
		return true;
	}
	if (c == 'M' || c == 'L') {
		op->part = n >= 3 ? PART_MONTH_NAME : PART_MONTH;
		return true;
	}
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].letter == c) {
			op->part = letters[i].part;
			return true;
		}
	return false;
}

static bool add_op(struct layout_time *t, struct layout_time_op op)
{
	struct layout_time_op *last = t->nr ? &t->ops[t->nr - 1] : NULL;

	/* ",SSS" becomes one part that may be missing */
	if (op.part == PART_DIGITS && last && last->part == PART_BYTE &&
	    (last->byte == ',' || last->byte == '.' || last->byte == ':')) {
		t->fraction = last->byte;
		t->fraction_digits = op.width ? op.width : 3;
		last->part = PART_FRACTION;
		return true;
	}
	/* a zone brings its own blank */
	if (op.part == PART_ZONE && last && last->part == PART_SPACES) {
		*last = op;
		return true;
	}
	if (op.part == PART_SPACES && last && last->part == PART_SPACES)
		return true;
	if (t->nr == LAYOUT_TIME_OPS)
		return false;
	t->ops[t->nr++] = op;
	return true;
}

static bool add_bytes(struct layout_time *t, struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		struct layout_time_op op = { .part = bytes.p[i] == ' ' ? PART_SPACES : PART_BYTE,
					     .byte = bytes.p[i] };

		if (!add_op(t, op))
			return false;
	}
	return true;
}

/* 'quoted text', where '' is a quote */
static bool take_quoted(struct layout_time *t, struct str *format)
{
	struct str text;

	if (!str_take_char(format, '\'') || !str_take_until(format, '\'', &text))
		return false;
	return add_bytes(t, text.n ? text : STR("'"));
}

static bool has(const struct layout_time *t, enum part part)
{
	for (unsigned i = 0; i < t->nr; i++)
		if (t->ops[i].part == part)
			return true;
	return false;
}

static bool find_lack(struct layout_time *t)
{
	bool day = has(t, PART_DAY) && (has(t, PART_MONTH) || has(t, PART_MONTH_NAME));

	if (has(t, PART_EPOCH) || has(t, PART_TAI64N))
		t->lack = LACK_NOTHING;
	else if (has(t, PART_UPTIME))
		t->lack = LACK_ORIGIN;
	else if (!has(t, PART_HOUR) && !has(t, PART_HOUR12))
		return false;
	else if ((has(t, PART_YEAR) || has(t, PART_YEAR2)) && (day || has(t, PART_DAY_OF_YEAR)))
		t->lack = LACK_NOTHING;
	else
		t->lack = day ? LACK_YEAR : LACK_DATE;
	return true;
}

/* How many bytes the parts up to the minute have. */
static void find_prefix(struct layout_time *t)
{
	unsigned bytes = 0;

	if (has(t, PART_AMPM) || has(t, PART_DAY_OF_YEAR))
		return;
	for (unsigned i = 0; i < t->nr && bytes < LAYOUT_TIME_PREFIX; i++) {
		const struct layout_time_op *op = &t->ops[i];

		/* what is usual: a prefix of other width is not remembered */
		if (op->part == PART_BYTE || op->part == PART_SPACES)
			bytes++;
		else if (op->part == PART_YEAR)
			bytes += 4;
		else if (op->part == PART_MONTH_NAME || op->part == PART_WEEKDAY)
			bytes += 3;
		else if (op->part == PART_YEAR2 || op->part == PART_MONTH || op->part == PART_DAY ||
			 op->part == PART_HOUR || op->part == PART_MINUTE)
			bytes += 2;
		else
			return;
		if (op->part == PART_MINUTE && bytes <= LAYOUT_TIME_PREFIX) {
			t->prefix_ops = (uint8_t)(i + 1);
			t->prefix_bytes = (uint8_t)bytes;
			return;
		}
	}
}

bool layout_time_compile(struct layout_time *t, struct str format)
{
	*t = (struct layout_time){ .fraction = '.' };
	while (format.n) {
		struct layout_time_op op = { 0 };
		char c = format.p[0];
		unsigned n = 1;

		if (c == '\'') {
			if (!take_quoted(t, &format))
				return false;
			continue;
		}
		while (n < format.n && n < 12 && format.p[n] == c && isalpha((unsigned char)c))
			n++;
		if (letter_op(c, n, &op)
			    ? !add_op(t, op)
			    : (isalpha((unsigned char)c) || !add_bytes(t, str_head(format, n))))
			return false;
		format = str_skip(format, n);
	}
	if (!find_lack(t))
		return false;
	find_prefix(t);
	return true;
}

static void op_text(const struct layout_time *t, const struct layout_time_op *op, struct buf *b)
{
	static const char *const names[] = {
		[PART_YEAR] = "yyyy",     [PART_YEAR2] = "yy",   [PART_MONTH_NAME] = "MMM",
		[PART_DAY_OF_YEAR] = "D", [PART_WEEKDAY] = "E",  [PART_MINUTE] = "mm",
		[PART_SECOND] = "ss",     [PART_DIGITS] = "SSS", [PART_AMPM] = "a",
		[PART_ZONE] = "XXX",      [PART_EPOCH] = "UNIX", [PART_TAI64N] = "TAI64N",
		[PART_UPTIME] = "UPTIME",
	};
	static const char letters[] = {
		[PART_MONTH] = 'M', [PART_DAY] = 'd', [PART_HOUR] = 'H', [PART_HOUR12] = 'h'
	};

	if (op->part == PART_BYTE || op->part == PART_SPACES) {
		if (isalpha((unsigned char)op->byte))
			buf_fmt(b, "'%c'", op->byte);
		else
			buf_char(b, op->byte);
	} else if (op->part == PART_FRACTION) {
		if (t->fraction_digits)
			buf_char(b, t->fraction);
		for (unsigned i = 0; i < t->fraction_digits; i++)
			buf_char(b, 'S');
	} else if (op->part < sizeof(letters) && letters[op->part]) {
		for (unsigned i = 0; i < (op->width ? op->width : 1u); i++)
			buf_char(b, letters[op->part]);
	} else {
		buf_add(b, str_of(names[op->part]));
	}
}

bool layout_time_is_named(const struct layout_time *t)
{
	return t->ops[0].part == PART_MONTH_NAME || t->ops[0].part == PART_WEEKDAY;
}

void layout_time_drop_zone(struct layout_time *t)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < t->nr; i++)
		if (t->ops[i].part != PART_ZONE)
			t->ops[nr++] = t->ops[i];
	t->nr = (uint8_t)nr;
}

void layout_time_text(const struct layout_time *t, struct buf *b)
{
	for (unsigned i = 0; i < t->nr; i++)
		op_text(t, &t->ops[i], b);
}
