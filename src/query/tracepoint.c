#include "query/tracepoint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "query/lex.h"
#include "query/near.h"
#include "query/system_call.h"
#include "query/tracepoint_parser.h"

static const char *const defaults[] = {
	[ADVICE_INPUT_HOST] = "host",          [ADVICE_INPUT_TIME] = "time",
	[ADVICE_INPUT_PROC_NAME] = "procName", [ADVICE_INPUT_PROC_ID] = "procId",
	[ADVICE_INPUT_THREAD] = "thread",      [ADVICE_INPUT_TRACEPOINT] = "tracepoint",
};
static const char *const wheres[] = {
	[WHERE_FUNCTION] = "function", [WHERE_USDT] = "usdt", [WHERE_SYSCALL] = "syscall",
	[WHERE_CLASS] = "class",       [WHERE_LOG] = "log",   [WHERE_SPAN] = "span",
	[WHERE_MESSAGE] = "message",
};
static const char *const moments[] = {
	[MOMENT_ENTRY] = "entry",
	[MOMENT_EXIT] = "exit",
	[MOMENT_EXCEPTION] = "exception",
	[MOMENT_LINE] = "line",
};
#define NR(array) (sizeof(array) / sizeof(*(array)))

const char *tracepoint_where_name(enum tracepoint_where w)
{
	return wheres[w];
}

const char *tracepoint_moment_name(enum tracepoint_moment m)
{
	return moments[m];
}

bool tracepoint_is_at(const struct tracepoint *t, enum tracepoint_where w)
{
	for (size_t i = 0; i < t->nr_places; i++)
		if (t->places[i].where == w)
			return true;
	return false;
}

struct str tracepoint_default(enum advice_input i)
{
	return str_of(defaults[i]);
}

int tracepoint_input(const struct tracepoint *t, struct str field)
{
	for (size_t i = 0; i < t->nr_exports; i++)
		if (str_eq(t->exports[i].name, field))
			return ADVICE_INPUT_OWN + (int)i;
	for (size_t i = 0; i < NR(defaults); i++)
		if (str_eq(str_of(defaults[i]), field))
			return (int)i;
	return -1;
}

const struct tracepoint *tracepoints_find(const struct tracepoints *files, size_t nr,
					  struct str name)
{
	for (size_t i = nr; i-- > 0;)
		for (size_t k = files[i].nr; k-- > 0;)
			if (str_eq(files[i].v[k].name, name))
				return &files[i].v[k];
	return NULL;
}

/* --- the text --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

void tracepoint_skip(struct tracepoint_parser *p)
{
	for (; p->at < p->text.n; p->at++) {
		if (p->text.p[p->at] == '#')
			p->at += str_find_char(str_skip(p->text, p->at), '\n');
		else if (!is_blank(p->text.p[p->at]))
			return;
	}
	p->at = p->text.n;
}

struct str tracepoint_word(const struct tracepoint_parser *p)
{
	struct str rest = str_skip(p->text, p->at);
	size_t n = 0;

	while (n < rest.n && is_of_word(rest.p[n]))
		n++;
	return str_head(rest, n);
}

bool tracepoint_take_sign(struct tracepoint_parser *p, char c)
{
	if (p->at >= p->text.n || p->text.p[p->at] != c)
		return false;
	p->at++;
	return true;
}

struct place tracepoint_here(const struct tracepoint_parser *p)
{
	return (struct place){ (uint32_t)p->at, 1 };
}

int tracepoint_wrong(struct tracepoint_parser *p, struct place at, const char *fmt, ...)
{
	char said[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return lex_error(p->text, at, p->err, "%s", said);
}

static bool take_word(struct tracepoint_parser *p, const char *word)
{
	tracepoint_skip(p);
	if (!str_eq(tracepoint_word(p), str_of(word)))
		return false;
	p->at += str_of(word).n;
	return true;
}

/* Up to a blank, which may stand in brackets; or whatever is in quotes. */
static int take_name(struct tracepoint_parser *p, const char *what, struct str *name)
{
	size_t from, depth = 0;
	char quote;

	tracepoint_skip(p);
	from = p->at;
	quote = p->at < p->text.n ? p->text.p[p->at] : 0;
	if (quote == '"' || quote == '\'' || quote == '`') {
		struct str rest = str_skip(p->text, p->at + 1);
		size_t n = str_find_char(rest, quote);

		if (n == rest.n || str_find_char(rest, '\n') < n)
			return tracepoint_wrong(p, tracepoint_here(p), "the quote does not end");
		*name = str_head(rest, n);
		p->at += n + 2;
	} else {
		for (; p->at < p->text.n && p->text.p[p->at] != '\n'; p->at++) {
			char c = p->text.p[p->at];

			depth += c == '(' || c == '<';
			if ((c == ')' || c == '>') && depth)
				depth--;
			if (!depth && is_blank(c))
				break;
		}
		*name = str_trim((struct str){ p->text.p + from, p->at - from });
	}
	if (name->n)
		return 0;
	p->at = from;
	return tracepoint_wrong(p, tracepoint_here(p), "%s is expected", what);
}

