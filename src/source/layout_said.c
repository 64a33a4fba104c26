#include "source/layout_said.h"

#include <ctype.h>
#include <string.h>

#include "base/time.h"
#include "model/event.h"
#include "source/layout_kind.h"
#include "source/title.h"

#define PATH_BYTES_MAX 200

static enum level level_of_number(int64_t n, enum layout_meaning scale)
{
	static const enum level by_syslog[] = {
		LEVEL_FATAL, LEVEL_FATAL, LEVEL_FATAL, LEVEL_ERROR,
		LEVEL_WARN,  LEVEL_INFO,  LEVEL_INFO,  LEVEL_DEBUG
	};

	if (n < 0 || n > 100)
		return LEVEL_NONE;
	if (scale == MEANS_LEVEL_SYSLOG)
		return n < 8 ? by_syslog[n] : LEVEL_NONE;
	if (scale == MEANS_LEVEL_OTEL)
		return n < 1 || n > 24 ? LEVEL_NONE : LEVEL_TRACE + (n - 1) / 4;
	if (scale == MEANS_LEVEL_PYTHON)
		return n < 10 ? LEVEL_NONE : n > 50 ? LEVEL_FATAL : LEVEL_DEBUG + (n - 10) / 10;
	/* bunyan and pino; below ten every program counts differently */
	return n < 10 ? LEVEL_NONE : n > 60 ? LEVEL_FATAL : LEVEL_TRACE + (n - 10) / 10;
}

static enum level level_said(const struct layout_said *said)
{
	static const uint8_t scales[] = { MEANS_LEVEL, MEANS_LEVEL_SYSLOG, MEANS_LEVEL_PYTHON,
					  MEANS_LEVEL_OTEL };

	for (unsigned i = 0; i < sizeof(scales); i++) {
		struct str text = str_trim(said->value[scales[i]]);
		enum level level = level_of(text);
		int64_t n;

		if (level == LEVEL_NONE && str_take_int(&text, &n) && !text.n)
			level = level_of_number(n, scales[i]);
		if (level != LEVEL_NONE)
			return level;
	}
	return LEVEL_NONE;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "12.5ms" and its like; a bare number is of the unit given. */
int64_t layout_duration(struct str text, int64_t unit_ns)
{
	static const struct {
		struct str name;
		double ns;
	} units[] = { { STR("ns"), 1 },
		      { STR("us"), 1e3 },
		      { STR("µs"), 1e3 },
		      { STR("μs"), 1e3 },
		      { STR("ms"), 1e6 },
		      { STR("s"), 1e9 },
		      { STR("sec"), 1e9 },
		      { STR("secs"), 1e9 },
		      { STR("m"), 60e9 },
		      { STR("min"), 60e9 },
		      { STR("h"), 3600e9 },
		      { STR("seconds"), 1e9 },
		      { STR("second"), 1e9 },
		      { STR("millis"), 1e6 },
		      { STR("msec"), 1e6 },
		      { STR("msecs"), 1e6 },
		      { STR("milliseconds"), 1e6 },
		      { STR("millisecond"), 1e6 },
		      { STR("microseconds"), 1e3 },
		      { STR("usec"), 1e3 },
		      { STR("nanoseconds"), 1 },
		      { STR("mins"), 60e9 },
		      { STR("minutes"), 60e9 } };
	double total = 0, v;
	struct str rest = str_trim(text);

	if (!rest.n || !str_take_double(&rest, &v) || v < 0)
		return -1;
	rest = str_trim(rest);
	if (!rest.n)
		total = v * (double)unit_ns;
	while (rest.n) { /* "1m30.5s" */
		size_t n = 0, i = 0;

		while (n < rest.n && !is_digit(rest.p[n]) && rest.p[n] != ' ')
			n++;
		for (; i < sizeof(units) / sizeof(*units); i++)
			if (str_eq(str_head(rest, n), units[i].name))
				break;
		if (i == sizeof(units) / sizeof(*units))
			return -1;
		total += v * units[i].ns;
		rest = str_skip(rest, n);
		str_take_spaces(&rest);
		if (rest.n && !str_take_double(&rest, &v))
			return -1;
	}
	return total >= 0 && total < 9e18 ? (int64_t)(total + 0.5) : -1;
}

int64_t layout_duration_bare(struct str text, struct layout_worker *worker)
{
	bool fraction = str_find_char(text, '.') < text.n;
	int64_t unit_ns = fraction ? worker->layout->fraction_ns : worker->layout->whole_ns;
	int64_t ns = unit_ns ? layout_duration(text, unit_ns) : -1;

	if (ns >= 0 && isdigit((unsigned char)text.p[text.n - 1]))
		worker->bare = fraction ? BARE_FRACTION : BARE_WHOLE;
	return ns;
}

static int64_t duration_said(const struct layout_said *said, struct layout_worker *worker)
{
	static const struct {
		uint8_t means;
		int64_t unit_ns;
	} units[] = { { MEANS_DURATION_NS, 1 },
		      { MEANS_DURATION_US, NS_US },
		      { MEANS_DURATION_MS, NS_MS },
		      { MEANS_DURATION_S, NS_S } };
	struct str text = said->value[MEANS_DURATION];

	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
		int64_t ns = layout_duration(said->value[units[i].means], units[i].unit_ns);

		if (ns >= 0)
			return ns;
	}
	return layout_duration_bare(text, worker);
}

