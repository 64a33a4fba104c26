#include "query/parse.h"

#include <errno.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "query/near.h"
#include "query/parser.h"

static const char *const keywords[] = { "From",   "In",  "Join", "On",  "Where", "GroupBy",
					"Select", "Let", "As",   "And", "Or",    "Not" };
#define NR_KEYWORDS (sizeof(keywords) / sizeof(*keywords))

int parser_next(struct parser *p)
{
	p->end = p->token.place.at + p->token.place.length;
	return lex_next(&p->lexer, &p->token, p->err);
}

bool parser_at_word(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_WORD && str_eq_nocase(p->token.text, str_of(word));
}

bool parser_at_sign(const struct parser *p, int sign)
{
	return p->token.kind == TOKEN_SIGN && p->token.sign == sign;
}

bool parser_at_name(const struct parser *p)
{
	if (p->token.kind == TOKEN_QUOTED)
		return true;
	for (size_t i = 0; i < NR_KEYWORDS; i++)
		if (parser_at_word(p, keywords[i]))
			return false;
	return p->token.kind == TOKEN_WORD;
}

int parser_expected(struct parser *p, const char *what)
{
	struct str found =
		str_head(str_skip(p->lexer.whole, p->token.place.at), p->token.place.length);
	struct near near;

	if (p->token.kind == TOKEN_END)
		return lex_error(p->lexer.whole, p->token.place, p->err,
				 "%s is expected here, where the query ends", what);
	near_begin(&near, p->token.kind == TOKEN_WORD ? p->token.text : STR(""));
	for (size_t i = 0; i < NR_KEYWORDS && p->token.text.n > 2; i++)
		if (!str_eq_nocase(p->token.text, str_of(keywords[i])))
			near_offer(&near, str_of(keywords[i]));
	if (near.best.n && near.least <= 2)
		return lex_error(p->lexer.whole, p->token.place, p->err,
				 "%s is expected, not '" STR_FMT "'; did you mean " STR_FMT "?",
				 what, STR_ARG(found), STR_ARG(near.best));
	return lex_error(p->lexer.whole, p->token.place, p->err,
			 "%s is expected, not '" STR_FMT "'%s", what, STR_ARG(str_head(found, 40)),
			 p->token.kind == TOKEN_WORD && !parser_at_name(p)
				 ? " (a name like that stands in backquotes)"
				 : "");
}

int parser_sign(struct parser *p, int sign, const char *what)
{
	return parser_at_sign(p, sign) ? parser_next(p) : parser_expected(p, what);
}

int parser_enter(struct parser *p)
{
	if (++p->depth > QUERY_DEPTH)
		return lex_error(p->lexer.whole, p->token.place, p->err,
				 "this is deeper in brackets than %d, which is not read",
				 QUERY_DEPTH);
	return 0;
}

static int parser_word(struct parser *p, const char *word)
{
	return parser_at_word(p, word) ? parser_next(p) : parser_expected(p, word);
}

static int too_many(struct parser *p, size_t nr)
{
	return nr < QUERY_PARTS ? 0
				: lex_error(p->lexer.whole, p->token.place, p->err,
					    "there are more than %d of these", QUERY_PARTS);
}

static int parse_query(struct parser *p, struct query **query);

static int parse_source(struct parser *p, struct source_name *s)
{
	int got;

	s->place = p->token.place;
	if (!parser_at_sign(p, '('))
		return parse_name(p, &s->name, NULL, &s->place);
	got = parser_enter(p);
	if (got >= 0)
		got = parser_next(p);
	if (got >= 0)
		got = parse_query(p, &s->query);
	if (got >= 0)
		got = parser_sign(p, ')', "')'");
	p->depth--;
	return got;
}

static int parse_sources(struct parser *p, struct input_clause *in)
{
	VEC(struct source_name) v = { 0 };
	int got;

	for (;;) {
		struct source_name s = { 0 };

		got = too_many(p, v.nr);
		if (got >= 0)
			got = parse_source(p, &s);
		if (got < 0)
			break;
		vec_push(&v, s);
		if (!parser_at_sign(p, ','))
			break;
		got = parser_next(p);
		if (got < 0)
			break;
	}
	in->nr_sources = v.nr;
	in->sources = arena_array(p->arena, struct source_name, v.nr);
	if (v.nr)
		memcpy(in->sources, v.v, v.nr * sizeof(*v.v));
	vec_done(&v);
	return got;
}

