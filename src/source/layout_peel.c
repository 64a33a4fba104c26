#include "source/layout_peel.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/level.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"

#define STEPS_MAX 12
#define SEPARATOR_BYTES 8
#define FRONT_MAX 4 /* fields in front of the time */

enum {
	HAS_LEVEL = 1,
	HAS_THREAD = 2,
	HAS_LOGGER = 4,
	HAS_PID = 8,
	HAS_NODE = 16,
	HAS_IDS = 32,
	HAS_PRIORITY = 256,
	HAS_PAST = 64,
	HAS_FILE = 128
};

/* Whether a line goes on with such a field; then it is moved past it. */
struct candidate {
	const char *pattern;
	bool (*take)(struct peel *p, struct str *s);
	unsigned percent; /* of the lines that must have it */
	unsigned gives, not_after;
};

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.$/@#-<>*+~", c)) || c < 0;
}

/* The first colon of "orders::api", as Rust and C++ write names. */
static bool is_path_sign(struct str s, size_t i)
{
	return i && i + 2 < s.n && s.p[i] == ':' && s.p[i + 1] == ':' && is_name_byte(s.p[i + 2]);
}

/* "duration: 12 ms" and "RequestId: …" begin messages; no logger or program is called so. */
static bool means_value(struct str name)
{
	uint8_t rank;
	enum layout_meaning means = layout_meaning_of(name, &rank);

	return means == MEANS_REQUEST || means == MEANS_TRACE ||
	       (means >= MEANS_DURATION && means <= MEANS_DURATION_NS);
}

static bool is_level(struct str word)
{
	/* further lines of one report of PostgreSQL */
	static const char *const kin[] = { "DETAIL", "HINT",     "CONTEXT", "STATEMENT",
					   "QUERY",  "LOCATION", "STATS",   "AUDIT" };

	if (level_of(word) != LEVEL_NONE)
		return word.n > 1 || isupper((unsigned char)word.p[0]);
	for (size_t i = 0; i < sizeof(kin) / sizeof(*kin); i++)
		if (str_eq(word, str_of(kin[i])))
			return true;
	return false;
}

static bool take_level(struct peel *p, struct str *s)
{
	size_t n = 0;

	(void)p;
	while (n < s->n && isalnum((unsigned char)s->p[n]))
		n++;
	if (!is_level(str_head(*s, n)) ||
	    (n < s->n && (s->p[n] == '.' || s->p[n] == '_' || s->p[n] == '/' || s->p[n] == '=')))
		return false;
	*s = str_skip(*s, n);
	return true;
}

/* What stands between brackets, the inner ones balanced. */
static bool take_inside(struct str *s, char open, char close, struct str *inside)
{
	size_t depth = 0;

	if (!s->n || s->p[0] != open)
		return false;
	for (size_t i = 0; i < s->n && i < 300; i++) {
		depth += s->p[i] == open;
		if (s->p[i] == close && !--depth) {
			*inside = str_trim(str_head(str_skip(*s, 1), i - 1));
			*s = str_skip(*s, i + 1);
			return true;
		}
	}
	return false;
}

static bool take_bracket_level(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || !is_level(inside))
		return false;
	*s = rest;
	return true;
}

static bool take_angle_level(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '<', '>', &inside) || !is_level(inside))
		return false;
	*s = rest;
	return true;
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return s.n && s.n <= 20;
}

static bool take_number(struct peel *p, struct str *s)
{
	size_t n = 0;

	(void)p;
	while (n < s->n && isdigit((unsigned char)s->p[n]))
		n++;
	if (!n || n > 20 || n == s->n || !strchr(" \t]|", s->p[n]))
		return false;
	*s = str_skip(*s, n);
	return true;
}

static bool take_bracket_number(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || !is_number(inside))
		return false;
	*s = rest;
	return true;
}

static bool take_thread(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	/* a bracket right behind a bracket is how some write their messages */
	if (!take_inside(&rest, '[', ']', &inside) || !inside.n || inside.n > 200 ||
	    (rest.n && rest.p[0] == '['))
		return false;
	*s = rest;
	return true;
}

static bool take_round_thread(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '(', ')', &inside) || !inside.n || inside.n > 60 ||
	    str_find_char(inside, ' ') < inside.n)
		return false;
	*s = rest;
	return true;
}

