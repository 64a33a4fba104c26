#include "source/layout_peel_field.h"

#include <ctype.h>

#include "model/level.h"
#include "source/layout_kind.h"
#include "source/layout_peel.h"
#include "source/layout_said.h"

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

bool peel_is_dotted(struct str s)
{
	size_t dot = str_find_char(s, '.');

	return is_name(s) && dot && dot + 1 < s.n && isalpha((unsigned char)s.p[dot + 1]);
}

static bool take_bracket_logger(struct peel *p, struct str *s)
{
	struct str inside, rest = *s;

	(void)p;
	if (!take_inside(&rest, '[', ']', &inside) || !peel_is_dotted(inside))
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
	if (!(peel_is_dotted(name) && rest.n && rest.p[0] != '=') &&
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

const struct peel_field peel_fields_behind[] = {
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
	{ 0 },
};

const struct peel_field peel_fields_in_front[] = {
	{ "%priority", take_priority, 75, HAS_PRIORITY, HAS_PRIORITY },
	{ "%p", take_level, 75, HAS_LEVEL, HAS_LEVEL },
	{ "[%p]", take_bracket_level, 75, HAS_LEVEL, HAS_LEVEL },
	{ "[%pid]", take_bracket_number, 75, HAS_PID, HAS_PID },
	{ "%pid", take_number, 75, HAS_PID, HAS_PID },
	{ "[%c]", take_bracket_logger, 75, HAS_LOGGER, HAS_LOGGER },
	{ "[%t]", take_thread, 75, HAS_THREAD, HAS_THREAD },
	{ "%node", take_node, 75, HAS_NODE, HAS_NODE },
	{ "%skip", take_word, 75, 0, 0 },
	{ 0 },
};