/* A path without its query, and with <*> for each segment that has digits. */
static struct str path_template(struct arena *arena, struct str path)
{
	char out[3 * PATH_BYTES_MAX]; /* each byte of a path becomes a mask at the worst */
	size_t n = 0;
	size_t scheme = str_find(path, STR("://"));

	if (scheme < path.n && scheme < 8) {
		path = str_skip(path, scheme + 3);
		path = str_skip(path, str_find_char(path, '/'));
	}
	path = str_head(path, str_find_char(path, '?'));
	path = str_head(path, str_find_char(path, ';'));
	path = str_head(path, str_find_char(path, '\0'));
	path = str_head(path, PATH_BYTES_MAX);
	while (path.n) {
		struct str part = str_head(path, str_find_char(path, '/'));
		bool varies = part.n > 40;

		for (size_t i = 0; i < part.n && !varies; i++)
			varies = part.p[i] == '%' ||
				 (is_digit(part.p[i]) && !(part.n <= 3 && part.p[0] == 'v'));
		path = str_skip(path, part.n);
		if (varies)
			part = STR("<*>");
		memcpy(out + n, part.p, part.n);
		n += part.n;
		if (str_take_char(&path, '/'))
			out[n++] = '/';
	}
	return arena_str(arena, (struct str){ out, n });
}

static struct str join(struct arena *arena, struct str method, struct str path)
{
	char *p = arena_alloc(arena, method.n + 1 + path.n);

	memcpy(p, method.p, method.n);
	p[method.n] = ' ';
	memcpy(p + method.n + 1, path.p, path.n);
	return (struct str){ p, method.n + 1 + path.n };
}

struct str layout_route(struct arena *arena, struct str method, struct str path)
{
	struct str words[2] = { { 0 } };

	if (!method.n && path.n) { /* "GET /orders/7 HTTP/1.1" */
		if (!str_take_word(&path, &words[0]))
			return path;
		method = words[0];
		str_take_word(&path, &words[1]);
		path = words[1];
	}
	for (size_t i = 0; i < method.n; i++)
		if (!isalpha((unsigned char)method.p[i]) && method.p[i] != '-')
			return title_mask(arena, method);
	path = path_template(arena, path);
	if (!method.n || !path.n)
		return method.n ? arena_str(arena, str_head(method, 40)) : path;
	return join(arena, str_head(method, 20), path);
}

/* "00-<trace>-<span>-01" gives both. */
static void take_traceparent(struct str *trace, struct str *span)
{
	struct str t = *trace;

	if (t.n < 52 || t.p[2] != '-' || t.p[35] != '-')
		return;
	*trace = str_head(str_skip(t, 3), 32);
	*span = str_head(str_skip(t, 36), 16);
}

static bool is_id(struct str id)
{
	size_t zeros = 0;

	while (zeros < id.n && (id.p[zeros] == '0' || id.p[zeros] == '-'))
		zeros++;
	return zeros < id.n && id.n <= 200 && !str_eq_nocase(id, STR("null")) &&
	       !str_eq_nocase(id, STR("none")) && !str_eq_nocase(id, STR("N/A"));
}

/* The id of "projects/p/traces/<id>", as Google writes it. */
static struct str last_segment(struct str trace)
{
	for (size_t i = trace.n; i > 0; i--)
		if (trace.p[i - 1] == '/')
			return str_skip(trace, i);
	return trace;
}

static void keys_said(const struct layout_said *said, struct event *ev)
{
	struct str trace = said->value[MEANS_TRACE], span = said->value[MEANS_SPAN];

	take_traceparent(&trace, &span);
	trace = last_segment(trace);
	if (str_take(&trace, STR("0x")))
		str_take(&span, STR("0x"));
	if (is_id(trace)) {
		ev->key_kind = KEY_TRACE;
		ev->key = trace;
		ev->span = is_id(span) ? span : (struct str){ 0 };
	} else if (is_id(said->value[MEANS_REQUEST])) {
		ev->key_kind = KEY_REQUEST;
		ev->key = said->value[MEANS_REQUEST];
	}
}

