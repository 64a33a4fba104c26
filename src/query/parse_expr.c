/* Expressions: or, and, not, comparisons, sums, products, signs, names, numbers, aggregates. */
#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "query/parse.h"
#include "query/parser.h"

static struct expr *expr_new(struct parser *p, enum expr_kind kind, struct place at)
{
	struct expr *e = arena_new(p->arena, struct expr);

	e->kind = kind;
	e->place = at;
	return e;
}

static int parse_part(struct parser *p, struct str *part)
{
	bool quoted = p->token.kind == TOKEN_QUOTED;

	if (!quoted && p->token.kind != TOKEN_WORD)
		return parser_expected(p, "a name");
	*part = p->token.text;
	return parser_next(p);
}

int parse_name(struct parser *p, struct str *name, struct str *rest, struct place *place)
{
	struct buf text = { 0 };
	struct str part;
	int got;

	*place = p->token.place;
	if (!parser_at_name(p))
		return parser_expected(p, "a name");
	got = parse_part(p, name);
	while (got >= 0 && parser_at_sign(p, '.')) {
		got = parser_next(p);
		if (got >= 0)
			got = parse_part(p, &part);
		if (got >= 0) {
			if (text.n)
				buf_char(&text, '.');
			buf_add(&text, part);
		}
	}
	place->length = (uint32_t)(p->end - place->at);
	if (got >= 0 && rest)
		*rest = text.n ? arena_str(p->arena, buf_str(&text)) : (struct str){ 0 };
	else if (got >= 0 && text.n)
		*name = arena_fmt(p->arena, STR_FMT "." STR_FMT, STR_ARG(*name),
				  STR_ARG(buf_str(&text)));
	buf_done(&text);
	return got;
}

static const struct {
	const char *word;
	enum aggregate function;
} aggregates[] = {
	{ "COUNT", AGGREGATE_COUNT },
	{ "SUM", AGGREGATE_SUM },
	{ "MIN", AGGREGATE_MIN },
	{ "MAX", AGGREGATE_MAX },
	{ "AVERAGE", AGGREGATE_AVERAGE },
	{ "AVG", AGGREGATE_AVERAGE },
	{ "PERCENTILE", AGGREGATE_PERCENTILE },
	{ "HISTOGRAM", AGGREGATE_HISTOGRAM },
};

static int percentile_of(struct parser *p, struct expr *e)
{
	int got = parser_sign(p, ',', "',' and which percentile: PERCENTILE(x, 99)");

	if (got < 0)
		return got;
	if (p->token.kind != TOKEN_INT && p->token.kind != TOKEN_DOUBLE)
		return parser_expected(p, "which percentile, a number from 0 to 100");
	e->d = p->token.kind == TOKEN_INT ? (double)p->token.i : p->token.d;
	if (!(e->d >= 0 && e->d <= 100))
		return parser_expected(p, "a percentile from 0 to 100");
	return parser_next(p);
}

/* The name was taken; COUNT alone counts rows, as COUNT() and COUNT(*) do. */
static int parse_aggregate(struct parser *p, enum aggregate function, struct place at,
			   struct expr **expr)
{
	struct expr *e = expr_new(p, EXPR_AGGREGATE, at);
	int got = 0;

	e->function = function;
	*expr = e;
	if (!parser_at_sign(p, '(') && function == AGGREGATE_COUNT)
		return 0;
	got = parser_sign(p, '(', "'(' and what it is of");
	if (got >= 0 && function == AGGREGATE_COUNT && parser_at_sign(p, '*'))
		got = parser_next(p);
	else if (got >= 0 && !(function == AGGREGATE_COUNT && parser_at_sign(p, ')')))
		got = parse_expr(p, &e->a);
	if (got >= 0 && function == AGGREGATE_PERCENTILE)
		got = percentile_of(p, e);
	if (got >= 0)
		got = parser_sign(p, ')', "')'");
	e->place.length = (uint32_t)(p->end - at.at);
	return got;
}

static int parse_word(struct parser *p, struct expr **expr)
{
	static const struct {
		const char *word;
		enum expr_kind kind;
		int64_t i;
	} constants[] = { { "true", EXPR_BOOL, 1 },
			  { "false", EXPR_BOOL, 0 },
			  { "null", EXPR_NULL, 0 } };
	struct place at = p->token.place;

	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (parser_at_word(p, constants[i].word)) {
			*expr = expr_new(p, constants[i].kind, at);
			(*expr)->i = constants[i].i;
			return parser_next(p);
		}
	for (size_t i = 0; i < sizeof(aggregates) / sizeof(*aggregates); i++)
		if (parser_at_word(p, aggregates[i].word)) {
			struct parser before = *p;
			int got = parser_next(p);

			if (got < 0 || parser_at_sign(p, '(') ||
			    (aggregates[i].function == AGGREGATE_COUNT && !parser_at_sign(p, '.')))
				return got < 0 ? got
					       : parse_aggregate(p, aggregates[i].function, at,
								 expr);
			*p = before; /* a name like any other: max.size */
		}
	*expr = expr_new(p, EXPR_NAME, at);
	return parse_name(p, &(*expr)->text, &(*expr)->field, &(*expr)->place);
}

