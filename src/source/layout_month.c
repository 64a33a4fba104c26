#include "source/layout_month.h"

#include <ctype.h>
#include <strings.h>

/* What differs from English, as short as is unmistakable: German, French, Spanish, Italian,
 * Portuguese, Dutch, Polish, Swedish. Longest first where one begins with another. */
static const struct {
	const char *begin;
	int month;
} others[] = {
	{ "jän", 1 },  { "ene", 1 },  { "gen", 1 },  { "sty", 1 },  { "janv", 1 }, { "fév", 2 },
	{ "fev", 2 },  { "lut", 2 },  { "mär", 3 },  { "mrz", 3 },  { "mrt", 3 },  { "maa", 3 },
	{ "mars", 3 }, { "avr", 4 },  { "abr", 4 },  { "kwi", 4 },  { "mai", 5 },  { "mag", 5 },
	{ "mei", 5 },  { "maj", 5 },  { "juin", 6 }, { "giu", 6 },  { "cze", 6 },  { "juil", 7 },
	{ "lug", 7 },  { "lip", 7 },  { "aoû", 8 },  { "aou", 8 },  { "ago", 8 },  { "sie", 8 },
	{ "set", 9 },  { "wrz", 9 },  { "okt", 10 }, { "ott", 10 }, { "out", 10 }, { "paź", 10 },
	{ "lis", 11 }, { "dez", 12 }, { "dic", 12 }, { "déc", 12 }, { "gru", 12 },
};

static const char *const english[] = { "january",   "february", "march",    "april",
				       "may",       "june",     "july",     "august",
				       "september", "october",  "november", "december" };

/* Most words are none: their first letter tells it. */
static bool begins_as(struct str word, const char *name)
{
	return (word.p[0] | 0x20) == name[0];
}

static int month_of(struct str word)
{
	for (int i = 0; i < 12; i++)
		if (begins_as(word, english[i]) && word.n <= strlen(english[i]) &&
		    !strncasecmp(word.p, english[i], word.n))
			return i + 1;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		size_t n;

		if (!begins_as(word, others[i].begin))
			continue;
		n = strlen(others[i].begin);
		if (word.n >= n && !strncasecmp(word.p, others[i].begin, n))
			return others[i].month;
	}
	return str_eq_nocase(word, STR("sept")) ? 9 : 0;
}

bool layout_month_take(struct str *s, int *month)
{
	size_t n = 0;
	int m;

	while (n < s->n && n < 12 && (isalpha((unsigned char)s->p[n]) || s->p[n] < 0))
		n++;
	m = n >= 3 ? month_of(str_head(*s, n)) : 0;
	if (!m)
		return false;
	*s = str_skip(*s, n);
	str_take_char(s, '.');
	*month = m;
	return true;
}

bool layout_weekday_take(struct str *s)
{
	static const char *const days[] = { "monday", "tuesday",  "wednesday", "thursday",
					    "friday", "saturday", "sunday" };
	size_t n = 0;

	while (n < s->n && n < 10 && isalpha((unsigned char)s->p[n]))
		n++;
	for (unsigned i = 0; n >= 3 && i < 7; i++)
		if (n <= strlen(days[i]) && !strncasecmp(s->p, days[i], n)) {
			*s = str_skip(*s, n);
			str_take_char(s, ',');
			return true;
		}
	return false;
}
