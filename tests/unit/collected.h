/* A sink that keeps copies of everything, so that a test can look at what a source delivered. */
#ifndef CULPRIT_TESTS_COLLECTED_H
#define CULPRIT_TESTS_COLLECTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/attr.h"
#include "model/event.h"
#include "model/link.h"
#include "model/sink.h"
#include "model/span.h"
#include "source/input.h"
#include "source/source.h"

struct collected {
	VEC(struct span) spans;
	VEC(struct event) events;
	struct losses losses;
	struct arena arena;
	struct error err;
	unsigned nr_files;
	uint64_t progress;
};

static inline int collected_file(void *to, const struct file_seen *file, uint32_t *number,
				 struct error *err)
{
	struct collected *c = to;

	(void)file, (void)err;
	*number = ++c->nr_files;
	return 0;
}

static inline int collected_events(void *to, const struct event *events, size_t nr,
				   struct error *err)
{
	struct collected *c = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		struct event e = events[i];
		struct str *strings[] = { &e.node, &e.thread, &e.point, &e.key,   &e.span, &e.title,
					  &e.peer, &e.id,     &e.after, &e.attrs, &e.text };

		for (size_t j = 0; j < sizeof(strings) / sizeof(*strings); j++)
			*strings[j] = arena_str(&c->arena, *strings[j]);
		vec_push(&c->events, e);
	}
	return 0;
}

static inline int collected_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	struct collected *c = to;

	(void)err;
	for (size_t i = 0; i < nr; i++) {
		struct span s = spans[i];
		struct str *strings[] = { &s.key,  &s.id,     &s.parent_id, &s.name, &s.node,
					  &s.host, &s.thread, &s.links,     &s.attrs };

		for (size_t j = 0; j < sizeof(strings) / sizeof(*strings); j++)
			*strings[j] = arena_str(&c->arena, *strings[j]);
		vec_push(&c->spans, s);
	}
	return 0;
}

static inline void collected_progress(void *to, uint64_t bytes)
{
	((struct collected *)to)->progress += bytes;
}

static inline int collected_read(struct collected *c, const struct source *source, struct input *in,
				 unsigned cores)
{
	struct source_options options = { .cores = cores };
	struct sink sink = {
		c, collected_file, collected_events, collected_spans, collected_progress, &c->losses
	};

	return source->read(in, &options, &sink, &c->err);
}

/* What the source makes of the text. */
static inline struct collected collect(const struct source *source, struct str text)
{
	struct collected c = { 0 };
	struct input *in;

	if (input_of_bytes(&in, "text", text, &c.err) < 0 || collected_read(&c, source, in, 2) < 0)
		fail_msg("%s", c.err.msg);
	input_close(in);
	return c;
}

/* What it makes of a file of the shared data; false (and a word) when it is not on this machine. */
static inline bool collect_data(struct collected *c, const struct source *source, const char *name)
{
	const char *data = getenv("CULPRIT_DATA");
	char path[4096];
	struct input *in;

	/* By default beside the project: three folders above this file, as the build names it. */
	if (data)
		snprintf(path, sizeof(path), "%s/%s", data, name);
	else
		snprintf(path, sizeof(path), "%.*s/../../../shared/data/%s",
			 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
	*c = (struct collected){ 0 };
	if (input_open(&in, path, &c->err) < 0) {
		print_message("[  SKIPPED ] no data at %s\n", path);
		return false;
	}
	assert_ptr_equal(source->sniff(input_head(in, NULL), false) > 50 ? source : NULL, source);
	if (collected_read(c, source, in, 2) < 0)
		fail_msg("%s", c->err.msg);
	input_close(in);
	return true;
}

static inline void collected_done(struct collected *c)
{
	vec_done(&c->spans);
	vec_done(&c->events);
	arena_done(&c->arena);
}

static inline struct attr collected_attr(struct str packed, const char *key)
{
	struct attr a = { 0 };

	if (!attr_find(packed, str_of(key), &a))
		fail_msg("there is no attribute '%s'", key);
	return a;
}

#endif
