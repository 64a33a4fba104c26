#include "query/near.h"

#define LONGEST 63

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Edits that turn one into the other, whatever the case of letters. */
static unsigned distance(struct str a, struct str b)
{
	unsigned row[LONGEST + 1];

	if (a.n > LONGEST || b.n > LONGEST)
		return 2 * LONGEST;
	for (size_t j = 0; j <= b.n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			unsigned change = diagonal + (lower(a.p[i - 1]) != lower(b.p[j - 1]));
			unsigned least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < least ? change : least;
		}
	}
	return row[b.n];
}

/* A part of a longer name is what many people type. */
static bool has_part(struct str name, struct str part)
{
	for (size_t i = 0; part.n >= 3 && i + part.n <= name.n; i++)
		if (str_eq_nocase((struct str){ name.p + i, part.n }, part))
			return true;
	return false;
}

void near_begin(struct near *n, struct str word)
{
	*n = (struct near){ .word = word, .least = (unsigned)(word.n / 3 + 2) };
}

void near_offer(struct near *n, struct str name)
{
	unsigned d = distance(n->word, name);

	if (has_part(name, n->word) && d > 1)
		d = 1;
	if (name.n && d < n->least) {
		n->least = d;
		n->best = name;
	}
}
