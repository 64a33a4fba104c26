#include "infer/requests/gather.h"

#include <stdio.h>

#include "base/time.h"
#include "infer/requests/clocks.h"
#include "infer/requests/sight.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

enum {
	NAMES_MAX = 200,
	FEW = 20, /* one in so many lines, at least, carries a request id where there are such */
};

void gather_done(struct gather *g)
{
	vec_done(&g->lines);
	vec_done(&g->named);
	vec_done(&g->kind_of);
	vec_done(&g->statement);
	vec_done(&g->shift);
	vec_done(&g->shift_things);
	vec_done(&g->log_of);
	names_done(&g->logs);
	vec_done(&g->file_at);
	vec_done(&g->file_names);
	names_done(&g->things);
	names_done(&g->kinds);
	names_done(&g->nodes);
	names_done(&g->threads);
	names_done(&g->types);
}

static uint32_t thing_of(struct gather *g, struct str name)
{
	sym_t thing = names_add(&g->things, name);

	while (g->kind_of.nr <= thing) {
		size_t at = str_find_char(name, SIGHT_SEPARATOR);

		vec_push(&g->kind_of, names_add(&g->kinds, str_head(name, at)));
	}
	return thing;
}

struct str gather_value(const struct gather *g, uint32_t thing)
{
	struct str name = names_str(&g->things, thing);

	return str_skip(name, str_find_char(name, SIGHT_SEPARATOR) + 1);
}

/* What the name of a log names holds for all of its lines. */
static void name_log(struct gather *g, struct str log)
{
	struct tokens t;

	tokens_find(&t, log);
	for (unsigned i = 0; i < t.nr; i++) {
		char both[512];
		int n = snprintf(both, sizeof(both), STR_FMT "%c" STR_FMT, STR_ARG(t.v[i].kind),
				 SIGHT_SEPARATOR, STR_ARG(t.v[i].value));

		if (n > 0 && (size_t)n < sizeof(both) && !str_starts(t.v[i].kind, STR("path")))
			vec_push(&g->file_names, thing_of(g, (struct str){ both, (size_t)n }));
	}
}

void gather_file(struct gather *g, uint32_t file, struct str log)
{
	sym_t sym = names_add(&g->logs, log);

	while (g->file_at.nr <= sym + 1u)
		vec_push(&g->file_at, (uint32_t)g->file_names.nr);
	if (g->file_at.v[sym] == g->file_at.v[sym + 1] && sym + 2u == g->file_at.nr) {
		name_log(g, log);
		g->file_at.v[sym + 1] = (uint32_t)g->file_names.nr;
	}
	while (g->log_of.nr <= file)
		vec_push(&g->log_of, 0);
	g->log_of.v[file] = sym;
}

/* A statement of a program that is known, or else the logger and the text without what varies. */
static uint32_t type_of(struct gather *g, const struct event *ev, struct str shape)
{
	char text[512];
	int n = ev->statement ? snprintf(text, sizeof(text), "%u", ev->statement)
			      : snprintf(text, sizeof(text), STR_FMT "|" STR_FMT,
					 STR_ARG(str_head(ev->point, 200)), STR_ARG(shape));
	sym_t type = names_add(&g->types, (struct str){ text, (size_t)n });

	while (g->statement.nr <= type)
		vec_push(&g->statement, ev->statement);
	return type;
}

static void push_name(struct gather *g, struct seen_line *l, uint32_t thing)
{
	for (size_t i = l->name_at; i < g->named.nr; i++)
		if (g->named.v[i] == thing)
			return;
	if (l->nr_names == NAMES_MAX)
		return;
	vec_push(&g->named, thing);
	l->nr_names++;
}

static void push_names(struct gather *g, struct seen_line *l, struct sight *s)
{
	struct str name;

	for (uint64_t i = 0; sight_next(s, &name); i++) {
		if (i == s->nr_own)
			l->nr_own = l->nr_names;
		push_name(g, l, thing_of(g, name));
	}
	if (!s->nr_thread)
		l->nr_own = l->nr_names;
	if (l->file + 1 < g->file_at.nr)
		for (uint32_t i = g->file_at.v[l->file]; i < g->file_at.v[l->file + 1]; i++)
			push_name(g, l, g->file_names.v[i]);
}

/* It names its request, or is one by itself: a line of an access log. */
static bool says_enough(const struct event *ev)
{
	return ev->key_kind > KEY_WORK || (ev->duration >= 0 && !ev->thread.n);
}

void gather_events(struct gather *g, const struct event *ev, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct seen_line l = { .event = g->nr_events++ };
		struct sight s;

		/* of text without a time the place alone may be known */
		if (ev[i].kind != EVENT_LOG ||
		    (!sight_open(&s, ev[i].values) && ev[i].ns != NS_NONE))
			continue;
		l.ns = ev[i].ns;
		l.spent = ev[i].duration > 0 ? ev[i].duration : 0;
		l.is_undated = ev[i].ns == NS_NONE;
		l.file = ev[i].file < g->log_of.nr ? g->log_of.v[ev[i].file] : 0;
		l.node = names_add(&g->nodes, ev[i].node);
		l.thread = names_add(&g->threads, ev[i].thread);
		l.type = type_of(g, &ev[i], s.shape);
		l.name_at = (uint32_t)g->named.nr;
		l.level = (uint8_t)ev[i].level;
		l.is_keyed = says_enough(&ev[i]);
		l.is_request = ev[i].key_kind == KEY_REQUEST;
		g->nr_keyed += l.is_keyed;
		g->nr_requests += l.is_request;
		push_names(g, &l, &s);
		g->nr_cut += s.is_cut || l.nr_names == NAMES_MAX;
		vec_push(&g->lines, l);
	}
}

/* Few request ids among many lines are other numbers. */
static void doubt_keys(struct gather *g)
{
	if (!g->nr_requests || g->nr_requests * FEW >= g->lines.nr)
		return;
	vec_each (&g->lines, l)
		if (l->is_request)
			l->is_keyed = false;
	g->nr_keyed -= g->nr_requests;
	g->nr_requests = 0;
}

void gather_date(struct gather *g)
{
	int64_t first = INT64_MAX, next = INT64_MAX;

	doubt_keys(g);
	vec_each (&g->lines, l)
		if (!l->is_undated && l->ns < first)
			first = l->ns;
	for (size_t i = g->lines.nr; i-- > 0;) {
		struct seen_line *l = &g->lines.v[i];

		if (i + 1 < g->lines.nr && l->file != l[1].file)
			next = INT64_MAX;
		if (!l->is_undated)
			next = l->ns;
		else
			l->ns = next != INT64_MAX ? next : first != INT64_MAX ? first : 0;
	}
	clocks_align(g);
}