static bool is_name(struct str s)
{
	bool letter = false;

	for (size_t i = 0; i < s.n; i++) {
		if (!is_name_byte(s.p[i]) && !is_path_sign(s, i) && !(i && is_path_sign(s, i - 1)))
			return false;
		letter |= isalpha((unsigned char)s.p[i]) != 0;
	}
	return letter;
}

static bool is_dotted(struct str s)
{
	size_t dot = str_find_char(s, '.');

	return is_name(s) && dot && dot + 1 < s.n && isalpha((unsigned char)s.p[dot + 1]);
}

static bool take_bracket_logger(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || !is_dotted(inside))
		return false;
	*s = rest;
	return true;
}

/* name.ext:12 or name:12 */
static bool is_place(struct str s)
{
	size_t colon = str_find_char(s, ':');

	return colon < s.n && is_name(str_head(s, colon)) && is_number(str_skip(s, colon + 1));
}

static bool take_place(struct peel *p, struct str *s)
{
	size_t n = 0, dot = 0;

	(void)p;
	while (n < s->n && (is_name_byte(s->p[n]) || s->p[n] == ':')) {
		if (s->p[n] == '.')
			dot = n;
		n++;
	}
	if (n && s->p[n - 1] == ':')
		n--;
	if (!dot || !is_place(str_head(*s, n)))
		return false;
	*s = str_skip(*s, n);
	return true;
}

static bool take_bracket_place(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || !is_place(inside))
		return false;
	*s = rest;
	return true;
}

/* {file.py:12} of Airflow */
static bool take_brace_place(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '{', '}', &inside) || !is_place(inside))
		return false;
	*s = rest;
	return true;
}

/* INFO/MainProcess of Celery */
static bool take_level_and_thread(struct peel *p, struct str *s)
{
	size_t n = 0, from;

	(void)p;
	while (n < s->n && isupper((unsigned char)s->p[n]))
		n++;
	if (n < 3 || n == s->n || s->p[n] != '/' || !is_level(str_head(*s, n)))
		return false;
	for (from = ++n; n < s->n && is_name_byte(s->p[n]) && s->p[n] != '/';)
		n++;
	if (n == from || n == s->n || (s->p[n] != ']' && s->p[n] != ' '))
		return false;
	*s = str_skip(*s, n);
	return true;
}

/* <0.217.0> of Erlang */
static bool take_process(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '<', '>', &inside) || str_find_char(inside, '.') == inside.n)
		return false;
	for (size_t i = 0; i < inside.n; i++)
		if (!isdigit((unsigned char)inside.p[i]) && inside.p[i] != '.')
			return false;
	*s = rest;
	return true;
}

static bool has_hex_id(struct str s)
{
	size_t run = 0;

	for (size_t i = 0; i < s.n; i++) {
		run = isxdigit((unsigned char)s.p[i]) ? run + 1 : 0;
		if (run == 16)
			return true;
	}
	return false;
}

/* [app,4bf92f3577b34da6a3ce929d0e0e4736,00f067aa0ba902b7] or [app,,] where no request is */
static bool take_ids(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || str_find_char(inside, ' ') < inside.n)
		return false;
	if (!has_hex_id(inside) && !str_ends(inside, STR(",")))
		return false;
	*s = rest;
	return true;
}

/* host name[pid]: or host name: */
static bool take_host_program(struct peel *p, struct str *s)
{
	struct str rest = *s, host, pid;
	size_t n = 0;

	(void)p;
	if (!str_take_word(&rest, &host) || !is_name(host) || !str_take_char(&rest, ' '))
		return false;
	while (n < rest.n && rest.p[n] != '[' && rest.p[n] != ':' && rest.p[n] != ' ')
		n++;
	if (!n || n > 80 || !isalnum((unsigned char)rest.p[0]) || means_value(str_head(rest, n)))
		return false;
	rest = str_skip(rest, n);
	if (str_take_char(&rest, '[') && !str_take_until(&rest, ']', &pid))
		return false;
	if (!str_take_char(&rest, ':') || (rest.n && rest.p[0] != ' '))
		return false;
	str_take_spaces(&rest);
	*s = rest;
	return true;
}

