#include "source/layout_peel.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "source/layout_kind.h"
#include "source/layout_peel_field.h"
#include "source/layout_said.h"

#define STEPS_MAX 12
#define SEPARATOR_BYTES 8
#define FRONT_MAX 4 /* fields in front of the time */

static void add_literal(struct buf *pattern, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '%')
			buf_char(pattern, '%');
		if (text.p[i] == '\\' || text.p[i] == '$')
			buf_char(pattern, '\\');
		buf_char(pattern, text.p[i]);
	}
}

/* The run of bytes of the set at the front, blanks as one. */
static size_t separator(struct str s, const char *set, char *text, size_t *nr_text)
{
	size_t n = 0;

	*nr_text = 0;
	for (; n < s.n && strchr(set, s.p[n]) && s.p[n]; n++) {
		if (s.p[n] == ' ' && *nr_text && text[*nr_text - 1] == ' ')
			continue;
		if (*nr_text == SEPARATOR_BYTES)
			break;
		text[(*nr_text)++] = s.p[n];
	}
	return n;
}

static size_t count_separator(const struct str *lines, size_t nr, const char *set, struct str want)
{
	char text[SEPARATOR_BYTES];
	size_t same = 0, n;

	for (size_t i = 0; i < nr; i++) {
		separator(lines[i], set, text, &n);
		/* a line that ends here has lost its blank */
		same += str_eq((struct str){ text, n }, want) ||
			(!lines[i].n && want.n == 1 && want.p[0] == ' ');
	}
	return same;
}

/* Takes what keeps fields apart, where most lines agree; the others are left out from here on. */
static bool peel_separator(struct peel *p, struct str *lines, size_t *nr, const char *set)
{
	char text[SEPARATOR_BYTES], other[SEPARATOR_BYTES];
	size_t n, m, kept = 0, tries = *nr < 5 ? *nr : 5;

	for (size_t i = 0; i < tries; i++) {
		size_t at = i * *nr / tries;

		separator(lines[at], set, text, &n);
		if (!layout_most(count_separator(lines, *nr, set, (struct str){ text, n }), *nr,
				 75))
			continue;
		if (!n)
			return false;
		for (size_t k = 0; k < *nr; k++) {
			size_t bytes = separator(lines[k], set, other, &m);

			if (str_eq((struct str){ text, n }, (struct str){ other, m }))
				lines[kept++] = str_skip(lines[k], bytes);
		}
		*nr = kept;
		add_literal(&p->pattern, (struct str){ text, n });
		return true;
	}
	return false;
}

static bool peel_field(struct peel *p, struct str *lines, size_t *nr, const struct peel_field *c)
{
	for (; c->pattern; c++) {
		size_t hits = 0, kept = 0;

		if (p->has & c->not_after)
			continue;
		p->past = p->has & HAS_PAST ? p->past : NULL;
		for (size_t i = 0; i < *nr; i++) {
			struct str rest = lines[i];

			hits += c->take(p, &rest);
		}
		if (!layout_most(hits, *nr, c->percent))
			continue;
		for (size_t i = 0; i < *nr; i++)
			if (c->take(p, &lines[i]))
				lines[kept++] = lines[i];
		*nr = kept;
		p->has |= c->gives;
		buf_add(&p->pattern, str_of(c->pattern));
		return true;
	}
	return false;
}

/* "… (kafka.server.KafkaServer)" at the end of most lines */
static bool end_in_logger(const struct str *lines, size_t nr)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++) {
		struct str s = lines[i];
		size_t at = s.n;

		while (at && s.p[at - 1] != '(')
			at--;
		hits += at && str_ends(s, STR(")")) &&
			peel_is_dotted(str_head(str_skip(s, at), s.n - at - 1));
	}
	return layout_most(hits, nr, 80);
}

/* strace's "= 0 <0.000421>" */
static bool end_in_duration(const struct str *lines, size_t nr)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++) {
		struct str s = lines[i], text;
		size_t at = s.n;

		while (at && s.p[at - 1] != '<')
			at--;
		text = str_head(str_skip(s, at), s.n ? s.n - at - 1 : 0);
		hits += at && str_ends(s, STR(">")) && str_find_char(text, '.') < text.n &&
			layout_duration(text, 1) >= 0;
	}
	return layout_most(hits, nr, 60);
}

void peel_after(struct peel *p, struct str *lines, size_t nr)
{
	static const char marks[] = " \t]):;|,->";

	if (!(p->has & HAS_LOGGER))
		p->ends_in_logger = end_in_logger(lines, nr);
	if (p->ends_in_logger)
		p->has |= HAS_LOGGER;
	p->ends_in_duration = end_in_duration(lines, nr);
	for (unsigned i = 0; i < STEPS_MAX && nr; i++) {
		bool apart = peel_separator(p, lines, &nr, marks);

		if (!peel_field(p, lines, &nr, peel_fields_behind) && !apart)
			return;
	}
}

/* The bracket or quote that opens right before the time, the same in most lines. */
static void cut_opening(struct str *lines, size_t nr, struct buf *opening)
{
	for (const char *c = "[(<\"'"; *c; c++) {
		size_t hits = 0;

		for (size_t i = 0; i < nr; i++)
			hits += lines[i].n && lines[i].p[lines[i].n - 1] == *c;
		if (!layout_most(hits, nr, 75))
			continue;
		for (size_t i = 0; i < nr; i++)
			if (lines[i].n && lines[i].p[lines[i].n - 1] == *c)
				lines[i].n--;
		buf_char(opening, *c);
		return;
	}
}

bool peel_before(struct peel *p, struct str *lines, size_t nr)
{
	static const char marks[] = " \t]):;|,->";
	struct buf opening = { 0 };
	size_t all = nr, begin = p->pattern.n, ended = 0;
	unsigned fields = 0;
	bool has_place;

	cut_opening(lines, nr, &opening);
	for (unsigned i = 0; i < STEPS_MAX && nr; i++) {
		bool apart = peel_separator(p, lines, &nr, marks);

		ended = 0;
		for (size_t k = 0; k < nr; k++)
			ended += !lines[k].n;
		if (layout_most(ended, all, 75))
			break;
		if (peel_field(p, lines, &nr, peel_fields_in_front))
			fields++;
		else if (!apart)
			break;
	}
	/* half a sentence in front is a sentence: the time has no place of its own */
	has_place = layout_most(ended, all, 75) && fields <= FRONT_MAX;
	if (!has_place) {
		p->pattern.n = begin;
		p->has = 0;
	} else {
		add_literal(&p->pattern, buf_str(&opening));
	}
	buf_done(&opening);
	return has_place;
}
