/* Any bytes are read to something whole, or explained: what every trace format must hold. */
#ifndef CULPRIT_TESTS_FUZZ_SOURCE_H
#define CULPRIT_TESTS_FUZZ_SOURCE_H

#include <stdlib.h>

#include "base/error.h"
#include "model/attr.h"
#include "model/event.h"
#include "model/link.h"
#include "model/sink.h"
#include "model/span.h"
#include "source/formats.h"
#include "source/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool holds)
{
	if (!holds)
		abort();
}

/* Packed attributes and links unpack to their last byte. */
static inline void must_unpack(struct str attrs, struct str links)
{
	struct attr a;
	struct link l;

	while (attr_take(&attrs, &a))
		;
	while (link_take(&links, &l))
		must_unpack(l.attrs, STR(""));
	must(!attrs.n && !links.n);
}

static inline int fuzz_file(void *to, const struct file_seen *file, uint32_t *number,
			    struct error *err)
{
	(void)to, (void)err;
	must(file->format.n > 0);
	*number = 1;
	return 0;
}

static inline int fuzz_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	(void)to, (void)err;
	for (size_t i = 0; i < nr; i++) {
		struct str after = events[i].after, id;

		must((events[i].key_kind == KEY_NONE) == !events[i].key.n);
		must(events[i].nr_lines == 1 && events[i].duration == -1 && events[i].file == 1);
		must_unpack(events[i].attrs, STR(""));
		while (str_take_bytes(&after, &id))
			must(id.n > 0);
		must(!after.n);
	}
	return 0;
}

static inline int fuzz_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	(void)to, (void)err;
	for (size_t i = 0; i < nr; i++) {
		must(spans[i].end >= spans[i].start && spans[i].key.n && spans[i].id.n);
		must(spans[i].parent == SPAN_NONE && spans[i].confidence == 1);
		must_unpack(spans[i].attrs, spans[i].links);
	}
	return 0;
}

static inline int fuzz_source(const struct source *source, const uint8_t *data, size_t size)
{
	const struct source_options options = { .cores = 1 };
	struct losses losses = { 0 };
	struct sink sink = { NULL, fuzz_file, fuzz_events, fuzz_spans, NULL, &losses };
	struct error err = { 0 };
	struct input *in;

	source->sniff((struct str){ (const char *)data, size }, true);
	must(input_of_bytes(&in, "fuzz", (struct str){ (const char *)data, size }, &err) >= 0);
	if (source->read(in, &options, &sink, &err) < 0)
		must(err.code > 0 && err.msg[0]);
	input_close(in);
	return 0;
}

#endif
