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
