/* Learns a layout from a text and reads all of it, for the tests of the layout. */
#ifndef CULPRIT_TESTS_LAYOUT_CASE_H
#define CULPRIT_TESTS_LAYOUT_CASE_H

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout.h"

#define CASE_MTIME (1717243200LL * NS_S) /* 2024-06-01 12:00:00 UTC */

struct layout_case {
	struct layout *layout;
	struct layout_worker *worker;
	struct arena arena;
	struct losses losses;
	struct event *events;
	size_t nr_events, nr_lines;
	struct error err;
	int r;
};

static inline void case_read(struct layout_case *c, struct str text)
{
	struct str line;

	c->worker = layout_worker_new(c->layout);
	while (str_take_line(&text, &line)) {
		struct event ev;

		c->nr_lines++;
		if (layout_parse(c->layout, c->worker, line, &c->arena, &ev, &c->losses) == 1) {
			c->events = mem_realloc(c->events, mem_bytes(c->nr_events + 1, sizeof(ev)));
			c->events[c->nr_events++] = ev;
		} else if (c->nr_events && layout_has_more(c->layout)) {
			layout_more(c->layout, c->worker, line, &c->arena,
				    &c->events[c->nr_events - 1], &c->losses);
		}
	}
	layout_settle(c->layout, c->events, c->nr_events, &c->losses);
}

static inline struct layout_case case_learn(struct str text, const char *zone)
{
	struct layout_hints hints = { .zone = str_of(zone),
				      .mtime_ns = CASE_MTIME,
				      .node = STR("file") };
	struct layout_case c = { 0 };

	c.r = layout_learn(&c.layout, text, &hints, &c.err);
	if (!c.r)
		case_read(&c, text);
	return c;
}

static inline struct layout_case case_compile(const char *pattern, struct str text)
{
	struct layout_hints hints = { .zone = STR("UTC"),
				      .mtime_ns = CASE_MTIME,
				      .node = STR("file") };
	struct layout_case c = { 0 };

	c.r = layout_compile(&c.layout, pattern, &hints, &c.err);
	if (!c.r)
		case_read(&c, text);
	return c;
}

static inline void case_done(struct layout_case *c)
{
	free(c->events);
	layout_worker_free(c->worker);
	layout_free(c->layout);
	arena_done(&c->arena);
}

/* "2024-01-02 03:04:05.678901234" of UTC */
static inline void case_time_text(int64_t ns, char text[40])
{
	struct civil t;

	if (ns == NS_NONE) {
		snprintf(text, 40, "none");
		return;
	}
	time_to_civil(ns, &t);
	snprintf(text, 40, "%04d-%02d-%02d %02d:%02d:%02d.%09d", t.year, t.month, t.day, t.hour,
		 t.min, t.sec, t.ns);
}

#endif
