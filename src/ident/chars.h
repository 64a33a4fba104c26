/* What single characters of a log line are. */
#ifndef CULPRIT_IDENT_CHARS_H
#define CULPRIT_IDENT_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
	CHAR_DIGIT = 1,
	CHAR_LOWER = 2,
	CHAR_UPPER = 4,
	CHAR_UNDER = 8, /* and what is not ASCII */
	CHAR_HEX = 16,
	CHAR_JOIN = 32, /* may stand within a word */
	CHAR_PATH = 64, /* may stand within a path, besides */
	CHAR_LETTER = CHAR_LOWER | CHAR_UPPER,
	CHAR_ALNUM = CHAR_LETTER | CHAR_DIGIT,
	CHAR_WORD = CHAR_ALNUM | CHAR_UNDER,
};

extern const uint8_t chars_classes[256];

static inline bool chars_is(char c, unsigned class)
{
	return chars_classes[(unsigned char)c] & class;
}

/* What it is for the token behind it: BEFORE_… of token.h. */
uint16_t chars_before(char c);
/* How many bytes a sign beyond ASCII takes that parts words (a wide colon, quotes, an arrow), and
 * what it is for the token behind it; 0 when none begins the text. */
size_t chars_sign(struct str s, uint16_t *before);
/* Whether a character begins the text that is written without blanks between words. */
bool chars_is_dense(struct str s);

#endif