static bool take_name_and_pid(struct peel *p, struct str *s)
{
	size_t n = 0;
	struct str rest, inside;

	(void)p;
	while (n < s->n && is_name_byte(s->p[n]))
		n++;
	rest = str_skip(*s, n);
	if (!is_name(str_head(*s, n)) || !take_inside(&rest, '[', ']', &inside) ||
	    !is_number(inside))
		return false;
	*s = rest;
	return true;
}

/* A name with a mark behind it that ends it, or one with dots inside. */
static bool take_logger(struct peel *p, struct str *s)
{
	size_t n = 0;
	struct str name, rest;

	(void)p;
	while (n < s->n && (is_name_byte(s->p[n]) || is_path_sign(*s, n)))
		n += is_path_sign(*s, n) ? 2 : 1;
	name = str_head(*s, n);
	rest = str_skip(*s, n);
	if (means_value(name))
		return false;
	if (!is_name(name) || n > 120 || isdigit((unsigned char)name.p[0]))
		return false;
	str_take_spaces(&rest);
	if (!(is_dotted(name) && rest.n && rest.p[0] != '=') &&
	    !(rest.n && (rest.p[0] == ':' || rest.p[0] == '|' || rest.p[0] == ']')) &&
	    !str_starts(rest, STR("- ")) &&
	    !(s->n > n && s->p[n] == '\t' && str_find_char(rest, '\t') < rest.n))
		return false;
	if (rest.n > 1 && rest.p[0] == ':' && rest.p[1] == '/')
		return false;
	*s = str_skip(*s, n);
	return true;
}

static bool take_past(struct peel *p, struct str *s)
{
	struct layout_stamp stamp;
	size_t n;

	if (!p->past) {
		p->past = layout_times_match(p->times, *s, LAYOUT_TIMES_WEAK, &n);
		/* one number is no second time */
		if (p->past && (p->past->lack == LACK_ORIGIN || n < 8))
			p->past = NULL;
	}
	return p->past && layout_time_take(p->past, NULL, s, &stamp);
}

static bool take_priority(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '<', '>', &inside) || !is_number(inside) || inside.n > 3)
		return false;
	*s = rest;
	return true;
}

static bool take_word(struct peel *p, struct str *s)
{
	struct str word;

	(void)p;
	return s->n && s->p[0] != ' ' && str_take_word(s, &word);
}

static bool take_node(struct peel *p, struct str *s)
{
	struct str rest = *s, word;

	(void)p;
	if (!str_take_word(&rest, &word) || !is_name(word) || word.n > 100)
		return false;
	*s = rest;
	return true;
}

/* A name that only shows to be one by the level behind it. */
static bool take_logger_and_level(struct peel *p, struct str *s)
{
	struct str rest = *s, name;

	if (!str_take_word(&rest, &name) || !is_name(name) || !str_take_spaces(&rest) ||
	    !take_level(p, &rest))
		return false;
	*s = rest;
	return true;
}

/* In order of preference. */
static const struct candidate behind[] = {
	{ "%past", take_past, 80, HAS_PAST, HAS_PAST },
	{ "[%p]", take_bracket_level, 60, HAS_LEVEL, HAS_LEVEL },
	{ "<%p>", take_angle_level, 60, HAS_LEVEL, HAS_LEVEL },
	{ "%p", take_level, 60, HAS_LEVEL, HAS_LEVEL },
	{ "[%ids]", take_ids, 60, HAS_IDS, HAS_IDS },
	{ "[%pid]", take_bracket_number, 75, HAS_PID, HAS_PID | HAS_LOGGER },
	{ "[%t]", take_bracket_number, 75, HAS_THREAD, HAS_THREAD | HAS_LOGGER },
	{ "%pid", take_number, 75, HAS_PID, HAS_PID | HAS_LOGGER },
	{ "%t", take_number, 75, HAS_THREAD, HAS_THREAD | HAS_LOGGER },
	{ "[%F:%L]", take_bracket_place, 75, HAS_FILE, HAS_FILE | HAS_LOGGER },
	{ "{%F:%L}", take_brace_place, 75, HAS_FILE, HAS_FILE | HAS_LOGGER },
	{ "%p/%t", take_level_and_thread, 75, HAS_LEVEL | HAS_THREAD, HAS_LEVEL | HAS_THREAD },
	{ "%t", take_process, 75, HAS_THREAD, HAS_THREAD | HAS_LOGGER },
	{ "%F:%L", take_place, 75, HAS_FILE, HAS_FILE },
	{ "[%c]", take_bracket_logger, 75, HAS_LOGGER, HAS_LOGGER },
	{ "[%t]", take_thread, 80, HAS_THREAD, HAS_THREAD | HAS_LOGGER | HAS_FILE },
	{ "(%t)", take_round_thread, 80, HAS_THREAD, HAS_THREAD | HAS_LOGGER | HAS_FILE },
	{ "%node %program", take_host_program, 75, HAS_LOGGER | HAS_NODE,
	  HAS_LOGGER | HAS_LEVEL | HAS_THREAD | HAS_NODE | HAS_FILE },
	{ "%c %p", take_logger_and_level, 75, HAS_LOGGER | HAS_LEVEL, HAS_LOGGER | HAS_LEVEL },
	{ "%c[%pid]", take_name_and_pid, 75, HAS_LOGGER | HAS_PID, HAS_LOGGER | HAS_PID },
	{ "%c", take_logger, 75, HAS_LOGGER, HAS_LOGGER },
};

