/* Any bytes that are text to their end are one event of all their lines; others are counted. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

struct seen {
	uint64_t files, events, bytes, nr_lines, length;
};

static int take_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	(void)err;
	if (!file->format.n)
		abort();
	*number = (uint32_t)++((struct seen *)to)->files;
	return 0;
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct seen *s = to;

	(void)err;
	s->events += nr;
	s->nr_lines = events->nr_lines;
	s->length = events->length;
	if (events->ns != NS_NONE || events->line != 1 || events->file != 1 || !events->nr_lines ||
	    events->nr_lines - 1 > events->length || memchr(events->values.p, 0, events->values.n))
		abort();
	return 0;
}

static void find(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	(void)ctx;
	(void)arena;
	ev->values = message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct statements known = { NULL, find, true };
	const struct source_options options = { .cores = 1, .statements = &known };
	struct losses losses = { 0 };
	struct seen seen = { 0 };
	struct sink sink = { &seen, take_file, take_events, NULL, NULL, &losses };
	struct error err = { 0 };
	struct input *in;
	struct str head;
	bool whole;

	if (input_of_bytes(&in, "fuzz", (struct str){ (const char *)data, size }, &err) < 0)
		abort();
	head = input_head(in, &whole);
	if (head.n && source_text.sniff(head, whole)) {
		/* a head that is all of it was looked at already */
		if (source_text.read(in, &options, &sink, &err) < 0 || seen.files != seen.events ||
		    (whole && seen.events != 1) ||
		    seen.events + losses.count[LOSS_FILES_UNKNOWN] != 1 ||
		    losses.count[LOSS_FILES_NO_TIME] != seen.events)
			abort();
		if (whole && seen.length + (head.p[head.n - 1] == '\n') != head.n)
			abort();
	}
	input_close(in);
	return 0;
}
