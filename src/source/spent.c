/*
 * Only places where a number begins behind a blank, a bracket or a sign are looked at (found
 *sixteen bytes at a time), and most of those are dismissed by the one byte in front. What counts:
 *
 *	name and number       took=12ms  "totalTimeMs":3.5  took[12ms]  Duration: 12.3 ms
 *	unit in brackets      duration(ns): 12000000  elapsed(ms)=12
 *	a verb and number     took 12 ms; Completed 200 OK in 12ms (but not: retrying in 12 ms)
 *	a request, a number   GET /orders/7 200 12.3 ms   | 12.3ms | GET "/orders/7"
 *	timers of proxies     1/0/2/30/33 200 (HAProxy)   0.001 0.030 0.000 200 200 (AWS)
 *	at the end            … protocol:op_msg 12ms (MongoDB)   Displayed com.example/.Main: +412ms
 *
 * A number that is announced, as a timeout or a pause, is not time that was spent.
 */
#include "source/spent.h"

#include <stdbool.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/time.h"
#include "source/layout_kind.h"
#include "source/layout_names.h"
#include "source/layout_said.h"
#include "source/request_line.h"

#define STEP 16
#define NAME_BYTES_MAX 40
#define PROSE_BYTES_MAX 200
#define RANK_MAX 4 /* less sure names mean something else in running text */
#define READ_BYTES_MAX 1024
#define SPENT_NS_MAX (7 * 86400 * NS_S) /* what is longer is a moment, not a duration */

struct spent {
	struct str text;
	struct layout_worker *worker;
	int has_request; /* whether an HTTP request stands in the text; -1 until asked */
};

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static inline bool is_alnum(char c)
{
	return is_digit(c) || is_letter(c);
}

/* --- numbers ------------------------------------------------------------------------------- */

/* "12", "12.3" at the front, without sign or exponent. */
static size_t number_length(struct str s)
{
	size_t n = 0, dot;

	while (n < s.n && is_digit(s.p[n]))
		n++;
	dot = n;
	if (n && n + 1 < s.n && s.p[n] == '.' && is_digit(s.p[n + 1]))
		for (n++; n < s.n && is_digit(s.p[n]);)
			n++;
	return dot > 15 ? 0 : n;
}

/* Whether a unit of time may begin like this: most numbers are followed by something else. */
static bool may_be_unit(char c)
{
	return c == 'm' || c == 's' || c == 'n' || c == 'u' || c == 'h' || (unsigned char)c >= 0x80;
}

/* "12 ms", "1m30.5s" at the front: the value, if a unit is there and ends as a word. */
static int64_t with_unit(struct layout_worker *worker, struct str s)
{
	size_t n = number_length(s);

	if (!n)
		return -1;
	if (n < s.n && s.p[n] == ' ')
		n++;
	if (n == s.n || !may_be_unit(s.p[n]))
		return -1;
	while (n < s.n && (is_alnum(s.p[n]) || s.p[n] < 0 ||
			   (s.p[n] == '.' && n + 1 < s.n && is_digit(s.p[n + 1]))))
		n++;
	if (n < s.n && (s.p[n] == '_' || s.p[n] == '/' || s.p[n] == '-'))
		return -1;
	s = str_head(s, n);
	for (size_t i = 0; i < s.n; i++)
		if (is_letter(s.p[i]) || s.p[i] < 0) {
			worker->by_digits = true;
			return layout_duration(s, 1);
		}
	return -1;
}

/* --- names --------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* The name that ends before this place, quotes around it left out. */
static struct str name_before(struct str text, size_t end)
{
	size_t from;

	while (end && (text.p[end - 1] == '"' || text.p[end - 1] == '\'' || text.p[end - 1] == ' '))
		end--;
	for (from = end; from && is_name_byte(text.p[from - 1]) && end - from < NAME_BYTES_MAX;)
		from--;
	return (struct str){ text.p + from, end - from };
}