static const struct candidate in_front[] = {
	{ "%priority", take_priority, 75, HAS_PRIORITY, HAS_PRIORITY },
	{ "%p", take_level, 75, HAS_LEVEL, HAS_LEVEL },
	{ "[%p]", take_bracket_level, 75, HAS_LEVEL, HAS_LEVEL },
	{ "[%pid]", take_bracket_number, 75, HAS_PID, HAS_PID },
	{ "%pid", take_number, 75, HAS_PID, HAS_PID },
	{ "[%c]", take_bracket_logger, 75, HAS_LOGGER, HAS_LOGGER },
	{ "[%t]", take_thread, 75, HAS_THREAD, HAS_THREAD },
	{ "%node", take_node, 75, HAS_NODE, HAS_NODE },
	{ "%skip", take_word, 75, 0, 0 },
};

static void add_literal(struct buf *pattern, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '%')
			buf_char(pattern, '%');
		if (text.p[i] == '\\' || text.p[i] == '$')
			buf_char(pattern, '\\');
		buf_char(pattern, text.p[i]);
	}
}

/* The run of bytes of the set at the front, blanks as one. */
static size_t separator(struct str s, const char *set, char *text, size_t *nr_text)
{
	size_t n = 0;

	*nr_text = 0;
	for (; n < s.n && strchr(set, s.p[n]) && s.p[n]; n++) {
		if (s.p[n] == ' ' && *nr_text && text[*nr_text - 1] == ' ')
			continue;
		if (*nr_text == SEPARATOR_BYTES)
			break;
		text[(*nr_text)++] = s.p[n];
	}
	return n;
}

static size_t count_separator(const struct str *lines, size_t nr, const char *set, struct str want)
{
	char text[SEPARATOR_BYTES];
	size_t same = 0, n;

	for (size_t i = 0; i < nr; i++) {
		separator(lines[i], set, text, &n);
		/* a line that ends here has lost its blank */
		same += str_eq((struct str){ text, n }, want) ||
			(!lines[i].n && want.n == 1 && want.p[0] == ' ');
	}
	return same;
}

/* Takes what keeps fields apart, where most lines agree; the others are left out from here on. */
static bool peel_separator(struct peel *p, struct str *lines, size_t *nr, const char *set)
{
	char text[SEPARATOR_BYTES], other[SEPARATOR_BYTES];
	size_t n, m, kept = 0, tries = *nr < 5 ? *nr : 5;

	for (size_t i = 0; i < tries; i++) {
		size_t at = i * *nr / tries;

		separator(lines[at], set, text, &n);
		if (!layout_most(count_separator(lines, *nr, set, (struct str){ text, n }), *nr,
				 75))
			continue;
		if (!n)
			return false;
		for (size_t k = 0; k < *nr; k++) {
			size_t bytes = separator(lines[k], set, other, &m);

			if (str_eq((struct str){ text, n }, (struct str){ other, m }))
				lines[kept++] = str_skip(lines[k], bytes);
		}
		*nr = kept;
		add_literal(&p->pattern, (struct str){ text, n });
		return true;
	}
	return false;
}

