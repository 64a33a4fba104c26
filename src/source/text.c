/*
 * Text that shows no time and is of no other kind: what a program said on its standard output and
 * error, a launch script, a note. Nothing tells when its lines were written, so that the file is
 * one event without a time; where it stands tells whose it is. Source.c takes it only for files
 * that were found beside others and not named by the user, who may have meant something else.
 *
 * It is read to its end before anything is delivered, in one piece of memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/lines.h"
#include "source/nodename.h"
#include "source/undated.h"

#define TEXT_BYTES_MAX ((uint64_t)64 << 20) /* more than that is data, whatever it looks like */
#define PIECE_BYTES ((size_t)64 << 10)
#define SNIFF_SURE 1 /* whatever else it may be, it is that */

static int sniff(struct str head, bool whole)
{
	(void)whole;
	return str_trim(head).n && !memchr(head.p, 0, head.n) && !undated_is_binary(head)
		       ? SNIFF_SURE
		       : 0;
}

/* Sets place and lines of the event; false when it is no text to its end. */
static bool measure(struct input *in, struct event *ev, struct sink *sink)
{
	char *piece = mem_alloc(PIECE_BYTES);
	struct error err = { 0 };
	uint64_t newlines = 0, done = 0;
	bool is_text = true, in_line = false;
	ssize_t got;

	while (is_text && (got = input_read(in, piece, PIECE_BYTES, &err)) > 0) {
		struct str s = { piece, (size_t)got };

		newlines += lines_count(s);
		in_line = piece[got - 1] != '\n';
		ev->length += s.n;
		is_text = !memchr(s.p, 0, s.n) && ev->length <= TEXT_BYTES_MAX;
		if (sink->progress && input_position(in) > done)
			sink->progress(sink->to, input_position(in) - done);
		done = input_position(in);
	}
	sink->losses->count[LOSS_FILES_CUT] += is_text && got < 0;
	ev->line = 1;
	ev->nr_lines = (uint32_t)newlines + in_line;
	ev->offset = input_start(in);
	/* as for other events: without the end of the last line */
	ev->length -= is_text && !in_line && ev->length;
	if (!is_text && sink->progress && input_bytes(in) > done)
		sink->progress(sink->to, input_bytes(in) - done);
	free(piece);
	return is_text && ev->nr_lines;
}

static int read_text(struct input *in, const struct source_options *o, struct sink *sink,
		     struct error *err)
{
	struct file_seen seen = { .path = str_of(input_path(in)),
				  .format = STR("text without times"),
				  .bytes = input_bytes(in),
				  .mtime_ns = input_mtime(in),
				  .mark = input_mark(in) };
	struct arena arena = { 0 };
	struct str head = arena_str(&arena, input_head(in, NULL));
	struct event ev;
	int r = 0;

	undated_event(&ev, nodename_of_path(&arena, seen.path));
	if (measure(in, &ev, sink)) {
		undated_ask(o->statements, &ev, head, &arena, sink->losses);
		r = sink->file(sink->to, &seen, &ev.file, err);
		if (r >= 0)
			r = sink->events(sink->to, &ev, 1, err);
		sink->losses->count[LOSS_FILES_NO_TIME] += r >= 0;
	} else {
		sink->losses->count[LOSS_FILES_UNKNOWN]++;
	}
	arena_done(&arena);
	return r;
}

const struct source source_text = {
	.name = "text",
	.summary = "text without times, where it stands beside logs or traces",
	.sniff = sniff,
	.read = read_text,
};
