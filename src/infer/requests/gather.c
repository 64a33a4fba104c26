#include "infer/requests/gather.h"

#include <stdio.h>

#include "base/time.h"
#include "infer/requests/sight.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

enum {
	NAMES_MAX = 200,
};

void gather_done(struct gather *g)
{
	vec_done(&g->lines);
	vec_done(&g->named);
	vec_done(&g->kind_of);
	vec_done(&g->statement);
	vec_done(&g->type_of);
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
	*g = (struct gather){ 0 };
}

uint32_t gather_thing(struct gather *g, struct str name, uint64_t hash)
{
	sym_t thing = names_add_hashed(&g->things, name, hash);

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
			vec_push(&g->file_names,
				 gather_thing(g, (struct str){ both, (size_t)n }, t.v[i].hash));
	}
}

sym_t gather_log(struct gather *g, struct str log)
{
	sym_t sym = names_add(&g->logs, log);

	if (sym + 1u < g->file_at.nr)
		return sym;
	while (g->file_at.nr <= sym)
		vec_push(&g->file_at, (uint32_t)g->file_names.nr);
	name_log(g, log);
	vec_push(&g->file_at, (uint32_t)g->file_names.nr);
	return sym;
}

void gather_file(struct gather *g, uint32_t file, struct str log)
{
	sym_t sym = gather_log(g, log);

	while (g->log_of.nr <= file)
		vec_push(&g->log_of, 0);
	g->log_of.v[file] = sym;
}

/* Whether the line names a number that two ends have agreed on. */
static bool is_message(const struct gather *g, const struct seen_line *l)
{
	for (unsigned i = 0; i < l->nr_own; i++)
		if (names_str(&g->kinds, g->kind_of.v[g->named.v[l->name_at + i]]).p[0] == '@')
			return true;
	return false;
}

static uint32_t type_called(struct gather *g, const struct event *ev, const char *text, int n)
{
	sym_t type = names_add(&g->types, (struct str){ text, (size_t)n });

	while (g->statement.nr <= type)
		vec_push(&g->statement, ev->statement);
	return type;
}

/* Nearly all lines of a program that is known: no text is made to find it again. */
static uint32_t type_of_statement(struct gather *g, const struct event *ev)
{
	uint32_t at = ev->statement;
	char text[16];

	while (g->type_of.nr <= at)
		vec_push(&g->type_of, 0);
	if (!g->type_of.v[at])
		g->type_of.v[at] = type_called(g, ev, text, snprintf(text, sizeof(text), "%u", at));
	return g->type_of.v[at];
}

/* A statement of a program that is known, or else the logger and the text without what varies. One
 * statement sends messages of many sorts, which its text tells apart. */
static uint32_t type_of(struct gather *g, const struct event *ev, const struct seen_line *l,
			struct str shape)
{
	char text[512];
	int n;

	if (ev->statement && (!shape.n || !is_message(g, l)))
		return type_of_statement(g, ev);
	n = ev->statement
		    ? snprintf(text, sizeof(text), "%u|" STR_FMT, ev->statement, STR_ARG(shape))
		    : snprintf(text, sizeof(text), STR_FMT "|" STR_FMT,
			       STR_ARG(str_head(ev->point, 200)), STR_ARG(shape));
	return type_called(g, ev, text, n);
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

static bool is_word(struct str name)
{
	return name.n > 1 && name.p[0] == TOKENS_WORD[0] && name.p[1] == SIGHT_SEPARATOR;
}

static void push_names(struct gather *g, struct seen_line *l, struct sight *s)
{
	uint32_t words[SIGHT_WORDS];
	struct str name;

	for (uint64_t i = 0; sight_next(s, &name); i++) {
		if (i == s->nr_own)
			l->nr_own = l->nr_names;
		if (!is_word(name))
			push_name(g, l, gather_thing(g, name, s->hash));
		else if (l->nr_words < SIGHT_WORDS)
			words[l->nr_words++] = gather_thing(g, name, s->hash);
	}
	if (!s->nr_thread)
		l->nr_own = l->nr_names;
	if (l->file + 1 < g->file_at.nr)
		for (uint32_t i = g->file_at.v[l->file]; i < g->file_at.v[l->file + 1]; i++)
			push_name(g, l, g->file_names.v[i]);
	for (unsigned i = 0; i < l->nr_words; i++)
		vec_push(&g->named, words[i]);
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
		l.name_at = (uint32_t)g->named.nr;
		l.level = (uint8_t)ev[i].level;
		l.is_keyed = says_enough(&ev[i]);
		l.is_request = ev[i].key_kind == KEY_REQUEST;
		push_names(g, &l, &s);
		l.type = type_of(g, &ev[i], &l, s.shape);
		g->nr_cut += (s.flags & SIGHT_CUT) || l.nr_names == NAMES_MAX;
		g->nr_lacking += (s.flags & SIGHT_LACKS_WORDS) != 0;
		vec_push(&g->lines, l);
	}
}

void gather_doubt_keys(struct gather *g)
{
	vec_each (&g->lines, l)
		if (l->is_request)
			l->is_keyed = false;
}

void gather_date(struct gather *g)
{
	int64_t first = INT64_MAX, next = INT64_MAX;

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
}

void gather_map_done(struct gather_map *m)
{
	vec_done(&m->things);
	vec_done(&m->nodes);
	vec_done(&m->threads);
	vec_done(&m->types);
	vec_done(&m->logs);
}

/* Where the number of such a name stands in the map; 0 there: it is not known yet. */
static uint32_t *mapped(struct gather_numbers *m, uint32_t sym)
{
	while (m->nr <= sym)
		vec_push(m, 0);
	return &m->v[sym];
}

static uint32_t take_name(struct names *to, const struct names *from, struct gather_numbers *m,
			  uint32_t sym)
{
	uint32_t *at = mapped(m, sym);

	if (!*at)
		*at = 1 + names_add(to, names_str(from, sym));
	return *at - 1;
}

static uint32_t take_type(struct gather *to, const struct gather *from, struct gather_map *m,
			  uint32_t type)
{
	uint32_t taken = take_name(&to->types, &from->types, &m->types, type);

	while (to->statement.nr <= taken)
		vec_push(&to->statement, from->statement.v[type]);
	return taken;
}

static uint32_t take_thing(struct gather *to, const struct gather *from, struct gather_map *m,
			   uint32_t thing)
{
	uint32_t *at = mapped(&m->things, thing);

	if (!*at)
		*at = 1 +
		      gather_thing(to, names_str(&from->things, thing), from->things.hash[thing]);
	return *at - 1;
}

void gather_take(struct gather *to, const struct gather *from, struct gather_map *m,
		 const struct seen_line *line)
{
	struct seen_line l = *line;
	uint32_t *log = mapped(&m->logs, l.file);

	if (!*log)
		*log = 1 + gather_log(to, names_str(&from->logs, l.file));
	l.file = *log - 1;
	l.node = take_name(&to->nodes, &from->nodes, &m->nodes, l.node);
	l.thread = take_name(&to->threads, &from->threads, &m->threads, l.thread);
	l.type = take_type(to, from, m, l.type);
	l.name_at = (uint32_t)to->named.nr;
	for (unsigned i = 0; i < l.nr_names + (unsigned)l.nr_words; i++)
		vec_push(&to->named, take_thing(to, from, m, from->named.v[line->name_at + i]));
	vec_push(&to->lines, l);
}