/* Unit of a name that says what it is; 0: has a unit or a fraction; -1: no such name. */
static int64_t name_unit(struct layout_worker *worker, struct str name)
{
	static const struct {
		struct str end;
		int64_t unit_ns;
	} ends[] = { { STR("duration"), 0 },       { STR("latency"), 0 },
		     { STR("elapsed"), 0 },        { STR("timems"), NS_MS },
		     { STR("time_ms"), NS_MS },    { STR("duration_ms"), NS_MS },
		     { STR("durationms"), NS_MS }, { STR("latency_ms"), NS_MS },
		     { STR("took_millis"), NS_MS } };
	uint8_t rank = 0;

	switch (layout_names_find(&worker->names, name, &rank)) {
	case MEANS_DURATION:
		return rank > RANK_MAX ? -1 : 0;
	case MEANS_DURATION_S:
		return rank > RANK_MAX ? -1 : NS_S;
	case MEANS_DURATION_MS:
		return rank > RANK_MAX ? -1 : NS_MS;
	case MEANS_DURATION_US:
		return NS_US;
	case MEANS_DURATION_NS:
		return 1;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (name.n > ends[i].end.n &&
		    lower(name.p[name.n - ends[i].end.n]) == ends[i].end.p[0] &&
		    str_eq_nocase(str_skip(name, name.n - ends[i].end.n), ends[i].end))
			return ends[i].unit_ns;
	return -1;
}

/* Words that make of a duration one that was only meant, or one of something else. */
static bool is_other(struct str name)
{
	static const struct str others[] = { STR("expected"), STR("max"),     STR("min"),
					     STR("avg"),      STR("mean"),    STR("billed"),
					     STR("init"),     STR("timeout"), STR("queue"),
					     STR("start"),    STR("average"), STR("end"),
					     STR("maximum"),  STR("uptime"),  STR("total") };

	char first = name.n ? lower(name.p[0]) : 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].p[0] == first &&
		    str_eq_nocase(str_head(name, others[i].n), others[i]))
			/* "total 12 ms" is of all before, totalTimeMs of the line */
			return i + 1 < sizeof(others) / sizeof(*others) || name.n == others[i].n;
	return false;
}

/* "duration(ns): 12" with its sign behind the bracket: what the unit is worth, and where its
 * bracket begins; 0: no such unit. */
static int64_t unit_in_brackets(struct str text, size_t sign, size_t *open)
{
	static const struct {
		struct str word;
		int64_t ns;
	} units[] = { { STR("ns"), 1 },      { STR("us"), NS_US },     { STR("\xc2\xb5s"), NS_US },
		      { STR("ms"), NS_MS },  { STR("s"), NS_S },       { STR("sec"), NS_S },
		      { STR("secs"), NS_S }, { STR("seconds"), NS_S }, { STR("millis"), NS_MS },
		      { STR("nanos"), 1 } };
	size_t from = sign - 1;
	struct str word;

	while (from && sign - from < 10 && text.p[from - 1] != '(')
		from--;
	if (!from || text.p[from - 1] != '(')
		return 0;
	word = (struct str){ text.p + from, sign - 1 - from };
	*open = from - 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (str_eq_nocase(word, units[i].word))
			return units[i].ns;
	return 0;
}

static int64_t named_in_unit(const struct spent *s, size_t sign, struct str value)
{
	size_t open = 0, n = number_length(value);
	int64_t unit_ns = unit_in_brackets(s->text, sign, &open);
	struct str name = name_before(s->text, open), before;

	if (!unit_ns || !n || !name.n || is_other(name) || name_unit(s->worker, name) < 0)
		return -1;
	before = name_before(s->text, (size_t)(name.p - s->text.p));
	if (before.n && is_other(before))
		return -1;
	if (n < value.n && (is_name_byte(value.p[n]) || value.p[n] == ':' || value.p[n] == '/'))
		return -1;
	s->worker->by_digits = true;
	return layout_duration(str_head(value, n), unit_ns);
}