static bool peel_field(struct peel *p, struct str *lines, size_t *nr, const struct candidate *c,
		       size_t nr_candidates)
{
	for (; nr_candidates--; c++) {
		size_t hits = 0, kept = 0;

		if (p->has & c->not_after)
			continue;
		p->past = p->has & HAS_PAST ? p->past : NULL;
		for (size_t i = 0; i < *nr; i++) {
			struct str rest = lines[i];

			hits += c->take(p, &rest);
		}
		if (!layout_most(hits, *nr, c->percent))
			continue;
		for (size_t i = 0; i < *nr; i++)
			if (c->take(p, &lines[i]))
				lines[kept++] = lines[i];
		*nr = kept;
		p->has |= c->gives;
		buf_add(&p->pattern, str_of(c->pattern));
		return true;
	}
	return false;
}

/* "… (kafka.server.KafkaServer)" at the end of most lines */
static bool end_in_logger(const struct str *lines, size_t nr)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++) {
		struct str s = lines[i];
		size_t at = s.n;

		while (at && s.p[at - 1] != '(')
			at--;
		hits += at && str_ends(s, STR(")")) &&
			is_dotted(str_head(str_skip(s, at), s.n - at - 1));
	}
	return layout_most(hits, nr, 80);
}

/* strace's "= 0 <0.000421>" */
static bool end_in_duration(const struct str *lines, size_t nr)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++) {
		struct str s = lines[i], text;
		size_t at = s.n;

		while (at && s.p[at - 1] != '<')
			at--;
		text = str_head(str_skip(s, at), s.n ? s.n - at - 1 : 0);
		hits += at && str_ends(s, STR(">")) && str_find_char(text, '.') < text.n &&
			layout_duration(text, 1) >= 0;
	}
	return layout_most(hits, nr, 60);
}

void peel_after(struct peel *p, struct str *lines, size_t nr)
{
	static const char marks[] = " \t]):;|,->";

	if (!(p->has & HAS_LOGGER))
		p->ends_in_logger = end_in_logger(lines, nr);
	if (p->ends_in_logger)
		p->has |= HAS_LOGGER;
	p->ends_in_duration = end_in_duration(lines, nr);
	for (unsigned i = 0; i < STEPS_MAX && nr; i++) {
		bool apart = peel_separator(p, lines, &nr, marks);

		if (!peel_field(p, lines, &nr, behind, sizeof(behind) / sizeof(*behind)) && !apart)
			return;
	}
}

/* The bracket or quote that opens right before the time, the same in most lines. */
static void cut_opening(struct str *lines, size_t nr, struct buf *opening)
{
	for (const char *c = "[(<\"'"; *c; c++) {
		size_t hits = 0;

		for (size_t i = 0; i < nr; i++)
			hits += lines[i].n && lines[i].p[lines[i].n - 1] == *c;
		if (!layout_most(hits, nr, 75))
			continue;
		for (size_t i = 0; i < nr; i++)
			if (lines[i].n && lines[i].p[lines[i].n - 1] == *c)
				lines[i].n--;
		buf_char(opening, *c);
		return;
	}
}

bool peel_before(struct peel *p, struct str *lines, size_t nr)
{
	static const char marks[] = " \t]):;|,->";
	struct buf opening = { 0 };
	size_t all = nr, begin = p->pattern.n, ended = 0;
	unsigned fields = 0;
	bool has_place;

	cut_opening(lines, nr, &opening);
	for (unsigned i = 0; i < STEPS_MAX && nr; i++) {
		bool apart = peel_separator(p, lines, &nr, marks);

		ended = 0;
		for (size_t k = 0; k < nr; k++)
			ended += !lines[k].n;
		if (layout_most(ended, all, 75))
			break;
		if (peel_field(p, lines, &nr, in_front, sizeof(in_front) / sizeof(*in_front)))
			fields++;
		else if (!apart)
			break;
	}
	/* half a sentence in front is a sentence: the time has no place of its own */
	has_place = layout_most(ended, all, 75) && fields <= FRONT_MAX;
	if (!has_place) {
		p->pattern.n = begin;
		p->has = 0;
	} else {
		add_literal(&p->pattern, buf_str(&opening));
	}
	buf_done(&opening);
	return has_place;
}