/* A word that is none of these, with the nearest one. */
static int unknown(struct tracepoint_parser *p, const char *what, const char *const *known,
		   size_t nr)
{
	struct str word = tracepoint_word(p);
	struct near near;

	near_begin(&near, word);
	for (size_t i = 0; i < nr; i++)
		near_offer(&near, str_of(known[i]));
	return tracepoint_wrong(
		p, (struct place){ (uint32_t)p->at, (uint32_t)(word.n ? word.n : 1) },
		"%s is expected%s" STR_FMT "%s", what, near.best.n ? "; did you mean '" : "",
		STR_ARG(near.best), near.best.n ? "'?" : "");
}

/* --- where ------------------------------------------------------------------------------------ */

static int split_function(struct tracepoint_parser *p, struct tracepoint_place *place,
			  struct str whole)
{
	size_t at = str_find_char(whole, '!');

	if (!at || at + 1 >= whole.n)
		return tracepoint_wrong(p, place->place,
					"a function is written binary!function, as in "
					"postgres!exec_simple_query");
	place->binary = str_head(whole, at);
	place->name = str_skip(whole, at + 1);
	return 0;
}

static int split_probe(struct tracepoint_parser *p, struct tracepoint_place *place,
		       struct str whole)
{
	size_t at = str_find_char(whole, ':');

	if (!at || at + 1 >= whole.n)
		return tracepoint_wrong(p, place->place,
					"a static probe is written provider:probe");
	place->binary = str_head(whole, at);
	place->name = str_skip(whole, at + 1);
	return 0;
}

static int number_call(struct tracepoint_parser *p, struct tracepoint_place *place)
{
	struct str near = { 0 };

	place->call = system_call_number(place->name, &near);
	if (place->call >= 0)
		return 0;
	return tracepoint_wrong(p, place->place,
				"no system call is called '" STR_FMT "'%s" STR_FMT "%s",
				STR_ARG(place->name), near.n ? "; did you mean '" : "",
				STR_ARG(near), near.n ? "'?" : "");
}

static int take_moment(struct tracepoint_parser *p, struct tracepoint_place *place)
{
	size_t moment = 0;
	uint64_t line;
	struct str word;

	while (moment < NR(moments) && !take_word(p, moments[moment]))
		moment++;
	if (moment < NR(moments))
		place->moment = (enum tracepoint_moment)moment;
	else if (take_word(p, "return"))
		place->moment = MOMENT_EXIT;
	if (place->moment == MOMENT_LINE) {
		tracepoint_skip(p);
		word = tracepoint_word(p);
		p->at += word.n;
		if (!str_take_uint(&word, &line) || word.n || line > UINT32_MAX)
			return tracepoint_wrong(p, place->place,
						"which line? A number is expected");
		place->line = (uint32_t)line;
	}
	if (place->moment == MOMENT_LINE && place->where != WHERE_CLASS)
		return tracepoint_wrong(p, place->place, "only classes have tracepoints at lines");
	if (place->moment == MOMENT_EXCEPTION && place->where == WHERE_SYSCALL)
		return tracepoint_wrong(p, place->place, "a system call has entry and exit only");
	if (place->moment != MOMENT_ENTRY &&
	    (place->where == WHERE_USDT || place->where == WHERE_LOG ||
	     place->where == WHERE_MESSAGE))
		return tracepoint_wrong(
			p, place->place,
			"this happens at one moment: it has neither entry nor exit");
	return 0;
}

static int take_place(struct tracepoint_parser *p, struct tracepoint_place *place)
{
	struct str whole;
	size_t where = 0;
	int got;

	while (where < NR(wheres) && !take_word(p, wheres[where]))
		where++;
	if (where == NR(wheres))
		return unknown(p, "function, usdt, syscall, class, log, span or message", wheres,
			       NR(wheres));
	*place = (struct tracepoint_place){ .where = (enum tracepoint_where)where };
	tracepoint_skip(p);
	place->place.at = (uint32_t)p->at;
	got = take_name(p, "the place", &whole);
	if (got < 0)
		return got;
	place->place.length = (uint32_t)(p->at - place->place.at);
	place->name = whole;
	if (place->where == WHERE_FUNCTION)
		got = split_function(p, place, whole);
	else if (place->where == WHERE_USDT)
		got = split_probe(p, place, whole);
	else if (place->where == WHERE_SYSCALL)
		got = number_call(p, place);
	return got < 0 ? got : take_moment(p, place);
}