/* Whether a name may end before this place that says what was spent: its last two letters rule most
 * out. "service" is one, see below. */
static bool may_be_named(struct str text, size_t end)
{
	static const char ends[][2] = { "on", "cy", "ed", "ms", "us", "ns", "is", "os",
					"ds", "es", "ec", "me", "ok", "ur", "en", "ce" };
	char last, before;

	while (end && (text.p[end - 1] == '"' || text.p[end - 1] == '\'' || text.p[end - 1] == ' '))
		end--;
	if (end < 2)
		return false;
	last = lower(text.p[end - 1]);
	before = lower(text.p[end - 2]);
	if (!is_letter(last) || !is_letter(before))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends[i][1] == last && ends[i][0] == before)
			return true;
	return false;
}

static int64_t named(const struct spent *s, size_t sign, struct str value)
{
	struct str name, before, number;
	int64_t unit_ns, ns;

	if (sign && s->text.p[sign - 1] == ')')
		return named_in_unit(s, sign, value);
	if (!may_be_named(s->text, sign))
		return -1;
	name = name_before(s->text, sign);
	/* "name = 12" is how settings are written */
	if (!name.n || is_other(name) || (s->text.p[sign] == '=' && s->text.p[sign - 1] == ' '))
		return -1;
	/* the router of Heroku; alone it is a name */
	if (str_eq(name, STR("service")))
		return with_unit(s->worker, value);
	unit_ns = name_unit(s->worker, name);
	number = str_head(value, number_length(value));
	if (unit_ns < 0 && str_eq_nocase(name, STR("time")) &&
	    str_find_char(number, '.') + 3 < number.n && number.n < 12)
		unit_ns = NS_S; /* OpenStack */
	if (unit_ns < 0)
		return -1;
	before = name_before(s->text, (size_t)(name.p - s->text.p));
	if (before.n && name.p > s->text.p && name.p[-1] == ' ' && is_other(before))
		return -1;
	ns = with_unit(s->worker, value);
	if (ns >= 0)
		return ns;
	value = str_skip(value, number.n);
	if (value.n && (is_name_byte(value.p[0]) || value.p[0] == ':' || value.p[0] == '/'))
		return -1;
	s->worker->by_digits = true;
	if (unit_ns)
		return layout_duration(number, unit_ns);
	/* running text with large numbers may mean anything; milliseconds are what people write */
	if (str_find_char(number, '.') == number.n && s->worker->layout->whole_ns != NS_MS)
		return -1;
	return layout_duration_bare(number, s->worker);
}

/* --- running text -------------------------------------------------------------------------- */

static bool is_one_of(struct str word, const struct str *words, size_t nr)
{
	char first = word.n ? lower(word.p[0]) : 0;

	for (size_t i = 0; i < nr; i++)
		if (words[i].p[0] == first && words[i].n == word.n && str_eq_nocase(word, words[i]))
			return true;
	return false;
}

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof(*(words)))

/* Whether the words before "in" tell of something that is done, and announce nothing. */
static bool tells_of_end(struct str text)
{
	static const struct str announce[] = { STR("will"),    STR("retry"),  STR("next"),
					       STR("wait"),    STR("again"),  STR("expires"),
					       STR("expire"),  STR("due"),    STR("reconnect"),
					       STR("timeout"), STR("reload"), STR("scheduled") };
	static const struct str done[] = { STR("done"), STR("ok"),    STR("sent"),
					   STR("ran"),  STR("built"), STR("success") };
	size_t end = text.n, least = end > PROSE_BYTES_MAX ? end - PROSE_BYTES_MAX : 0;
	bool is_last = true, ended = false;

	while (end > least) {
		struct str word;
		size_t from;

		while (end > least && !is_letter(text.p[end - 1]))
			end--;
		for (from = end; from > least && is_letter(text.p[from - 1]);)
			from--;
		word = (struct str){ text.p + from, end - from };
		if (IS_ONE_OF(word, announce) || (is_last && str_ends(word, STR("ing"))))
			return false;
		ended |= (word.n > 3 && str_ends(word, STR("ed"))) || IS_ONE_OF(word, done);
		is_last = false;
		end = from;
	}
	return ended;
}

