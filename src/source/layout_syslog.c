/*
 * syslog of RFC 5424: <165>1 2003-10-11T22:14:15.003Z host app procid msgid [sd name="value"] msg.
 * That of RFC 3164 has no marks of its own and is learned like any text.
 */
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"

static const char nil[] = "-";

static struct str word_or_nothing(struct str word)
{
	return str_eq(word, str_of(nil)) ? (struct str){ 0 } : word;
}

/* name="value", eaten from the front. What stands under an id that its maker registered, as
 * "id@number" says, may name what the line is about; others tell of the logging itself. */
static bool take_param(struct str *s, struct str id, struct layout_said *said,
		       struct layout_worker *worker)
{
	struct str name, value = { 0 };
	enum layout_meaning means;
	uint8_t rank;

	if (!str_take_until(s, '=', &name) || !str_take_char(s, '"'))
		return false;
	while (value.n < s->n && s->p[value.n] != '"')
		value.n += s->p[value.n] == '\\' ? 2 : 1;
	value = str_head(*s, value.n);
	means = layout_meaning_of(name, &rank);
	if (means == MEANS_TRACE || means == MEANS_SPAN || means == MEANS_REQUEST)
		layout_say(said, means, rank, value);
	if (str_find_char(id, '@') < id.n)
		layout_pair(worker, means, name, value);
	*s = str_skip(*s, value.n + 1);
	return true;
}

/* [id name="value" …][id …] or - */
static bool take_structured(struct str *s, struct layout_said *said, struct layout_worker *worker)
{
	struct str rest = *s;

	if (str_take_char(&rest, '-')) {
		*s = rest;
		return true;
	}
	if (!rest.n || rest.p[0] != '[')
		return false;
	while (str_take_char(&rest, '[')) {
		struct str id;
		size_t n = 0;

		while (n < rest.n && rest.p[n] != ' ' && rest.p[n] != ']')
			n++;
		id = str_head(rest, n);
		rest = str_skip(rest, n);
		while (str_take_char(&rest, ' '))
			if (!take_param(&rest, id, said, worker))
				return false;
		if (!str_take_char(&rest, ']'))
			return false;
	}
	*s = rest;
	return true;
}

static int syslog_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_said said = { 0 };
	struct str words[5];
	uint64_t priority, version;

	if (!str_take_char(&line, '<') || !str_take_uint(&line, &priority) || priority > 191 ||
	    !str_take_char(&line, '>') || !str_take_uint(&line, &version) || version > 9)
		return 0;
	for (unsigned i = 0; i < 5; i++) {
		if (!str_take_word(&line, &words[i]))
			return 0;
		words[i] = word_or_nothing(words[i]);
	}
	layout_say(&said, MEANS_TIME, 0, words[0]);
	layout_say(&said, MEANS_HOST, 0, words[1]);
	layout_say(&said, MEANS_PROGRAM, 0, words[2]);
	layout_say(&said, MEANS_PID, 0, words[3]);
	layout_say(&said, MEANS_LEVEL_SYSLOG, 0, arena_fmt(arena, "%u", (unsigned)(priority % 8)));
	str_take_spaces(&line);
	buf_clear(&worker->pairs);
	take_structured(&line, &said, worker);
	str_take_spaces(&line);
	str_take(&line, STR("\xef\xbb\xbf"));
	said.value[MEANS_MESSAGE] = line;
	if (!layout_said_event(&said, layout, worker, arena, ev, losses))
		return 0;
	layout_pairs_end(worker, arena);
	return 1;
}

static bool syslog_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t hits = 0;

	for (size_t i = 0; i < sample->nr; i++)
		hits += syslog_parse(layout, worker, sample->lines[i], &arena, &ev, &losses) == 1;
	arena_done(&arena);
	layout_worker_free(worker);
	return layout_most(hits, sample->nr, 40);
}

const struct layout_kind layout_syslog = {
	.name = "syslog",
	.learn = syslog_learn,
	.parse = syslog_parse,
};
