/*
 * Access logs of web servers, in all the shapes that have a time in brackets and a request in
 * quotes:
 *
 *	[vhost] client ident user [time] "GET /path HTTP/1.1" status bytes "referer" "agent" more…
 *
 * What follows the bytes differs from site to site; the sample tells whether a duration is there:
 * "0.004" are nginx's seconds, "rt=0.004" names itself, a whole number at the end is Apache's %D
 * (microseconds) or Tomcat's (milliseconds, when some are too few to be microseconds), and of four
 * numbers before a quote the third is that of Envoy and S3, whose fourth is a part of it.
 */
#include <ctype.h>

#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"
#include "source/layout_said.h"

#define WORDS_MAX 24
#define BETWEEN_MAX 400
#define LEAST_US 30 /* no server answers in less */

struct access {
	struct layout_time time;
	int duration_word; /* of the words behind the request, or -1 */
	int64_t unit_ns;
	int id_word; /* which names the request; 0 for none */
	bool has_vhost;
	bool time_is_start; /* Apache notes when the request came, nginx when it was done */
};

struct parts {
	struct str client, vhost, request;
	struct str words[WORDS_MAX]; /* status, bytes, … without their quotes */
	bool quoted[WORDS_MAX];
	int nr_words;
	struct layout_stamp stamp;
	struct str tail;
};

static void take_words(struct str s, struct parts *p)
{
	p->nr_words = 0;
	p->tail = s;
	while (p->nr_words < WORDS_MAX) {
		struct str word;
		size_t i = 0;

		str_take_spaces(&s);
		if (!s.n)
			return;
		p->quoted[p->nr_words] = s.p[0] == '"';
		if (str_take_char(&s, '"')) {
			while (i < s.n && s.p[i] != '"')
				i += s.p[i] == '\\' ? 2 : 1;
			word = str_head(s, i);
			s = str_skip(s, i + 1);
		} else if (!str_take_word(&s, &word)) {
			return;
		}
		p->words[p->nr_words++] = word;
	}
}

/* S3 names client, request and operation between the time and the request. */
static bool take_to_quote(struct str *s)
{
	size_t at = str_find_char(*s, '"');

	if (at == s->n || at > BETWEEN_MAX)
		return false;
	*s = str_skip(*s, at + 1);
	return true;
}

/* [time] "request" words…; the time in the format given, or any when it is NULL */
static bool take_parts(struct str line, const struct layout_time *format,
		       const struct layout_times *times, struct layout_clock *clock,
		       struct parts *p, const struct layout_time **found)
{
	struct str before, rest = line, word;
	size_t n, i = 0;

	if (!str_take_until(&rest, '[', &before) || before.n > 300)
		return false;
	if (!format)
		format = layout_times_match(times, rest, 0, &n);
	if (!format || !layout_time_take(format, clock, &rest, &p->stamp) ||
	    !str_take_char(&rest, ']') || !str_take_char(&rest, ' ') || !take_to_quote(&rest))
		return false;
	while (i < rest.n && rest.p[i] != '"')
		i += rest.p[i] == '\\' ? 2 : 1;
	if (i >= rest.n)
		return false;
	p->request = str_head(rest, i);
	take_words(str_skip(rest, i + 1), p);
	p->client = p->vhost = (struct str){ 0 };
	if (str_take_word(&before, &word)) {
		p->client = word;
		if (str_take_word(&before, &word) && !str_eq(word, STR("-"))) {
			p->vhost = p->client;
			p->client = word;
		}
	}
	if (found)
		*found = format;
	return p->nr_words >= 1;
}

static bool is_status(struct str s)
{
	uint64_t v;

	return s.n == 3 && str_take_uint(&s, &v) && !s.n && v >= 100 && v < 600;
}