/* A word, a blank, the number. */
static int64_t said(const struct spent *s, size_t blank, struct str value)
{
	static const struct str verbs[] = { STR("took"), STR("spent"), STR("elapsed"),
					    STR("cost"), STR("takes"), STR("duration") };
	struct str word = name_before(s->text, blank);
	struct str front = { s->text.p, (size_t)(word.p - s->text.p) };

	if (IS_ONE_OF(word, verbs))
		return with_unit(s->worker, value);
	if (str_eq_nocase(word, STR("in")) && tells_of_end(front))
		return with_unit(s->worker, value);
	return -1;
}

/* --- whole lines of a kind ----------------------------------------------------------------- */

static int64_t of_request(struct spent *s, struct str value)
{
	struct str method, path;
	int64_t ns = with_unit(s->worker, value);

	if (ns < 0)
		return -1;
	if (s->has_request < 0)
		s->has_request = request_line_find(s->text, &method, &path);
	return s->has_request ? ns : -1;
}

static bool take_status(struct str *s)
{
	unsigned code;

	return str_take_char(s, ' ') && str_take_digits(s, 3, &code) && code >= 100 && code < 600 &&
	       s->n && s->p[0] == ' ';
}

/* HAProxy: five timers in ms, the last one for all of it, then the status. */
static int64_t slashed_timers(const struct spent *s, struct str value)
{
	int64_t v = -1;

	s->worker->by_digits = true;
	for (int i = 0; i < 5; i++) {
		if (i && !str_take_char(&value, '/'))
			return -1;
		str_take_char(&value, '+'); /* not over yet */
		if (!str_take_int(&value, &v))
			return -1;
	}
	return v >= 0 && v < INT64_MAX / NS_MS && take_status(&value) ? v * NS_MS : -1;
}

/* Load balancers of AWS: seconds to, in and from the server, then two statuses. */
static int64_t three_seconds(const struct spent *s, struct str value)
{
	int64_t sum = 0;

	s->worker->by_digits = true;
	for (int i = 0; i < 3; i++) {
		struct str word = str_head(value, number_length(value));

		if (str_find_char(word, '.') == word.n)
			return -1;
		sum += layout_duration(word, NS_S);
		value = str_skip(value, word.n);
		if (i < 2 && !str_take_char(&value, ' '))
			return -1;
	}
	return take_status(&value) && take_status(&value) ? sum : -1;
}

/* --- places -------------------------------------------------------------------------------- */

/* "Order Load (0.4ms)" */
static int64_t in_brackets(const struct spent *s, struct str value)
{
	size_t n = str_find_char(value, ')');

	return n < value.n && str_ends(str_head(value, n), STR("ms")) ? with_unit(s->worker, value)
								      : -1;
}

/* Whether a unit, a timer or a fraction can follow, which most numbers are not followed by. */
static bool may_last(struct str value)
{
	size_t n = 1;

	while (n < value.n && value.p[n] >= '0' && value.p[n] <= '9')
		n++;
	if (n < value.n && value.p[n] == ' ')
		n++;
	if (n == value.n)
		return false;
	switch (value.p[n]) {
	case '.':
	case '/':
	case 'm':
	case 's':
	case 'u':
	case 'n':
	case 'h':
		return true;
	default:
		return value.p[n] < 0;
	}
}

