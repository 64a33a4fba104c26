#include "infer/requests/match_where.h"

static bool take_line(struct str digits, uint32_t *line)
{
	uint64_t n;

	if (!str_take_uint(&digits, &n) || digits.n || n > UINT32_MAX)
		return false;
	*line = (uint32_t)n;
	return true;
}

/* Position of the last c, or s.n. */
static size_t last_char(struct str s, char c)
{
	const char *p = s.n ? memrchr(s.p, c, s.n) : NULL;

	return p ? (size_t)(p - s.p) : s.n;
}

/* Names of source files end in letters behind a dot, and hold no further one. */
static bool is_file(struct str s)
{
	static const struct str endings[] = {
		{ ".java", 5 }, { ".scala", 6 }, { ".kt", 3 }, { ".groovy", 7 }, { ".clj", 4 }
	};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (s.n && s.p[s.n - 1] == endings[i].p[endings[i].n - 1] &&
		    str_ends(s, endings[i]))
			return true;
	return false;
}

/* "name:12" */
static struct str without_line(struct str s, uint32_t *line)
{
	size_t colon;

	if (!s.n || s.p[s.n - 1] < '0' || s.p[s.n - 1] > '9')
		return s;
	colon = last_char(s, ':');
	if (colon < s.n && take_line(str_skip(s, colon + 1), line))
		return str_head(s, colon);
	return s;
}

struct match_where match_where_of(struct str point)
{
	struct match_where w = { .logger = { point.p, 0 }, .file = { point.p, 0 } };
	struct str inner;
	size_t open;

	if (point.n && point.p[point.n - 1] == ')') {
		open = last_char(point, '(');
		if (open < point.n) {
			inner = str_skip(str_head(point, point.n - 1), open + 1);
			point = str_head(point, open);
			if (!take_line(inner, &w.line))
				w.file = without_line(inner, &w.line);
		}
	} else {
		point = without_line(point, &w.line);
	}
	if (is_file(point))
		w.file = point;
	else
		w.logger = point;
	if (!is_file(w.file))
		w.file.n = 0;
	return w;
}

struct str match_where_last(struct str logger)
{
	size_t dot = last_char(logger, '.');

	return dot < logger.n ? str_skip(logger, dot + 1) : logger;
}

static struct str take_last(struct str *s)
{
	struct str last = match_where_last(*s);

	s->n -= last.n + (last.n < s->n);
	return last;
}

bool match_where_is(struct str printed, struct str name)
{
	struct str x, y;

	if (str_ends(name, printed) &&
	    (name.n == printed.n || name.p[name.n - printed.n - 1] == '.'))
		return printed.n > 0;
	x = take_last(&printed);
	y = take_last(&name);
	if (!x.n || !str_eq(x, y))
		return false;
	while (printed.n) {
		if (!name.n)
			return false;
		x = take_last(&printed);
		y = take_last(&name);
		if (!str_starts(y, x) && (printed.n || !str_ends(y, x)))
			return false;
	}
	return true;
}
