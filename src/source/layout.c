#include "source/layout.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_fields.h"
#include "source/layout_kind.h"
#include "source/layout_known.h"
#include "source/layout_pattern.h"
#include "source/layout_said.h"
#include "source/layout_sample.h"
#include "source/layout_settle.h"
#include "source/layout_units.h"
#include "source/logid.h"
#include "source/request_line.h"
#include "source/spent.h"
#include "source/title.h"

/* The most telling first: what is learned from anything with a time comes last. */
static const struct layout_kind *const kinds[] = {
	&layout_docker, &layout_journal, &layout_json,    &layout_slow,
	&layout_table,  &layout_cri,     &layout_compose, &layout_syslog,
	&layout_access, &layout_logfmt,  &layout_learned,
};

static int given_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		       struct arena *arena, struct event *ev, struct losses *losses)
{
	return layout_fields_parse(layout->own, layout, worker, line, arena, ev, losses, NULL);
}

static const struct layout_kind layout_given = { .name = "pattern", .parse = given_parse };

static int zone_of(struct layout_zone *zone, struct str text, struct error *err)
{
	if (layout_zone_of(zone, text))
		return 0;
	return error_set(err, EINVAL, "'" STR_FMT "' is no zone: write it like +02:00 or UTC",
			 STR_ARG(text));
}

static struct layout *layout_new(const struct layout_zone *zone, int64_t mtime_ns, struct str node)
{
	struct layout *l = mem_zalloc(sizeof(*l));

	l->zone = *zone;
	l->fraction_ns = NS_S;
	l->whole_ns = NS_MS;
	l->mtime_ns = mtime_ns;
	l->node = arena_str(&l->arena, node);
	l->times = layout_times_new();
	return l;
}

void layout_free(struct layout *layout)
{
	if (!layout)
		return;
	if (layout->kind && layout->kind->done)
		layout->kind->done(layout);
	layout_times_free(layout->times);
	arena_done(&layout->arena);
	buf_done(&layout->pattern);
	free(layout);
}

/* Reads the sample once to see how often days or years begin anew in it. */
static void rehearse(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	int64_t *ns = mem_zalloc(mem_bytes(sample->nr + 1, sizeof(*ns)));
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t nr = 0;

	for (size_t i = 0; i < sample->nr; i++)
		if (layout_parse(layout, worker, sample->lines[i], &arena, &ev, &losses) == 1)
			ns[nr++] = ev.ns;
	layout_settle_learn(layout, ns, nr);
	arena_done(&arena);
	free(ns);
	layout_worker_free(worker);
}

static bool learn(struct layout *layout, const struct layout_sample *sample)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		buf_clear(&layout->pattern);
		layout->own = NULL;
		if (kinds[i]->learn(layout, sample)) {
			layout->kind = kinds[i];
			if (!layout->pattern.n)
				buf_add(&layout->pattern, str_of(kinds[i]->name));
			layout_units_learn(layout, sample);
			rehearse(layout, sample);
			return true;
		}
	}
	return false;
}

int layout_learn(struct layout **layout, struct str head, const struct layout_hints *hints,
		 struct error *err)
{
	struct arena arena = { 0 };
	struct layout_sample sample;
	struct layout_zone zone = { 0 };
	struct layout *l;
	int r = zone_of(&zone, hints->zone, err);

	if (r < 0)
		return r;
	l = layout_new(&zone, hints->mtime_ns, hints->node);
	l->is_bare = hints->is_bare;
	layout_sample_take(&sample, head, &arena);
	if (learn(l, &sample)) {
		*layout = l;
	} else {
		layout_free(l);
		r = error_set(err, ENOENT, "no line has a time: this is no log");
	}
	arena_done(&arena);
	return r;
}

struct layout *layout_learn_inner(const struct layout *outer, const struct layout_sample *sample)
{
	struct layout *l;

	if (sample->depth > 2 || !sample->nr)
		return NULL;
	l = layout_new(&outer->zone, outer->mtime_ns, outer->node);
	l->is_bare = outer->is_bare;
	if (learn(l, sample))
		return l;
	layout_free(l);
	return NULL;
}

