#include "ident/chars.h"

#include "ident/token.h"

const uint8_t chars_classes[256] = {
	['0' ... '9'] = CHAR_DIGIT | CHAR_HEX,
	['a' ... 'f'] = CHAR_LOWER | CHAR_HEX,
	['g' ... 'z'] = CHAR_LOWER,
	['A' ... 'F'] = CHAR_UPPER | CHAR_HEX,
	['G' ... 'Z'] = CHAR_UPPER,
	['_'] = CHAR_UNDER,
	[0x80 ... 0xff] = CHAR_UNDER,
	['-'] = CHAR_JOIN,
	['.'] = CHAR_JOIN,
	[':'] = CHAR_JOIN,
	['+'] = CHAR_JOIN,
	['@'] = CHAR_JOIN,
	['$'] = CHAR_JOIN,
	['~'] = CHAR_JOIN,
	['^'] = CHAR_JOIN,
	['%'] = CHAR_JOIN,
	['/'] = CHAR_PATH,
	['='] = CHAR_PATH,
	['#'] = CHAR_PATH,
};

static const uint16_t befores[256] = {
	[' '] = BEFORE_SPACE, ['\t'] = BEFORE_COMMA, ['='] = BEFORE_EQUALS, [':'] = BEFORE_COLON,
	['('] = BEFORE_CALL,  ['['] = BEFORE_OPEN,   ['{'] = BEFORE_OPEN,   ['<'] = BEFORE_OPEN,
	[')'] = BEFORE_CLOSE, [']'] = BEFORE_CLOSE,  ['}'] = BEFORE_CLOSE,  ['>'] = BEFORE_CLOSE,
	[','] = BEFORE_COMMA, [';'] = BEFORE_COMMA,  ['|'] = BEFORE_COMMA,  ['\''] = BEFORE_QUOTE,
	['"'] = BEFORE_QUOTE, ['`'] = BEFORE_QUOTE,  ['#'] = BEFORE_HASH,   ['/'] = BEFORE_SLASH,
	['@'] = BEFORE_AT,
};

uint16_t chars_before(char c)
{
	uint16_t found = befores[(unsigned char)c];

	return found ? found : BEFORE_OTHER;
}

static const struct {
	struct str sign;
	uint16_t before;
} signs[] = {
	{ STR("\uff1a"), BEFORE_COLON }, { STR("\uff1d"), BEFORE_EQUALS },
	{ STR("\uff0c"), BEFORE_COMMA }, { STR("\uff1b"), BEFORE_COMMA },
	{ STR("\u3001"), BEFORE_COMMA }, { STR("\u3002"), BEFORE_COMMA },
	{ STR("\uff08"), BEFORE_CALL },  { STR("\uff09"), BEFORE_CLOSE },
	{ STR("\u3010"), BEFORE_OPEN },  { STR("\u3011"), BEFORE_CLOSE },
	{ STR("\u300c"), BEFORE_QUOTE }, { STR("\u300d"), BEFORE_QUOTE },
	{ STR("\u201c"), BEFORE_QUOTE }, { STR("\u201d"), BEFORE_QUOTE },
	{ STR("\u2018"), BEFORE_QUOTE }, { STR("\u2019"), BEFORE_QUOTE },
	{ STR("\u201e"), BEFORE_QUOTE }, { STR("\u201a"), BEFORE_QUOTE },
	{ STR("\u00ab"), BEFORE_QUOTE }, { STR("\u00bb"), BEFORE_QUOTE },
	{ STR("\u2192"), BEFORE_OTHER }, { STR("\u2013"), BEFORE_OTHER },
	{ STR("\u2014"), BEFORE_OTHER }, { STR("\u2026"), BEFORE_OTHER },
	{ STR("\u00a0"), BEFORE_SPACE }, { STR("\u3000"), BEFORE_SPACE },
};

size_t chars_sign(struct str s, uint16_t *before)
{
	if (!s.n || (unsigned char)s.p[0] < 0x80)
		return 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (!str_starts(s, signs[i].sign))
			continue;
		*before = signs[i].before;
		return signs[i].sign.n;
	}
	return 0;
}

/* Of UTF-8: U+3040 to U+9FFF, which is Chinese and Japanese. */
bool chars_is_dense(struct str s)
{
	unsigned char c = s.n ? (unsigned char)s.p[0] : 0;

	return s.n > 2 && ((c > 0xe3 && c <= 0xe9) || (c == 0xe3 && (unsigned char)s.p[1] > 0x80));
}
