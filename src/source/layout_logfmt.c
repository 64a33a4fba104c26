/* logfmt: key=value key="quoted value" … */
#include "source/layout_logfmt.h"

#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_names.h"
#include "source/layout_said.h"

/* A quoted value without its escapes; most have none and are borrowed. */
static struct str unescape(struct str s, struct arena *arena)
{
	size_t n = 0;
	char *p;

	if (str_find_char(s, '\\') == s.n)
		return s;
	p = arena_alloc(arena, s.n);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n) {
			i++;
			p[n++] = s.p[i] == 'n' ? '\n' : s.p[i] == 't' ? '\t' : s.p[i];
		} else {
			p[n++] = s.p[i];
		}
	}
	return (struct str){ p, n };
}

static const bool in_key[256] = {
	['0' ... '9'] = true, ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['_'] = true,
	['.'] = true,         ['-'] = true,         ['@'] = true,         ['/'] = true,
};

bool layout_logfmt_take(struct str *s, struct arena *arena, struct str *key, struct str *value)
{
	struct str rest = *s;
	size_t n = 0;

	str_take_spaces(&rest);
	while (n < rest.n && in_key[(unsigned char)rest.p[n]])
		n++;
	*key = str_head(rest, n);
	rest = str_skip(rest, n);
	if (!n || !str_take_char(&rest, '='))
		return false;
	if (str_take_char(&rest, '"')) {
		size_t i = 0;

		while (i < rest.n && rest.p[i] != '"')
			i += rest.p[i] == '\\' ? 2 : 1;
		if (i > rest.n)
			i = rest.n;
		*value = unescape(str_head(rest, i), arena);
		*s = str_skip(rest, i + 1);
		return true;
	}
	n = str_find_char(rest, ' ');
	*value = str_head(rest, n);
	*s = str_skip(rest, n);
	return true;
}

static int logfmt_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_said said = { 0 };
	struct str key, value, word;

	buf_clear(&worker->pairs);
	while (line.n) {
		uint8_t rank;
		enum layout_meaning means;

		if (!layout_logfmt_take(&line, arena, &key, &value)) {
			if (!str_take_word(&line, &word))
				break;
			continue;
		}
		means = layout_names_find(&worker->names, key, &rank);
		if (means != MEANS_NOTHING)
			layout_say(&said, means, rank, value);
		layout_pair(worker, means, key, value);
	}
	if (!said.value[MEANS_TIME].n ||
	    !layout_said_event(&said, layout, worker, arena, ev, losses))
		return 0;
	layout_pairs_end(worker, arena);
	return 1;
}

static bool begins_with_pair(struct str line, struct arena *arena)
{
	struct str key, value;

	return layout_logfmt_take(&line, arena, &key, &value) &&
	       layout_logfmt_take(&line, arena, &key, &value);
}

static bool logfmt_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t hits = 0;

	for (size_t i = 0; i < sample->nr; i++)
		hits += begins_with_pair(sample->lines[i], &arena) &&
			logfmt_parse(layout, worker, sample->lines[i], &arena, &ev, &losses) == 1;
	arena_done(&arena);
	layout_worker_free(worker);
	return layout_most(hits, sample->nr, 50);
}

const struct layout_kind layout_logfmt = {
	.name = "logfmt",
	.learn = logfmt_learn,
	.parse = logfmt_parse,
};
