/* Log lines made by the tests of the rebuilding of requests: gathered, taken through the steps up
 * to the one that is looked at, or all the way into a store. */
#ifndef CULPRIT_TESTS_REQUEST_LINES_H
#define CULPRIT_TESTS_REQUEST_LINES_H

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "infer/requests/agreed.h"
#include "infer/requests/course.h"
#include "infer/requests/family.h"
#include "infer/requests/harvest.h"
#include "infer/requests/requests.h"
#include "infer/requests/roots.h"
#include "infer/requests/session.h"
#include "infer/requests/sight.h"
#include "store/store.h"

#define LINES_START (1700000000LL * NS_S)

struct lines {
	struct harvest h;
	struct gather g; /* all lines, when they are taken step by step */
	struct store *s;
	uint32_t file; /* from which the next lines come */
	uint64_t nr, *requests;
};

static inline void lines_begin(struct lines *l)
{
	struct error err;

	*l = (struct lines){ 0 };
	assert_int_equal(store_create(&l->s, NULL, &err), 0);
}

/* The next lines are of this file of that log. */
static inline void lines_file(struct lines *l, const char *file, const char *log)
{
	struct file_seen seen = { .path = str_of(file), .format = STR("logs") };
	struct sink sink = store_sink(l->s);
	struct error err;

	assert_int_equal(sink.file(sink.to, &seen, &l->file, &err), 0);
	harvest_file(&l->h, l->file, str_of(log));
}

/* ms is counted from the beginning of the run; negative: it has no time. */
static inline uint64_t lines_str(struct lines *l, int64_t ms, const char *thread, struct str text)
{
	struct event ev = { .kind = EVENT_LOG,
			    .ns = ms < 0 ? NS_NONE : LINES_START + ms * NS_MS,
			    .level = LEVEL_INFO,
			    .file = l->file,
			    .line = l->nr + 1,
			    .nr_lines = 1,
			    .node = STR("n1"),
			    .thread = str_of(thread),
			    .duration = -1 };
	struct sink sink = store_sink(l->s);
	struct arena arena = { 0 };
	struct error err;

	sight_event(NULL, &ev, text, &arena);
	assert_int_equal(harvest_events(&l->h, &ev, 1, &err), 0);
	assert_int_equal(sink.events(sink.to, &ev, 1, &err), 0);
	arena_done(&arena);
	return l->nr++;
}

__attribute__((format(printf, 4, 5))) static inline uint64_t
lines_add(struct lines *l, int64_t ms, const char *thread, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return lines_str(l, ms, thread, str_of(text));
}

/* Finds the requests of all; lines_request answers from then on. */
static inline void lines_run(struct lines *l)
{
	struct infer_options o = INFER_DEFAULTS;
	struct error err;
	uint64_t nr;

	assert_int_equal(harvest_end(&l->h, &err), 0);
	o.harvest = &l->h;
	assert_int_equal(infer_requests.run(l->s, &o, &err), 0);
	assert_int_equal(store_finish(l->s, &err), 0);
	assert_int_equal(store_event_requests(l->s, &l->requests, &nr, &err), 0);
	assert_int_equal(nr, l->nr);
}

static inline void lines_end(struct lines *l)
{
	free(l->requests);
	store_close(l->s);
	harvest_done(&l->h);
	gather_done(&l->g);
}

/* --- step by step --------------------------------------------------------------------------- */

struct steps {
	struct work w;
	struct course *course;
	struct owners owners;
};

/* Up to the owners of what units name, and their families. */
static inline void steps_begin(struct steps *s, struct lines *l)
{
	struct harvest_cursor c;
	struct error err;

	assert_int_equal(harvest_end(&l->h, &err), 0);
	harvest_cursor(&l->h, &c, INT64_MIN);
	assert_int_equal(harvest_upto(&l->h, &c, &l->g, INT64_MAX, &err), 0);
	harvest_cursor_done(&c);
	*s = (struct steps){ .course = course_new(NULL) };
	roots_join(&l->g);
	work_begin(&s->w, &l->g, s->course);
	weigh_things(&s->w);
	agreed_find(&s->w);
	cut_threads(&s->w);
	family_split(&s->w);
	weigh_units(&s->w);
	find_owners(&s->w, &s->owners);
	family_find(&s->w);
}

static inline void steps_end(struct steps *s)
{
	owners_done(&s->owners);
	work_done(&s->w);
	course_free(s->course);
}

/* "blk#1" "blk_7": the thing, or 0. */
static inline uint32_t steps_thing(const struct steps *s, const char *kind, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%c%s", kind, SIGHT_SEPARATOR, value);
	return names_find(&s->w.g->things, str_of(text));
}

/* The unit that a line is in. */
static inline const struct unit *steps_unit(const struct steps *s, uint64_t line)
{
	vec_each (&s->w.units, u)
		for (uint32_t at = u->from; at < u->to; at++)
			if (work_line(&s->w, at)->event == line)
				return u;
	fail_msg("line %lu is in no unit", (unsigned long)line);
	return NULL;
}

#endif
