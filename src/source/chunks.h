/*
 * Reads an input of lines in big chunks cut at line ends, parsed in parallel, delivered in order.
 * Every line-oriented format (logs, JSON lines) is read through this.
 */
#ifndef CULPRIT_SOURCE_CHUNKS_H
#define CULPRIT_SOURCE_CHUNKS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/event.h"
#include "model/loss.h"
#include "model/span.h"

struct error;
struct input;
struct sink;

/* What one chunk became. Strings may borrow from the chunk's bytes and from the arena. */
struct batch {
	struct str bytes;    /* whole lines; the last may lack its newline; JSON padding follows
				readable */
	uint64_t offset;     /* of bytes in the decompressed input */
	uint64_t first_line; /* number of its first line */
	uint64_t nr_lines;   /* counted by the reader of chunks */
	bool is_cut; /* it is the front of one line longer than line_bytes_max, the rest was passed
			over … */
	uint64_t whole_bytes; /* … and this is the length of the whole line without its newline */
	VEC(struct event) events;
	VEC(struct span) spans;
	struct losses losses;
	struct arena arena;
	void *worker_state; /* of the format: made by open_worker, one for each slot */
	/*
	 * Lines at the front that belong to the last event of the chunk before, and their bytes up
	 * to the last one's end without its newline. The lengths of events leave it out as well.
	 */
	uint64_t continued_bytes;
	uint32_t continued_lines;
};

struct chunk_format {
	void *ctx;
	size_t line_bytes_max;           /* longer lines are cut: only their front is parsed */
	void *(*open_worker)(void *ctx); /* may be NULL */
	void (*close_worker)(void *state);
	/* Where whole lines may be parted, for events that must not be: the start of the last one,
	 * or bytes.n for "at any line end"; may be NULL. */
	size_t (*cut)(void *ctx, struct str bytes);
	/* On a worker thread: fills events, spans, losses, continued_*. */
	void (*parse)(void *ctx, struct batch *b);
	/* Likewise, on the calling thread, of lines that no event stands in front of, which become
	 * one: sets what is not its place. The text is what the batch holds of them, from the first
	 * that is not blank on. NULL where continued_lines is never set. */
	void (*begin_undated)(void *ctx, struct batch *b, struct str text, struct event *ev);
	/* In order, on the calling thread, before the batch goes to the sink; may be NULL. */
	int (*settle)(void *ctx, struct batch *b, struct error *err);
};

/* Reads to the end; the last event of a batch is held back until the next tells whether its text
 * goes on. */
int chunks_read(struct input *in, const struct chunk_format *format, unsigned cores,
		struct sink *sink, struct error *err);

#endif
