/* Puts what a line names into it, piece by piece: for line.c and line_path.c only. */
#ifndef CULPRIT_IDENT_LINE_PUT_H
#define CULPRIT_IDENT_LINE_PUT_H

#include <stdbool.h>

#include "ident/line.h"
#include "ident/token.h"

struct naming {
	struct line *l;
	struct str text;
	const struct tokens *t;
	const struct line_aids *aids;
	bool is_covered; /* constants tell what is text */
	uint32_t place;  /* of all that is found */
	bool is_stat;    /* the line tells amounts */
};

static inline struct str line_text(const struct naming *n, const struct token *t)
{
	return str_head(str_skip(n->text, t->from), (size_t)(t->to - t->from));
}

/* A copy that lasts as long as the line. */
struct str line_keep(struct line *l, struct str s);
/* Where a stretch of the text stands. */
struct spelling line_part(const struct naming *n, struct str s);
/* An identifier: its type, which is kept, what its value begins with, and where the rest stands. */
void line_put(struct naming *n, struct str type, struct str prefix, struct spelling s,
	      uint32_t place);
/* By its schema; what is a number at random within it names something as well. */
void line_put_schema(struct naming *n, struct str s, uint32_t place);
/* An address: localhost:80 and 127.0.0.1:80 are one. How: SPELT_… */
void line_put_address(struct naming *n, struct str s, uint32_t place, uint8_t how);
void line_put_hex(struct naming *n, struct str s, struct str type, uint32_t place);

/* A path, a URL, parts joined by commas, with all that they are made of. */
void line_put_path(struct naming *n, struct str path);
void line_put_url(struct naming *n, struct str url);
void line_put_joined(struct naming *n, struct str s, uint32_t place);

#endif
