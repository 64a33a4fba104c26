#include "capture/jvm/carriers.h"

#include "base/buf.h"
#include "base/str.h"
#include "query/tracepoint.h"

#include "capture/carrier_sets.inc"

#define WORDS 8

static size_t words_take(struct str line, struct str *words)
{
	size_t nr = 0;

	for (size_t i = 0; i < WORDS; i++)
		words[i] = (struct str){ 0 };
	line = str_trim(str_head(line, str_find_char(line, '#')));
	while (line.n && nr < WORDS) {
		size_t n = 0;

		while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t')
			n++;
		words[nr] = str_head(line, n);
		/* these are for who reads the set: the last operand of some actions means that */
		if (!str_eq(words[nr], STR("unless")) && !str_eq(words[nr], STR("where")))
			nr++;
		line = str_trim(str_skip(line, n));
	}
	return nr;
}

/* "MOMENT CLASS.METHOD(TYPES) ACTION OPERAND…", or "call CLASS.METHOD in CLASS.METHOD ACTION". */
static void line_write(const struct str *w, struct buf *out)
{
	bool is_call = str_eq(w[0], STR("call"));
	const struct str *rest = is_call ? w + 3 : w + 1;
	size_t open = str_find_char(rest[0], '('), dot = open;
	struct str operand = is_call ? (struct str){ 0 } : rest[2];

	while (dot && rest[0].p[dot - 1] != '.')
		dot--;
	if (!dot || !rest[1].n)
		return;
	buf_fmt(out, "carry\t" STR_FMT "\t0\t" STR_FMT "\t" STR_FMT "\t" STR_FMT, STR_ARG(w[0]),
		STR_ARG(str_head(rest[0], dot - 1)),
		STR_ARG(str_head(str_skip(rest[0], dot), open - dot)),
		STR_ARG(str_skip(rest[0], open)));
	buf_fmt(out, "\t" STR_FMT "\t" STR_FMT "\t" STR_FMT "\t" STR_FMT "\n", STR_ARG(rest[1]),
		STR_ARG(operand), STR_ARG(is_call ? operand : rest[3]),
		STR_ARG(is_call ? w[1] : (struct str){ 0 }));
}

void carriers_write(struct buf *out, bool of_threads)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		struct str text = sets[i].text, line, words[WORDS];

		if (str_eq(str_of(sets[i].name), STR("virtual")) != of_threads)
			continue;
		while (str_take_until(&text, '\n', &line)) {
			size_t nr = words_take(line, words);

			if (nr >= 3)
				line_write(words, out);
			else if (nr == 2 && (str_eq(words[0], STR("load")) ||
					     str_eq(words[0], STR("mute"))))
				buf_fmt(out, STR_FMT "\t" STR_FMT "\n", STR_ARG(words[0]),
					STR_ARG(words[1]));
		}
	}
}
