#include "infer/requests/plain.h"

enum { PLAIN_NOT, PLAIN_LETTER, PLAIN_JOINT, PLAIN_DIGIT };

static const unsigned char sorts[256] = {
	['A' ... 'Z'] = PLAIN_LETTER,   ['a' ... 'z'] = PLAIN_LETTER, ['_'] = PLAIN_LETTER,
	[0x80 ... 0xff] = PLAIN_LETTER, ['-'] = PLAIN_JOINT,          ['.'] = PLAIN_JOINT,
	['0' ... '9'] = PLAIN_DIGIT,
};

static unsigned sort_of(char c)
{
	return sorts[(unsigned char)c];
}

/* What stands on either side of it: the rest of a path, or a mask. */
static bool is_part(struct str text, size_t from, size_t to)
{
	return (from && (text.p[from - 1] == '/' ||
			 (from > 1 && text.p[from - 1] == '>' && text.p[from - 2] == '*'))) ||
	       (to + 1 < text.n && text.p[to] == '<' && text.p[to + 1] == '*');
}

bool plain_next(struct str text, size_t *at, struct str *word)
{
	size_t i = *at;

	while (i < text.n) {
		size_t from, to;
		bool has_digit = false;

		while (i < text.n && !sort_of(text.p[i]))
			i++;
		for (from = i; i < text.n && sort_of(text.p[i]); i++)
			has_digit |= sort_of(text.p[i]) == PLAIN_DIGIT;
		to = i;
		if (has_digit || is_part(text, from, to))
			continue;
		while (from < to && sort_of(text.p[from]) == PLAIN_JOINT)
			from++;
		while (to > from && sort_of(text.p[to - 1]) == PLAIN_JOINT)
			to--;
		if (to - from < PLAIN_MIN || to - from > PLAIN_MAX)
			continue;
		*word = (struct str){ text.p + from, to - from };
		*at = i;
		return true;
	}
	*at = text.n;
	return false;
}
