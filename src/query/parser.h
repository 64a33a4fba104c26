/* What the two halves of the parser share: the token at hand, and how it is taken. */
#ifndef CULPRIT_QUERY_PARSER_H
#define CULPRIT_QUERY_PARSER_H

#include "query/lex.h"

struct parser {
	struct lexer lexer;
	struct token token; /* the one that is looked at */
	size_t end;         /* of the one before it */
	struct arena *arena;
	unsigned depth;
	struct error *err;
};

/* All return 0 or a failure in err. */
int parser_next(struct parser *p);
/* What was expected, in words. */
int parser_expected(struct parser *p, const char *what);
int parser_sign(struct parser *p, int sign, const char *what);
/* Whether the token is this word (in any case); not one in backquotes. */
bool parser_at_word(const struct parser *p, const char *word);
bool parser_at_sign(const struct parser *p, int sign);
/* Whether a name may begin here; words with a meaning of their own are none. */
bool parser_at_name(const struct parser *p);
int parser_enter(struct parser *p);

/* parse_expr.c */
int parse_expr(struct parser *p, struct expr **expr);
/* Names with dots between; behind the first dot in *rest, which may be NULL: then all is one. */
int parse_name(struct parser *p, struct str *name, struct str *rest, struct place *place);

#endif