/* --- exports ---------------------------------------------------------------------------------- */

static enum tracepoint_written written(const struct tracepoint *t)
{
	for (size_t i = 0; i < t->nr_places; i++)
		if (t->places[i].where <= WHERE_SYSCALL)
			return WRITTEN_NATIVE;
	return tracepoint_is_at(t, WHERE_CLASS) ? WRITTEN_JAVA : WRITTEN_RUN;
}

/* A method returns or throws: where both are among the places, it has one of the two. */
static int check_java(struct tracepoint_parser *p, const struct tracepoint *t,
		      const struct tracepoint_export *e)
{
	bool is_known = e->java_root != JAVA_RETURN && e->java_root != JAVA_THROWN;

	if (e->java_root != JAVA_DURATION && is_known)
		return 0;
	for (size_t i = 0; i < t->nr_places; i++) {
		enum tracepoint_moment moment = t->places[i].moment;

		if (t->places[i].where != WHERE_CLASS)
			continue;
		if (moment != MOMENT_EXIT && moment != MOMENT_EXCEPTION)
			return tracepoint_wrong(
				p, e->place,
				"this is known when a method ends: write '%s' behind it",
				e->java_root == JAVA_THROWN ? "exception" : "exit");
		is_known |= (moment == MOMENT_EXIT) == (e->java_root == JAVA_RETURN);
	}
	if (is_known || e->java_root == JAVA_DURATION)
		return 0;
	return tracepoint_wrong(
		p, e->place,
		e->java_root == JAVA_THROWN
			? "nothing is thrown at 'exit': write 'exception' behind it"
			: "nothing is returned at 'exception': write 'exit' behind it");
}

/* What is known at the end only, and what a static probe has not. */
static int check_moment(struct tracepoint_parser *p, const struct tracepoint *t,
			const struct tracepoint_export *e)
{
	bool at_end =
		e->taking.from == ADVICE_FROM_RETURN || e->taking.from == ADVICE_FROM_DURATION;

	for (size_t i = 0; i < t->nr_places; i++) {
		if (at_end &&
		    (t->places[i].where == WHERE_USDT || t->places[i].moment == MOMENT_ENTRY))
			return tracepoint_wrong(
				p, e->place,
				"this is known when a function ends: write 'exit' behind it");
		if (e->taking.from == ADVICE_FROM_ARGUMENT && e->taking.number > 5 &&
		    t->places[i].where != WHERE_USDT)
			return tracepoint_wrong(p, e->place, "of a %s arg0 to arg5 are known",
						tracepoint_where_name(t->places[i].where));
	}
	return 0;
}

static int take_export(struct tracepoint_parser *p, struct tracepoint *t,
		       struct tracepoint_export *e)
{
	int got;

	*e = (struct tracepoint_export){ 0 };
	tracepoint_skip(p);
	e->name = tracepoint_word(p);
	e->place = (struct place){ (uint32_t)p->at, (uint32_t)(e->name.n ? e->name.n : 1) };
	if (!e->name.n)
		return tracepoint_wrong(p, e->place, "the name of what is exported is expected");
	if (tracepoint_input(t, e->name) >= 0)
		return tracepoint_wrong(p, e->place, "'" STR_FMT "' is exported already",
					STR_ARG(e->name));
	p->at += e->name.n;
	tracepoint_skip(p);
	if (!tracepoint_take_sign(p, '='))
		return tracepoint_wrong(p, tracepoint_here(p), "'=' is expected");
	got = tracepoint_taking(p, written(t), e);
	if (got < 0)
		return got;
	return written(t) == WRITTEN_JAVA ? check_java(p, t, e) : check_moment(p, t, e);
}

static int take_exports(struct tracepoint_parser *p, struct tracepoint *t)
{
	if (!t->nr_places)
		return tracepoint_wrong(p, tracepoint_here(p),
					"where is it? 'at' is expected before 'export'");
	do {
		if (t->nr_exports == TRACEPOINT_EXPORTS)
			return tracepoint_wrong(p, tracepoint_here(p),
						"a tracepoint exports at most %d values",
						TRACEPOINT_EXPORTS);
		if (take_export(p, t, &t->exports[t->nr_exports]) < 0)
			return -EINVAL;
		t->nr_exports++;
		tracepoint_skip(p);
	} while (tracepoint_take_sign(p, ','));
	return 0;
}

/* --- tracepoints ------------------------------------------------------------------------------ */

