/* Any bytes are read as a log to the end: events in order, each inside the input, lines counted. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

struct seen {
	uint64_t next_offset, next_line, hash;
	uint64_t bytes; /* of the input, unpacked */
};

static void touch(struct seen *s, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		s->hash = s->hash * 31 + (unsigned char)text.p[i];
}

static int take_file(void *to, const struct file_seen *file, uint32_t *number, struct error *err)
{
	touch(to, file->format);
	touch(to, file->layout);
	*number = 7;
	return 0;
}

static int take_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct seen *s = to;

	for (size_t i = 0; i < nr; i++) {
		const struct event *e = &events[i];
		const struct str texts[] = { e->node, e->thread, e->point, e->key,
					     e->span, e->title,  e->attrs, e->text };

		if (e->file != 7 || e->offset < s->next_offset || e->line < s->next_line ||
		    !e->nr_lines || e->offset + e->length > s->bytes)
			abort();
		s->next_offset = e->offset + e->length;
		s->next_line = e->line + e->nr_lines;
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
			touch(s, texts[k]);
	}
	return 0;
}

static int take_spans(void *to, const struct span *spans, size_t nr, struct error *err)
{
	abort();
}

static struct input *open_bytes(struct str bytes, struct str *head, bool *whole)
{
	struct error err = { 0 };
	struct input *in;

	if (input_of_bytes(&in, "fuzz.log", bytes, &err) < 0)
		abort();
	*head = input_head(in, whole);
	return in;
}

/* What unpacks to more than the head is too slow to fuzz and is fuzzed elsewhere. */
static bool is_log(struct str bytes)
{
	struct str head;
	bool whole;
	struct input *in = open_bytes(bytes, &head, &whole);
	bool is = whole && source_logs.sniff(head, whole);

	input_close(in);
	return is;
}

static uint64_t read_once(struct str bytes)
{
	const struct source_options o = { .zone = "UTC", .cores = 1 };
	struct losses losses = { 0 };
	struct seen seen = { 0 };
	struct sink sink = { &seen, take_file, take_events, take_spans, NULL, &losses };
	struct error err = { 0 };
	struct str head;
	bool whole;
	struct input *in = open_bytes(bytes, &head, &whole);

	seen.bytes = head.n;
	if (source_logs.read(in, &o, &sink, &err) < 0 && !err.msg[0])
		abort();
	input_close(in);
	return seen.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };

	/* learning a layout is nearly all of the time: it is done no oftener than it must */
	if (is_log(bytes) && read_once(bytes) != read_once(bytes))
		abort();
	return 0;
}