int layout_compile(struct layout **layout, const char *pattern, const struct layout_hints *hints,
		   struct error *err)
{
	struct layout_zone zone = { 0 };
	struct layout_fields *fields;
	struct layout *l;
	int r = zone_of(&zone, hints->zone, err);

	if (r < 0)
		return r;
	l = layout_new(&zone, hints->mtime_ns, hints->node);
	l->is_bare = hints->is_bare;
	fields = arena_new(&l->arena, struct layout_fields);
	l->own = fields;
	l->kind = &layout_given;
	r = layout_pattern_compile(fields, str_of(pattern), &l->arena, err);
	if (r < 0) {
		layout_free(l);
		return r;
	}
	fields->is_strict = true;
	buf_add(&l->pattern, str_of(pattern));
	*layout = l;
	return 0;
}

const char *layout_name(const struct layout *layout)
{
	return layout->kind->name;
}

struct str layout_pattern(const struct layout *layout)
{
	return buf_str(&layout->pattern);
}

struct str layout_node(const struct layout *layout)
{
	return layout->node;
}

struct layout_worker *layout_worker_new(const struct layout *layout)
{
	struct layout_worker *worker = mem_zalloc(sizeof(*worker));

	worker->layout = layout;
	worker->said = &worker->text;
	worker->json = json_new();
	return worker;
}

void layout_worker_free(struct layout_worker *worker)
{
	if (!worker)
		return;
	for (size_t i = 0; i < LAYOUT_INNER_MAX; i++)
		layout_worker_free(worker->inner[i]);
	json_free(worker->json);
	layout_known_free(worker->known);
	buf_done(&worker->pairs);
	free(worker);
}

struct layout_worker *layout_worker_inner(struct layout_worker *worker, unsigned nr,
					  const struct layout *inner)
{
	if (!worker->inner[nr])
		worker->inner[nr] = layout_worker_new(inner);
	worker->inner[nr]->said = worker->said;
	return worker->inner[nr];
}

struct str layout_message(const struct layout_worker *worker)
{
	return worker->said->message;
}

struct str layout_naming(const struct layout_worker *worker)
{
	return worker->said->naming.n ? worker->said->naming : worker->said->message;
}

int layout_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		 struct arena *arena, struct event *ev, struct losses *losses)
{
	int begins;

	str_take(&line, STR("\xef\xbb\xbf"));
	while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\n'))
		line.n--;
	if (!line.n)
		return 0;
	if (memchr(line.p, '\x1b', line.n < 256 ? line.n : 256))
		line = layout_plain(line, arena);
	worker->bare = BARE_NOT;
	begins = layout->kind->parse(layout, worker, line, arena, ev, losses);
	losses->count[LOSS_UNITS_GUESSED] += begins == 1 && worker->bare != BARE_NOT;
	return begins;
}

bool layout_has_more(const struct layout *layout)
{
	return layout->kind->more != NULL;
}

void layout_more(const struct layout *layout, struct layout_worker *worker, struct str line,
		 struct arena *arena, struct event *ev, struct losses *losses)
{
	if (layout->kind->more)
		layout->kind->more(layout, worker, line, arena, ev, losses);
}

bool layout_shows_beginnings(const struct layout *layout)
{
	return !layout->kind->begins;
}

size_t layout_cut(const struct layout *layout, struct str bytes)
{
	size_t end = bytes.n;

	if (!layout->kind->begins)
		return bytes.n;
	/* from the last line backwards */
	while (end > 1) {
		const char *p = memrchr(bytes.p, '\n', end - 1);
		size_t start = p ? (size_t)(p - bytes.p) + 1 : 0;
		const char *q = start > 1 ? memrchr(bytes.p, '\n', start - 1) : NULL;
		size_t before = q ? (size_t)(q - bytes.p) + 1 : 0;

		if (start &&
		    layout->kind->begins(str_head(str_skip(bytes, start), end - start),
					 str_head(str_skip(bytes, before), start - before)))
			return start;
		end = start;
	}
	return bytes.n;
}