static int take_clause(struct tracepoint_parser *p, struct tracepoint *t)
{
	static const char *const known[] = { "at", "export", "begins", "tracepoint" };

	if (take_word(p, "at")) {
		if (t->nr_exports)
			return tracepoint_wrong(p, tracepoint_here(p),
						"'at' stands before 'export'");
		if (t->nr_places == TRACEPOINT_PLACES)
			return tracepoint_wrong(p, tracepoint_here(p),
						"a tracepoint is at no more than %d places",
						TRACEPOINT_PLACES);
		return take_place(p, &t->places[t->nr_places]) < 0 ? -EINVAL : (int)++t->nr_places;
	}
	if (take_word(p, "export"))
		return take_exports(p, t);
	if (take_word(p, "begins")) {
		take_word(p, "a");
		t->begins_request = take_word(p, "request");
		return t->begins_request ? 0
					 : tracepoint_wrong(p, tracepoint_here(p),
							    "it begins a request, or nothing");
	}
	return unknown(p, "at, export, begins or tracepoint", known, NR(known));
}

static bool at_tracepoint(struct tracepoint_parser *p)
{
	tracepoint_skip(p);
	return str_eq(tracepoint_word(p), STR("tracepoint"));
}

static int take_tracepoint(struct tracepoint_parser *p, struct tracepoint *t)
{
	struct tracepoint_place places[TRACEPOINT_PLACES];
	struct tracepoint_export exports[TRACEPOINT_EXPORTS];
	static const char *const known[] = { "tracepoint" };
	size_t from;
	int got;

	*t = (struct tracepoint){ .places = places, .exports = exports };
	tracepoint_skip(p);
	from = p->at;
	if (!take_word(p, "tracepoint"))
		return unknown(p, "'tracepoint'", known, 1);
	tracepoint_skip(p);
	t->place.at = (uint32_t)p->at;
	got = take_name(p, "the name of the tracepoint", &t->name);
	t->place.length = (uint32_t)(p->at - t->place.at);
	for (tracepoint_skip(p); got >= 0 && p->at < p->text.n && !at_tracepoint(p);
	     tracepoint_skip(p))
		got = take_clause(p, t);
	if (got >= 0 && !t->nr_places)
		got = tracepoint_wrong(p, t->place, "where is it? 'at' is expected");
	if (got >= 0 && t->begins_request && tracepoint_is_at(t, WHERE_SYSCALL))
		got = tracepoint_wrong(p, t->place,
				       "a system call is watched from outside the program, where "
				       "no request can begin");
	t->text = str_trim(str_head(str_skip(p->text, from), p->at - from));
	t->places = arena_array(p->arena, struct tracepoint_place, t->nr_places + 1);
	t->exports = arena_array(p->arena, struct tracepoint_export, t->nr_exports + 1);
	memcpy(t->places, places, t->nr_places * sizeof(*places));
	memcpy(t->exports, exports, t->nr_exports * sizeof(*exports));
	return got < 0 ? got : 0;
}

static int check_new(struct tracepoint_parser *p, const struct tracepoint *v, size_t nr,
		     const struct tracepoint *t)
{
	for (size_t i = 0; i < nr; i++)
		if (str_eq(v[i].name, t->name))
			return tracepoint_wrong(p, t->place,
						"'" STR_FMT
						"' is defined already: one may have several 'at'",
						STR_ARG(t->name));
	return 0;
}

int tracepoints_parse(struct str file, struct str text, struct arena *arena, struct tracepoints *t,
		      struct error *err)
{
	struct tracepoint_parser p = { .text = text, .arena = arena, .err = err };
	VEC(struct tracepoint) all = { 0 };
	struct tracepoint one;
	int got = 0;

	if (text.n > TRACEPOINT_BYTES)
		return error_set(err, EINVAL,
				 "'" STR_FMT "' is larger than a file of tracepoints is",
				 STR_ARG(file));
	for (tracepoint_skip(&p); p.at < text.n && got >= 0; tracepoint_skip(&p)) {
		got = take_tracepoint(&p, &one);
		if (got >= 0)
			got = check_new(&p, all.v, all.nr, &one);
		if (got >= 0 && all.nr == TRACEPOINTS_MAX)
			got = tracepoint_wrong(&p, one.place, "a file has at most %d tracepoints",
					       TRACEPOINTS_MAX);
		if (got >= 0)
			vec_push(&all, one);
	}
	if (got >= 0) {
		*t = (struct tracepoints){ .file = file, .text = text, .nr = all.nr };
		t->v = arena_array(arena, struct tracepoint, all.nr + 1);
		if (all.nr)
			memcpy(t->v, all.v, all.nr * sizeof(*all.v));
	}
	vec_done(&all);
	return got < 0 ? error_prefix(err, STR_FMT, STR_ARG(file)) : 0;
}
