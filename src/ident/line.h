/* What one line of a log names, as the line alone shows it: identifiers with their types, and the
 * template of the text without them. */
#ifndef CULPRIT_IDENT_LINE_H
#define CULPRIT_IDENT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ident/constants.h"
#include "model/mention.h"

struct overrides;

enum {
	LINE_NAMES = 40,  /* identifiers of a line; further ones are left out */
	LINE_TITLE = 400, /* bytes of a title */
	LINE_ROOM = 4096, /* for types, and values that do not stand in the text as they are */
};

/* How a value comes from the text, for other texts that differ in their digits only: a beginning
 * of its own, and a stretch of the text that may be changed. */
enum { SPELT_SMALL = 1, SPELT_DECODED = 2, SPELT_COLON = 4, SPELT_PORT = 8 };
struct spelling {
	uint16_t from, to; /* in the text */
	uint8_t nr_prefix; /* the first bytes of the value do not stand there */
	uint8_t how;
};

struct line {
	uint64_t template;
	struct str title;
	struct named v[LINE_NAMES];
	struct spelling spelt[LINE_NAMES];
	size_t nr;
	bool is_cut;      /* something was left out */
	bool is_repeated; /* a type occurs more than once */
	size_t nr_room;
	char titled[LINE_TITLE];
	char room[LINE_ROOM];
};

/* What is known beside the lines themselves. Constants tell text of a statement from what varies in
 * it; zero is a valid one that knows nothing. One thread uses it at a time. */
struct line_aids {
	const struct overrides *overrides;
	const struct constants *constants;
	struct cover cover; /* of the line at hand */
};

/* The first line of the text. Strings borrow from it, from *l and the overrides. */
void line_read(struct line *l, struct str text, struct line_aids *aids);
/* The same of the name of a thread, which is no text: no template, no words. */
void line_read_thread(struct line *l, struct str thread, struct line_aids *aids);
/* Tells which are of a list: of a type that occurs with several values. Whether any type occurs
 * more than once. */
bool line_mark_lists(struct named *v, size_t nr);
/* The value of another text; where it has to be written, to is used, which has room for it. */
struct str line_spell(struct str text, const struct spelling *s, struct str prefix, char *to);

#endif