int64_t layout_ns(const struct layout *layout, struct layout_worker *worker,
		  const struct layout_stamp *stamp, struct losses *losses)
{
	return layout_time_ns(&worker->clock, &layout->zone, stamp, losses);
}

void layout_event_begin(const struct layout *layout, struct event *ev)
{
	const struct str none = { 0 };

	/* one by one: made for every line, and clearing the whole takes several times as long */
	ev->ns = NS_NONE;
	ev->kind = EVENT_LOG;
	ev->level = LEVEL_NONE;
	ev->file = 0;
	ev->nr_lines = 1;
	ev->line = ev->offset = ev->length = 0;
	ev->node = layout->node;
	ev->thread = none;
	ev->point = none;
	ev->key_kind = KEY_NONE;
	ev->key = none;
	ev->span = none;
	ev->title = none;
	ev->duration = -1;
	ev->statement = 0;
	ev->values = none;
	ev->op = MESSAGE_SENT;
	ev->peer = none;
	ev->id = none;
	ev->after = none;
	ev->attrs = none;
	ev->text = none;
}

/* Traces and logs write the same id in different case. */
static struct str lower_hex(struct str id, struct arena *arena)
{
	bool upper = false;
	char *copy;

	for (size_t i = 0; i < id.n; i++)
		upper |= id.p[i] >= 'A' && id.p[i] <= 'F';
	if (!upper)
		return id;
	for (size_t i = 0; i < id.n; i++)
		if (!isxdigit((unsigned char)id.p[i]))
			return id;
	copy = arena_alloc(arena, id.n);
	for (size_t i = 0; i < id.n; i++)
		copy[i] = (char)tolower((unsigned char)id.p[i]);
	return (struct str){ copy, id.n };
}

/* Where a line is about an HTTP request, that is what it is about. */
static struct str title_of(const struct event *ev, struct str message, struct arena *arena)
{
	struct str method, path;

	if (request_line_find(message, &method, &path) &&
	    (ev->duration >= 0 || request_line_leads(message, method)))
		return layout_route(arena, method, path);
	return title_mask(arena, message);
}

/* All of it, where some may be known from fields already. */
static void finish(struct layout_worker *worker, struct event *ev, struct str message,
		   struct arena *arena)
{
	struct logid id;

	if (ev->key_kind == KEY_NONE && logid_find(message, &id)) {
		ev->key_kind = id.kind;
		ev->key = id.key;
		ev->span = id.span;
	}
	if (ev->key_kind == KEY_TRACE) {
		ev->key = lower_hex(ev->key, arena);
		ev->span = lower_hex(ev->span, arena);
	}
	if (ev->duration < 0)
		ev->duration = spent_find(message, worker);
	if (!ev->title.n && (ev->key_kind != KEY_NONE || ev->duration >= 0))
		ev->title = title_of(ev, message, arena);
}

/* Whether other digits in the message would change no more than those of the key. */
static bool is_fixed(struct str message, struct str title)
{
	struct str method, path;
	struct logid id;
	bool by_digits;

	logid_find_noting(message, &id, &by_digits);
	for (size_t i = 0; i < title.n; i++)
		by_digits |= isdigit((unsigned char)title.p[i]) != 0;
	return !by_digits && !request_line_find(message, &method, &path);
}

void layout_event_finish(struct layout_worker *worker, struct event *ev, struct str message,
			 struct arena *arena)
{
	enum layout_known_is is = KNOWN_NOT;
	struct skeleton k;

	*worker->said = (struct layout_text){ .message = message };
	if (worker->layout->is_bare)
		return;
	if (!worker->known)
		worker->known = layout_known_new();
	if (ev->key_kind == KEY_NONE && ev->duration < 0 && !ev->title.n)
		is = layout_known_find(worker->known, &k, message, ev, arena);
	if (is == KNOWN_SET)
		return;
	worker->by_digits = false;
	finish(worker, ev, message, arena);
	if (is == KNOWN_AGAIN)
		layout_known_keep(worker->known, &k, message, ev,
				  worker->by_digits || !is_fixed(message, ev->title));
}