static const struct {
	const char *word;
	enum take take;
	bool counts;
} takes[] = {
	{ "All", TAKE_ALL, false },           { "First", TAKE_FIRST, false },
	{ "FirstN", TAKE_FIRST, true },       { "MostRecent", TAKE_RECENT, false },
	{ "MostRecentN", TAKE_RECENT, true },
};
#define NR_TAKES (sizeof(takes) / sizeof(*takes))

static int parse_count(struct parser *p, struct input_clause *in)
{
	if (p->token.kind != TOKEN_INT || p->token.i < 1 || p->token.i > 100000)
		return parser_expected(p, "how many, a number from 1 to 100000: FirstN(3, T)");
	in->at_most = (uint32_t)p->token.i;
	return parser_next(p);
}

static int parse_taken(struct parser *p, struct input_clause *in, bool counts)
{
	int got = parser_next(p);

	if (got >= 0 && counts)
		got = parse_count(p, in);
	if (got >= 0 && counts)
		got = parser_sign(p, ',', "',' and of what");
	/* a query needs no further brackets here */
	if (got >= 0 && parser_at_word(p, "From")) {
		in->sources = arena_new(p->arena, struct source_name);
		in->nr_sources = 1;
		in->sources->place = p->token.place;
		got = parse_query(p, &in->sources->query);
	} else if (got >= 0) {
		got = parse_sources(p, in);
	}
	return got < 0 ? got : parser_sign(p, ')', "')'");
}

static int parse_input(struct parser *p, struct input_clause *in)
{
	struct parser before;
	int got = parser_next(p);

	if (got >= 0)
		got = parser_at_name(p) ? 0 : parser_expected(p, "a name for the tuples");
	in->alias = p->token.text;
	in->place = p->token.place;
	in->take = TAKE_ALL;
	in->at_most = 1;
	if (got >= 0)
		got = parser_next(p);
	if (got >= 0)
		got = parser_word(p, "In");
	before = *p;
	for (size_t i = 0; got >= 0 && i < NR_TAKES; i++) {
		if (!parser_at_word(p, takes[i].word))
			continue;
		got = parser_next(p);
		if (got >= 0 && parser_at_sign(p, '(')) {
			in->take = takes[i].take;
			return parse_taken(p, in, takes[i].counts);
		}
		*p = before; /* a tracepoint that is called so */
	}
	return got < 0 ? got : parse_sources(p, in);
}

static int parse_end(struct parser *p, struct str *alias, struct place *place)
{
	*alias = p->token.text;
	*place = p->token.place;
	return parser_at_name(p) ? parser_next(p)
				 : parser_expected(p, "the name of a From or Join");
}

static int parse_join(struct parser *p, struct input_clause *in)
{
	int got = parse_input(p, in);

	if (got >= 0)
		got = parser_word(p, "On");
	if (got >= 0)
		got = parse_end(p, &in->before, &in->before_place);
	if (got >= 0)
		got = parser_sign(p, SIGN_ARROW, "'->'");
	return got < 0 ? got : parse_end(p, &in->after, &in->after_place);
}

static int parse_let(struct parser *p, struct let_clause *let)
{
	int got = parser_next(p);

	if (got >= 0)
		got = parse_end(p, &let->name, &let->place);
	if (got >= 0)
		got = parser_sign(p, '=', "'='");
	return got < 0 ? got : parse_expr(p, &let->expr);
}

struct clauses {
	VEC(struct input_clause) joins;
	VEC(struct let_clause) lets;
	VEC(struct expr *) wheres;
	VEC(struct expr *) groups;
	VEC(struct select_clause) selects;
};

static int parse_groups(struct parser *p, struct clauses *c)
{
	struct expr *e;
	int got;

	do {
		got = parser_next(p);
		if (got >= 0)
			got = too_many(p, c->groups.nr);
		if (got >= 0)
			got = parse_expr(p, &e);
		if (got >= 0)
			vec_push(&c->groups, e);
	} while (got >= 0 && parser_at_sign(p, ','));
	return got;
}

static int parse_selects(struct parser *p, struct clauses *c)
{
	int got;

	do {
		struct select_clause s = { 0 };
		size_t from;

		got = parser_next(p);
		from = p->token.place.at;
		if (got >= 0)
			got = too_many(p, c->selects.nr);
		if (got >= 0)
			got = parse_expr(p, &s.expr);
		if (got < 0)
			return got;
		s.name = str_head(str_skip(p->lexer.whole, from), p->end - from);
		if (parser_at_word(p, "As")) {
			struct place at;

			got = parser_next(p);
			if (got >= 0)
				got = parse_end(p, &s.name, &at);
		}
		vec_push(&c->selects, s);
	} while (got >= 0 && parser_at_sign(p, ','));
	return got;
}