/* "0.004", "0.004," and the like */
static bool is_seconds(struct str s)
{
	size_t dot = str_find_char(s, '.');

	if (!dot || dot + 1 >= s.n || dot > 6)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (i != dot && !isdigit((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool is_whole(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return s.n && s.n <= 12;
}

static enum layout_meaning named_word(struct str word, struct str *value)
{
	size_t at = str_find_char(word, '=');
	uint8_t rank;

	if (at == word.n)
		at = str_find_char(word, ':');
	if (at == word.n)
		return MEANS_NOTHING;
	*value = str_skip(word, at + 1);
	if (str_eq(str_head(word, at), STR("rt")))
		return MEANS_DURATION_S;
	return layout_meaning_of(str_head(word, at), &rank);
}

/* How many of the sample have a duration in this word, written in seconds or whole. */
static size_t count_durations(const struct parts *p, size_t nr, int word, bool whole)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++) {
		int w = word < 0 ? p[i].nr_words + word : word;

		if (w < 2 || w >= p[i].nr_words)
			continue;
		hits += whole ? !p[i].quoted[w] && is_whole(p[i].words[w])
			      : is_seconds(p[i].words[w]);
	}
	return hits;
}

/* Four numbers in front of a quote, the last of which may be missing: where the third is, or 0. */
static int third_of_four(const struct parts *p)
{
	for (int i = 1, run = 0; i < p->nr_words; i++) {
		bool number = !p->quoted[i] && (is_whole(p->words[i]) ||
						(run == 3 && str_eq(p->words[i], STR("-"))));

		if (p->quoted[i] && run >= 4)
			return i - 2;
		run = number ? run + 1 : 0;
	}
	return 0;
}

static size_t count_third(const struct parts *p, size_t nr, int word)
{
	size_t hits = 0;

	for (size_t i = 0; i < nr; i++)
		hits += third_of_four(&p[i]) == word;
	return hits;
}

/* Whether one of these is too small for microseconds. */
static bool has_small(const struct parts *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct str s = p[i].words[p[i].nr_words - 1];
		uint64_t v;

		if (str_take_uint(&s, &v) && !s.n && v < LEAST_US)
			return true;
	}
	return false;
}

/* "12ms" */
static bool has_unit(struct str s)
{
	return s.n && isdigit((unsigned char)s.p[0]) && isalpha((unsigned char)s.p[s.n - 1]) &&
	       layout_duration(s, 1) >= 0;
}

static bool is_id(struct str s)
{
	size_t hex = 0, dashes = 0;

	for (size_t i = 0; i < s.n; i++) {
		hex += isxdigit((unsigned char)s.p[i]) != 0;
		dashes += s.p[i] == '-';
	}
	return hex == 32 && ((s.n == 36 && dashes == 4) || s.n == 32);
}

static void learn_id(struct access *a, const struct parts *parts, size_t nr)
{
	for (int word = 2; word < WORDS_MAX && !a->id_word; word++) {
		size_t hits = 0;

		for (size_t i = 0; i < nr; i++)
			hits += word < parts[i].nr_words && is_id(parts[i].words[word]);
		if (layout_most(hits, nr, 80))
			a->id_word = word;
	}
}

/* A word in the middle or at the end that has the third place of four, or a unit. */
static bool learn_told(struct access *a, const struct parts *parts, size_t nr)
{
	size_t units = 0;

	a->time_is_start = true;
	for (int word = 3; word < WORDS_MAX; word++)
		if (layout_most(count_third(parts, nr, word), nr, 80)) {
			a->duration_word = word;
			a->unit_ns = NS_MS;
			return true;
		}
	for (size_t i = 0; i < nr; i++)
		units += parts[i].nr_words > 2 && has_unit(parts[i].words[parts[i].nr_words - 1]);
	if (layout_most(units, nr, 80)) {
		a->duration_word = -1;
		a->unit_ns = NS_MS;
		return true;
	}
	a->time_is_start = false;
	return false;
}

static void learn_duration(struct access *a, const struct parts *parts, size_t nr)
{
	a->duration_word = 0;
	a->unit_ns = 0;
	for (int word = 2; word < WORDS_MAX; word++)
		if (layout_most(count_durations(parts, nr, word, false), nr, 80)) {
			a->duration_word = word;
			a->unit_ns = NS_S;
			return;
		}
	if (learn_told(a, parts, nr))
		return;
	/* behind the bytes, the last word of the line or the first one */
	if (layout_most(count_durations(parts, nr, -1, true), nr, 80)) {
		a->duration_word = -1;
		a->unit_ns = has_small(parts, nr) ? NS_MS : NS_US;
		a->time_is_start = true;
	}
}

static bool access_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct access *a = arena_new(&layout->arena, struct access);
	const struct layout_time *format = NULL;
	struct arena arena = { 0 };
	struct parts *parts = arena_array(&arena, struct parts, sample->nr + 1);
	size_t nr = 0, vhosts = 0, statuses = 0;

	for (size_t i = 0; i < sample->nr; i++)
		if (take_parts(sample->lines[i], nr ? format : NULL, layout->times, NULL,
			       &parts[nr], &format)) {
			statuses += is_status(parts[nr].words[0]);
			vhosts += parts[nr].vhost.n > 0;
			nr++;
		}
	if (format && layout_most(nr, sample->nr, 50) && layout_most(statuses, nr, 60)) {
		a->time = *format;
		a->has_vhost = layout_most(vhosts, nr, 80);
		learn_duration(a, parts, nr);
		learn_id(a, parts, nr);
		layout->own = a;
		buf_add(&layout->pattern, STR("%h %l %u [%d{"));
		layout_time_text(&a->time, &layout->pattern);
		buf_add(&layout->pattern, STR("}] \"%r\" %s %b"));
		if (a->unit_ns)
			buf_add(&layout->pattern, a->unit_ns == NS_S ? STR(" … %T") : STR(" … %D"));
	}
	arena_done(&arena);
	return layout->own != NULL;
}

