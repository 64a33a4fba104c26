/* Cuts a line of text into tokens and says what each looks like. */
#ifndef CULPRIT_IDENT_TOKEN_H
#define CULPRIT_IDENT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
	TOKENS_TEXT = 2048, /* bytes of a line that are looked at */
	TOKENS_MAX = 256,   /* tokens of a line */
};

enum token_kind {
	TOKEN_WORD, /* without a digit: part of the wording, or a name */
	TOKEN_CODE, /* a name in the program that happens to have digits: org.example.UTF8Type */
	TOKEN_NUMBER,
	TOKEN_DECIMAL, /* 1.0 */
	/* what varies and names nothing */
	TOKEN_DATE,
	TOKEN_QUANTITY, /* 5ms, 100%, 1.5gb, 640x480 */
	TOKEN_FRACTION, /* 3/5, 0:0 */
	TOKEN_VERSION,  /* 2.5.11-beta, v3 */
	TOKEN_PLACE,    /* a place in a source file: main.c:12 */
	TOKEN_HASHED,   /* an object by where it is in memory: Foo@1a2b3c */
	TOKEN_OPTION,   /* -Xmx200m */
	/* what names something by its look */
	TOKEN_IP,
	TOKEN_ADDRESS, /* host or ip, and port */
	TOKEN_MAIL,    /* name@domain.top */
	TOKEN_UUID,
	TOKEN_HEX,
	TOKEN_PATH,   /* absolute */
	TOKEN_URL,    /* with its scheme */
	TOKEN_JOINED, /* parts joined by commas that belong together: host,port,started */
	TOKEN_MIXED,  /* letters and digits: blk_17, attempt_1_m_2 */
};

/* What stands between a token and the one before it; several may hold. */
enum {
	BEFORE_SPACE = 1,
	BEFORE_EQUALS = 2,
	BEFORE_COLON = 4,
	BEFORE_OPEN = 8, /* a bracket of any kind */
	BEFORE_CLOSE = 16,
	BEFORE_COMMA = 32, /* or a semicolon */
	BEFORE_QUOTE = 64,
	BEFORE_HASH = 128,
	BEFORE_SLASH = 256,
	BEFORE_AT = 512,
	BEFORE_CALL = 1024, /* a round bracket */
	BEFORE_OTHER = 2048,
};

struct token {
	uint16_t from, to; /* in the text */
	uint16_t before;
	uint8_t kind;
};

struct tokens {
	struct token v[TOKENS_MAX];
	size_t nr;
	bool is_cut;     /* there were more */
	uint16_t behind; /* what follows the last one */
};

/*
 * What is found depends on digits only by the class of their number (token_digits), and on a run of
 * hexadecimal digits not at all: what is known of one text holds for all that differ in nothing
 * else.
 */
void tokens_cut(struct tokens *t, struct str text);
/* What a stretch without blanks and brackets looks like, taken by itself. */
enum token_kind token_look(struct str s);

/* Digits in a row: few (1), some (4) or many (10), by how many there are at least. */
static inline unsigned token_digits(size_t n)
{
	return n < 4 ? 1 : n < 10 ? 4 : 10;
}

/* Whether so many letters and digits in a row are taken as one hexadecimal number: eight or more,
 * digits and letters among them, or any behind 0x. */
bool token_is_hex(struct str run);
bool token_is_uuid(struct str s); /* its first 36 bytes */
enum { TOKEN_UUID_BYTES = 36 };

/* The schema of constants within: "blk_#", "attempt_#_m_#"; a part of letters and digits at random
 * is a star. At most room bytes; how many were written. */
size_t token_schema(struct str s, char *to, size_t room);

#endif