static int parse_atom(struct parser *p, struct expr **expr)
{
	struct place at = p->token.place;
	int got;

	switch (p->token.kind) {
	case TOKEN_INT:
	case TOKEN_DOUBLE:
		*expr = expr_new(p, p->token.kind == TOKEN_INT ? EXPR_INT : EXPR_DOUBLE, at);
		(*expr)->i = p->token.i;
		(*expr)->d = p->token.d;
		return parser_next(p);
	case TOKEN_TEXT:
		*expr = expr_new(p, EXPR_TEXT, at);
		(*expr)->text = p->token.text;
		return parser_next(p);
	case TOKEN_WORD:
	case TOKEN_QUOTED:
		return parse_word(p, expr);
	default:
		break;
	}
	if (!parser_at_sign(p, '('))
		return parser_expected(p, "a name, a number, a string or '('");
	got = parser_next(p);
	if (got >= 0)
		got = parse_expr(p, expr);
	return got < 0 ? got : parser_sign(p, ')', "')'");
}

static int parse_unary(struct parser *p, struct expr **expr)
{
	struct place at = p->token.place;
	enum expr_op op = parser_at_sign(p, '-')                               ? OP_NEG
			  : parser_at_sign(p, '!') || parser_at_word(p, "not") ? OP_NOT
									       : OP_NONE;
	int got;

	if (op == OP_NONE)
		return parse_atom(p, expr);
	*expr = expr_new(p, EXPR_UNARY, at);
	(*expr)->op = op;
	got = parser_enter(p);
	if (got >= 0)
		got = parser_next(p);
	if (got >= 0)
		got = parse_unary(p, &(*expr)->a);
	p->depth--;
	(*expr)->place.length = (uint32_t)(p->end - at.at);
	return got;
}

struct level_op {
	int sign;
	const char *word;
	enum expr_op op;
};

/* From the loosest to the tightest; a comparison is not repeated (a < b < c means nothing). */
static const struct level_op levels[][7] = {
	{ { '|', "or", OP_OR }, { 0 } },
	{ { '&', "and", OP_AND }, { 0 } },
	{ { '=', NULL, OP_EQ },
	  { SIGN_NE, NULL, OP_NE },
	  { '<', NULL, OP_LT },
	  { SIGN_LE, NULL, OP_LE },
	  { '>', NULL, OP_GT },
	  { SIGN_GE, NULL, OP_GE },
	  { 0 } },
	{ { '+', NULL, OP_ADD }, { '-', NULL, OP_SUB }, { 0 } },
	{ { '*', NULL, OP_MUL }, { '/', NULL, OP_DIV }, { '%', NULL, OP_MOD }, { 0 } },
};

#define NR_LEVELS (sizeof(levels) / sizeof(*levels))
#define COMPARISON 2
#define LONGEST_CHAIN 1024 /* a + b + c …, which is as deep as it is long */

static enum expr_op op_at(const struct parser *p, const struct level_op *ops)
{
	for (; ops->op; ops++)
		if (parser_at_sign(p, ops->sign) || (ops->word && parser_at_word(p, ops->word)))
			return ops->op;
	return OP_NONE;
}

/* "not a = b" is not (a = b), as people read it. */
static int parse_level(struct parser *p, size_t level, struct expr **expr)
{
	struct place at = p->token.place;
	enum expr_op op;
	unsigned nr = 0;
	int got;

	if (level == NR_LEVELS)
		return parse_unary(p, expr);
	if (level == COMPARISON && parser_at_word(p, "not")) {
		*expr = expr_new(p, EXPR_UNARY, at);
		(*expr)->op = OP_NOT;
		got = parser_enter(p);
		if (got >= 0)
			got = parser_next(p);
		if (got >= 0)
			got = parse_level(p, level, &(*expr)->a);
		p->depth--;
		return got;
	}
	got = parse_level(p, level + 1, expr);
	while (got >= 0 && (op = op_at(p, levels[level]))) {
		struct expr *e = expr_new(p, EXPR_BINARY, at);

		if (nr++ == LONGEST_CHAIN || (level == COMPARISON && nr > 1))
			return parser_expected(p, level == COMPARISON ? "'and' between comparisons"
								      : "a shorter expression");
		e->op = op;
		e->a = *expr;
		*expr = e;
		got = parser_next(p);
		if (got >= 0)
			got = parse_level(p, level + 1, &e->b);
		e->place.length = (uint32_t)(p->end - at.at);
	}
	return got;
}

int parse_expr(struct parser *p, struct expr **expr)
{
	int got = parser_enter(p);

	*expr = NULL;
	if (got >= 0)
		got = parse_level(p, 0, expr);
	p->depth--;
	return got;
}