static int64_t look_at(struct spent *s, size_t at)
{
	struct str value = str_skip(s->text, at + 1);
	char sign = s->text.p[at], before = at ? s->text.p[at - 1] : ' ';
	int64_t ns = -1;

	if (sign == ' ' && before != ':' && before != '=' && !may_last(value))
		return -1;

	if (sign == '=' || sign == ':' || sign == '[' || sign == '"')
		return is_letter(before) || before == '"' || before == '=' || before == ':' ||
				       before == ')'
			       ? named(s, before == '=' || before == ':' ? at - 1 : at, value)
			       : -1;
	if (sign == '(')
		return in_brackets(s, value);
	if (sign == ' ' && (before == ':' || before == '='))
		ns = named(s, at - 1, value);
	else if (sign == ' ' && strchr("kntds", before | 0x20))
		ns = said(s, at, value);
	if (ns < 0 && sign == ' ') {
		size_t n = number_length(value);

		if (n && n < value.n && value.p[n] == '/')
			ns = slashed_timers(s, value);
		else if (n > 4 && n < value.n && value.p[n] == ' ' && memchr(value.p, '.', n))
			ns = three_seconds(s, value);
	}
	return ns >= 0 ? ns : of_request(s, value);
}

/* The last word, behind one that is no plain word: "op_msg 12ms", "Main: +412ms". */
static int64_t at_end(const struct spent *s)
{
	struct str text = s->text, value;
	size_t from = text.n;
	bool sign = false;

	if (!str_ends(text, STR("ms")))
		return -1;
	while (from && text.p[from - 1] != ' ')
		from--;
	value = str_skip(text, from);
	if (from < 2)
		return -1;
	for (size_t i = from - 1; i && text.p[i - 1] != ' '; i--)
		sign |= strchr(":=)}]", text.p[i - 1]) != NULL;
	/* "interval: 900ms" and "interval = 900ms" are settings */
	if (!str_take_char(&value, '+') && strchr(":=", text.p[from - 2]))
		return -1;
	return sign && number_length(value) ? with_unit(s->worker, value) : -1;
}

#ifdef __SSE2__
static unsigned sieve(const char *p)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
	__m128i from = _mm_sub_epi8(b, _mm_set1_epi8('0'));
	__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8(9)), from);
	__m128i sign = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(a, _mm_set1_epi8(' ')),
						 _mm_cmpeq_epi8(a, _mm_set1_epi8('='))),
				    _mm_or_si128(_mm_cmpeq_epi8(a, _mm_set1_epi8(':')),
						 _mm_cmpeq_epi8(a, _mm_set1_epi8('['))));

	sign = _mm_or_si128(sign, _mm_or_si128(_mm_cmpeq_epi8(a, _mm_set1_epi8('"')),
					       _mm_cmpeq_epi8(a, _mm_set1_epi8('('))));
	return (unsigned)_mm_movemask_epi8(_mm_and_si128(sign, digit));
}
#else
static unsigned sieve(const char *p)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < STEP; i++)
		if (is_digit(p[i + 1]) && p[i] && strchr(" =:[\"(", p[i]))
			bits |= 1U << i;
	return bits;
}
#endif

/* Of the bytes from this place on; nothing behind the text is read. */
static unsigned sieve_at(struct str text, size_t at)
{
	char copy[STEP + 1] = { 0 };

	if (text.n - at > STEP)
		return sieve(text.p + at);
	if (text.n > STEP) /* the last ones, without those that were looked at */
		return sieve(text.p + text.n - STEP - 1) >> (at + STEP + 1 - text.n);
	memcpy(copy, text.p, text.n);
	return sieve(copy);
}

int64_t spent_find(struct str text, struct layout_worker *worker)
{
	struct spent s = { .text = str_head(text, READ_BYTES_MAX),
			   .worker = worker,
			   .has_request = -1 };
	int64_t first = s.text.n && is_digit(s.text.p[0]) ? of_request(&s, s.text) : -1;

	if (first >= 0)
		return first;

	for (size_t at = 0; at + 1 < s.text.n; at += STEP)
		for (unsigned bits = sieve_at(s.text, at); bits; bits &= bits - 1) {
			int64_t ns = look_at(&s, at + (unsigned)__builtin_ctz(bits));

			if (ns >= 0 && ns <= SPENT_NS_MAX)
				return ns;
		}
	return at_end(&s);
}
