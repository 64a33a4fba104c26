/* Cuts the text of a query into tokens. */
#ifndef CULPRIT_QUERY_LEX_H
#define CULPRIT_QUERY_LEX_H

#include "base/str.h"
#include "query/ast.h"

struct arena;
struct error;

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* text */
	TOKEN_QUOTED, /* a name in backquotes: text */
	TOKEN_TEXT,   /* a string: text */
	TOKEN_INT,
	TOKEN_DOUBLE,
	TOKEN_SIGN, /* sign: its first byte, or one of those below */
};

/* Signs of two bytes. */
enum { SIGN_ARROW = 256, SIGN_LE, SIGN_GE, SIGN_NE };

struct token {
	enum token_kind kind;
	struct place place;
	struct str text;
	int64_t i;
	double d;
	int sign;
};

struct lexer {
	struct str whole;
	size_t at;
	struct arena *arena;
};

/* The next one; -EINVAL and where it is wrong otherwise. */
int lex_next(struct lexer *l, struct token *t, struct error *err);
/* A failure at a place: the sentence, then line, column and the line itself with a caret. */
int lex_error(struct str whole, struct place at, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