/* "Group By" is GroupBy. */
static int at_groups(struct parser *p, bool *is)
{
	struct parser before = *p;
	int got = 0;

	*is = parser_at_word(p, "GroupBy");
	if (*is || !parser_at_word(p, "Group"))
		return 0;
	got = parser_next(p);
	*is = got >= 0 && parser_at_word(p, "By");
	if (!*is)
		*p = before;
	return got;
}

/* 1 when there was one, 0 when the query is over. */
static int parse_clause(struct parser *p, struct clauses *c)
{
	bool groups;
	int got = at_groups(p, &groups);

	if (got < 0)
		return got;
	if (groups && !c->selects.nr) {
		got = c->groups.nr ? parser_expected(p, "Select") : parse_groups(p, c);
	} else if (parser_at_word(p, "Select") && !c->selects.nr) {
		got = parse_selects(p, c);
	} else if (parser_at_word(p, "Join") && !c->selects.nr && !c->groups.nr) {
		struct input_clause in = { 0 };

		got = too_many(p, c->joins.nr);
		if (got >= 0)
			got = parse_join(p, &in);
		vec_push(&c->joins, in);
	} else if (parser_at_word(p, "Where") && !c->selects.nr && !c->groups.nr) {
		struct expr *e = NULL;

		got = parser_next(p);
		if (got >= 0)
			got = too_many(p, c->wheres.nr);
		if (got >= 0)
			got = parse_expr(p, &e);
		vec_push(&c->wheres, e);
	} else if (parser_at_word(p, "Let") && !c->selects.nr && !c->groups.nr) {
		struct let_clause let = { 0 };

		got = too_many(p, c->lets.nr);
		if (got >= 0)
			got = parse_let(p, &let);
		vec_push(&c->lets, let);
	} else {
		return 0;
	}
	return got < 0 ? got : 1;
}

#define KEEP(p, q, what) \
	do { \
		(q)->nr_##what = c.what.nr; \
		(q)->what = arena_alloc((p)->arena, mem_bytes(c.what.nr, sizeof(*c.what.v))); \
		if (c.what.nr) \
			memcpy((q)->what, c.what.v, c.what.nr * sizeof(*c.what.v)); \
		vec_done(&c.what); \
	} while (0)

static int parse_query(struct parser *p, struct query **query)
{
	struct query *q = arena_new(p->arena, struct query);
	struct clauses c = { 0 };
	int got = parser_at_word(p, "From") ? 1 : parser_expected(p, "From");

	*query = q;
	if (got >= 0)
		got = parse_input(p, &q->from) < 0 ? -EINVAL : 1;
	while (got > 0)
		got = parse_clause(p, &c);
	KEEP(p, q, joins);
	KEEP(p, q, lets);
	KEEP(p, q, wheres);
	KEEP(p, q, groups);
	KEEP(p, q, selects);
	return got;
}

/* "Q1: From …": the name by which later ones may use it. */
static int parse_label(struct parser *p, struct str *name)
{
	struct parser before = *p;
	struct str text = p->token.text;
	int got;

	if (!parser_at_name(p))
		return 0;
	got = parser_next(p);
	if (got >= 0 && parser_at_sign(p, ':')) {
		*name = text;
		return parser_next(p);
	}
	*p = before;
	return 0;
}

int query_parse(struct str text, struct arena *arena, struct queries *q, struct error *err)
{
	struct parser p = { .lexer = { text, 0, arena }, .arena = arena, .err = err };
	VEC(struct query *) v = { 0 };
	int got;

	if (text.n > QUERY_BYTES)
		return error_set(err, EINVAL, "the query is longer than %d bytes", QUERY_BYTES);
	got = parser_next(&p);
	do {
		struct query *one = NULL;
		struct str name = { 0 };

		if (got >= 0)
			got = parse_label(&p, &name);
		if (got >= 0)
			got = parse_query(&p, &one);
		if (got >= 0) {
			one->name = name;
			vec_push(&v, one);
		}
		while (got >= 0 && parser_at_sign(&p, ';'))
			got = parser_next(&p);
		if (got >= 0 && p.token.kind != TOKEN_END && !parser_at_word(&p, "From") &&
		    !parser_at_name(&p))
			got = parser_expected(&p, "the end of the query, or a clause in its order");
	} while (got >= 0 && p.token.kind != TOKEN_END);
	*q = (struct queries){ text, arena_array(arena, struct query *, v.nr), v.nr };
	if (v.nr)
		memcpy(q->v, v.v, v.nr * sizeof(*v.v));
	vec_done(&v);
	return got < 0 ? got : 0;
}