static int64_t duration_of(const struct access *a, const struct parts *p)
{
	int word = a->duration_word < 0 ? p->nr_words - 1 : a->duration_word;

	if (a->unit_ns && word >= 2 && word < p->nr_words)
		return layout_duration(p->words[word], a->unit_ns);
	for (int i = 2; i < p->nr_words; i++) {
		struct str value;
		enum layout_meaning means = named_word(p->words[i], &value);

		if (means == MEANS_DURATION_S || means == MEANS_DURATION)
			return layout_duration(value, NS_S);
		if (means == MEANS_DURATION_MS || means == MEANS_DURATION_US)
			return layout_duration(value, means == MEANS_DURATION_MS ? NS_MS : NS_US);
	}
	return -1;
}

/* Who asked for what; amounts and browsers name nothing. */
static void name_parts(struct layout_worker *worker, const struct parts *p, struct arena *arena)
{
	struct str request = p->request, method, path;

	buf_clear(&worker->pairs);
	layout_pair(worker, MEANS_NOTHING, STR("client"), p->client);
	if (str_take_word(&request, &method) && str_take_word(&request, &path))
		layout_pair(worker, MEANS_PATH, method, path);
	layout_pairs_end(worker, arena);
}

static int access_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			struct arena *arena, struct event *ev, struct losses *losses)
{
	const struct access *a = layout->own;
	struct parts p;

	if (!take_parts(line, &a->time, layout->times, &worker->clock, &p, NULL))
		return 0;
	layout_event_begin(layout, ev);
	ev->ns = layout_ns(layout, worker, &p.stamp, losses);
	ev->duration = duration_of(a, &p);
	if (ev->duration >= 0 && a->time_is_start)
		ev->ns += ev->duration;
	if (is_status(p.words[0]) && p.words[0].p[0] == '5')
		ev->level = LEVEL_ERROR;
	if (a->has_vhost)
		ev->node = p.vhost;
	if (a->id_word && a->id_word < p.nr_words && is_id(p.words[a->id_word])) {
		ev->key_kind = KEY_REQUEST;
		ev->key = p.words[a->id_word];
	}
	layout_event_finish(worker, ev, p.tail, arena);
	name_parts(worker, &p, arena);
	if (ev->duration >= 0 || ev->key_kind != KEY_NONE)
		ev->title = layout_route(arena, (struct str){ 0 }, p.request);
	return 1;
}

const struct layout_kind layout_access = {
	.name = "access",
	.learn = access_learn,
	.parse = access_parse,
};
