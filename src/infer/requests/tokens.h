/* Finds in a text what may name something: identifiers, paths, addresses, numbers with a name; and
 * the text without them. */
#ifndef CULPRIT_INFER_REQUESTS_TOKENS_H
#define CULPRIT_INFER_REQUESTS_TOKENS_H

#include <stdbool.h>

#include "base/str.h"

enum {
	TOKENS_MAX = 96,        /* further ones of one text are left out */
	TOKENS_TEXT_MAX = 8192, /* so is what stands behind so many bytes */
	TOKENS_WORDS = 16384,
	TOKENS_SHAPE = 160,
	TOKENS_RECIPE = 32, /* names in one */
	TOKENS_KINDS = 352
};

#define TOKENS_SEPARATOR '\x1f'
#define TOKENS_WORD "~" /* the kind of words that may name something */

/* Of which kind a name is, by its look: names of one kind are compared with each other. */
struct token {
	struct str kind;  /* "blk#1", "path/data", "pid=", "uuid" */
	struct str value; /* "blk_1073741825" */
	uint64_t hash;    /* of kind, separator and value, which stand behind each other */
};

/* Where the names of a text stand in it: the same for all texts that differ in their digits only.
 */
struct tokens_recipe {
	uint8_t nr;
	bool lacks_words; /* as in struct tokens */
	bool is_bad;      /* it cannot be followed: something is not as it stands in the text */
	uint16_t nr_kinds;
	struct {
		uint16_t kind, kind_bytes; /* with its separator, in kinds */
		uint16_t at, bytes;        /* the value, in the text */
	} v[TOKENS_RECIPE];
	char kinds[TOKENS_KINDS];
};

/* All strings are borrowed from words. */
struct tokens {
	unsigned nr;
	bool is_cut;
	bool lacks_words; /* there were more words that may name something than are kept */
	size_t nr_words, nr_shape;
	struct token v[TOKENS_MAX];
	/* of each: its hash, a length as varint, its kind, a separator, its value */
	char words[TOKENS_WORDS];
	char shape[TOKENS_SHAPE]; /* the first line, with <*> in place of what varies */
};

/* Finds anew: what was found before is gone. */
void tokens_find(struct tokens *t, struct str text);
/* The same without the shape. */
void tokens_find_names(struct tokens *t, struct str text);
/* Either, and how to find the names of other texts again that differ in their digits only. */
void tokens_note(struct tokens *t, struct str text, bool has_shape, struct tokens_recipe *recipe);
/* Adds a word of the text that has no digit: it names something if nouns.h says so. */
void tokens_add_word(struct tokens *t, struct str text, struct str word,
		     struct tokens_recipe *recipe);
void tokens_follow(struct tokens *t, struct str text, const struct tokens_recipe *recipe);

#endif
