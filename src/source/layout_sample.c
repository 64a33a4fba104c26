#include "source/layout_sample.h"

#include <ctype.h>

#include "base/arena.h"
#include "source/layout_kind.h"

static size_t count_lines(struct str head)
{
	struct str line;
	size_t nr = 0;

	while (str_take_line(&head, &line))
		nr++;
	return nr;
}

void layout_sample_take(struct layout_sample *sample, struct str head, struct arena *arena)
{
	size_t nr = count_lines(head), near = LAYOUT_SAMPLE_LINES / 2, i = 0, step;
	struct str line;

	/* the last line is likely to be cut where the head ends */
	if (nr > 1 && head.n && head.p[head.n - 1] != '\n')
		nr--;
	step = nr > LAYOUT_SAMPLE_LINES ? (nr - near) / near + 1 : 1;
	*sample = (struct layout_sample){
		.lines = arena_array(arena, struct str, LAYOUT_SAMPLE_LINES + 1),
	};
	str_take(&head, STR("\xef\xbb\xbf"));
	for (; i < nr && sample->nr < LAYOUT_SAMPLE_LINES && str_take_line(&head, &line); i++) {
		if (i >= near && (i - near) % step)
			continue;
		line = layout_plain(str_head(line, 64 << 10), arena);
		if (str_trim(line).n)
			sample->lines[sample->nr++] = line;
	}
}

/* ESC [ … letter, ESC ] … BEL, or ESC and one byte */
static size_t escape_bytes(struct str s)
{
	size_t n = 2;

	if (s.n < 2)
		return s.n;
	if (s.p[1] == '[') {
		while (n < s.n && (s.p[n] < '@' || s.p[n] > '~'))
			n++;
		return n < s.n ? n + 1 : n;
	}
	if (s.p[1] == ']') {
		while (n < s.n && s.p[n] != '\a' && s.p[n] != '\x1b')
			n++;
		return n < s.n && s.p[n] == '\a' ? n + 1 : n;
	}
	return n;
}

struct str layout_plain(struct str text, struct arena *arena)
{
	size_t n = 0;
	char *p;

	if (str_find_char(text, '\x1b') == text.n)
		return text;
	p = arena_alloc(arena, text.n);
	while (text.n) {
		size_t run = str_find_char(text, '\x1b');

		memcpy(p + n, text.p, run);
		n += run;
		text = str_skip(text, run);
		if (text.n)
			text = str_skip(text, escape_bytes(text));
	}
	return (struct str){ p, n };
}

bool layout_is_continuation(struct str line)
{
	static const char *const begins[] = { "Caused by:", "Suppressed:", "... ", "at ",
					      "Traceback ", "--> ",        "}",    ")" };

	if (!line.n || line.p[0] == ' ' || line.p[0] == '\t')
		return true;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (str_starts(line, str_of(begins[i])))
			return true;
	return false;
}