static void places_said(const struct layout_said *said, struct arena *arena, struct event *ev)
{
	const struct str *v = said->value;

	if (v[MEANS_SERVICE].n)
		ev->node = v[MEANS_SERVICE];
	if (v[MEANS_HOST].n)
		ev->node = v[MEANS_HOST];
	if (v[MEANS_SERVICE].n && said->rank[MEANS_SERVICE] <= 2)
		ev->node = v[MEANS_SERVICE];
	ev->thread = v[MEANS_THREAD].n ? v[MEANS_THREAD] : v[MEANS_PID];
	if (v[MEANS_LOGGER].n)
		ev->point = v[MEANS_LOGGER];
	else if (v[MEANS_FILE].n && v[MEANS_LINE].n)
		ev->point = arena_fmt(arena, STR_FMT ":" STR_FMT, STR_ARG(v[MEANS_FILE]),
				      STR_ARG(v[MEANS_LINE]));
	else
		ev->point = v[MEANS_PROGRAM];
}

static bool is_path(struct str s)
{
	return str_find_char(s, '/') < s.n;
}

void layout_said_rest(const struct layout_said *said, struct layout_worker *worker,
		      struct arena *arena, struct event *ev)
{
	const struct str *v = said->value;
	struct str status = v[MEANS_STATUS];
	int64_t duration = duration_said(said, worker);
	uint64_t code;

	ev->level = level_said(said);
	if (duration >= 0)
		ev->duration = duration;
	keys_said(said, ev);
	places_said(said, arena, ev);
	if (ev->level < LEVEL_ERROR && str_take_uint(&status, &code) && !status.n && code >= 500 &&
	    code < 600)
		ev->level = LEVEL_ERROR;
	if ((ev->duration >= 0 || ev->key_kind != KEY_NONE) &&
	    (is_path(v[MEANS_PATH]) || (v[MEANS_REQUEST_LINE].n && v[MEANS_STATUS].n)))
		ev->title = is_path(v[MEANS_PATH])
				    ? layout_route(arena, v[MEANS_METHOD], v[MEANS_PATH])
				    : layout_route(arena, (struct str){ 0 }, v[MEANS_REQUEST_LINE]);
	layout_event_finish(worker, ev,
			    v[MEANS_MESSAGE].n ? v[MEANS_MESSAGE] : v[MEANS_REQUEST_LINE], arena);
}

/* Whether start and time are those of one request: what is called a start beside the time of a line
 * may be that of anything. */
static bool are_ends(const struct layout_said *said)
{
	return said->rank[MEANS_START] <= 1 || said->rank[MEANS_TIME] >= 5;
}

static void add_nanos(const struct layout_said *said, struct layout_stamp *stamp)
{
	struct str text = said->value[MEANS_NANOS];
	uint64_t nanos;

	if (str_take_uint(&text, &nanos) && nanos < (uint64_t)NS_S && stamp->ns % NS_S == 0)
		stamp->ns += (int64_t)nanos;
}

bool layout_said_event(const struct layout_said *said, const struct layout *layout,
		       struct layout_worker *worker, struct arena *arena, struct event *ev,
		       struct losses *losses)
{
	struct layout_stamp stamp, start;
	bool has_start = layout_times_value(layout->times, &worker->clock,
					    str_trim(said->value[MEANS_START]), &start);
	bool has_time = layout_times_value(layout->times, &worker->clock,
					   str_trim(said->value[MEANS_TIME]), &stamp);

	if (!has_time && !has_start)
		return false;
	if (has_time)
		add_nanos(said, &stamp);
	layout_event_begin(layout, ev);
	ev->ns = layout_ns(layout, worker, has_time ? &stamp : &start, losses);
	if (has_time && has_start && are_ends(said) && start.lack == stamp.lack &&
	    start.ns <= stamp.ns)
		ev->duration = stamp.ns - start.ns;
	layout_said_rest(said, worker, arena, ev);
	if (!has_time && ev->duration > 0 && ev->ns != NS_NONE)
		ev->ns += ev->duration;
	return true;
}

/* Whether it may be what the line is about: neither when, where and how it was written, nor an
 * amount. */
static bool is_naming(enum layout_meaning meaning)
{
	return meaning == MEANS_NOTHING || meaning == MEANS_TRACE || meaning == MEANS_REQUEST ||
	       meaning == MEANS_PATH;
}

void layout_pair(struct layout_worker *worker, enum layout_meaning meaning, struct str key,
		 struct str value)
{
	if (!is_naming(meaning) || !key.n || !value.n)
		return;
	buf_char(&worker->pairs, ' ');
	buf_add(&worker->pairs, key);
	buf_char(&worker->pairs, '=');
	buf_add(&worker->pairs, value);
}

void layout_pairs_end(struct layout_worker *worker, struct arena *arena)
{
	struct str pairs = buf_str(&worker->pairs), message = worker->said->message;
	char *to;

	if (!pairs.n)
		return;
	to = arena_room(arena, message.n + pairs.n);
	if (message.n)
		memcpy(to, message.p, message.n);
	memcpy(to + message.n, pairs.p, pairs.n);
	worker->said->naming = (struct str){ to, message.n + pairs.n };
}
