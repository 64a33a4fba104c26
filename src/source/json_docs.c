#include "source/json_docs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pipeline.h"
#include "model/sink.h"
#include "source/chunks.h"
#include "source/input.h"
#include "source/json_stream.h"

#define LINE_BYTES_MAX ((size_t)64 << 20)
#define RUN_BYTES ((size_t)512 << 10)
#define NR_SLOTS_MAX 66

/* What one thread needs: a parser and the state of the decoder. */
struct docs_worker {
	struct json *json;
	void *decoder;
	struct buf mended;
	void (*close)(void *decoder);
};

struct reading {
	const struct json_docs *docs;
	uint32_t file;
	/* of a stream */
	struct input *in;
	struct sink *sink;
	struct json_stream *stream;
	uint64_t position;
};

static void *worker_open(void *ctx)
{
	const struct reading *rd = ctx;
	struct docs_worker *w = mem_zalloc(sizeof(*w));

	w->json = json_new();
	w->close = rd->docs->close;
	if (rd->docs->open)
		w->decoder = rd->docs->open(rd->docs->ctx);
	return w;
}

static void worker_close(void *state)
{
	struct docs_worker *w = state;

	if (!w)
		return;
	json_free(w->json);
	buf_done(&w->mended);
	if (w->close)
		w->close(w->decoder);
	free(w);
}

/* Parses a text with padding behind; numbers too large for the parser are made to fit. */
static int parse(struct docs_worker *w, struct str text, struct json_value *root)
{
	int r = json_parse(w->json, text, true, root, NULL);

	if (r >= 0)
		return r;
	buf_clear(&w->mended);
	if (!json_scan_soften(text, &w->mended))
		return r;
	return json_parse(w->json, buf_str(&w->mended), false, root, NULL);
}

/* Uses what is whole of a document that lacks its end. */
static void decode_cut(const struct reading *rd, struct docs_worker *w, struct str text,
		       const struct json_place *at, struct batch *b)
{
	struct json_value root;

	buf_clear(&w->mended);
	if (json_scan_mend(text, &rd->docs->units, &w->mended) &&
	    json_parse(w->json, buf_str(&w->mended), false, &root, NULL) >= 0)
		rd->docs->decode(w->decoder, root, at, b);
}

/* --- JSON lines ------------------------------------------------------------------------------ */

static void parse_line(const struct reading *rd, struct batch *b, struct str line, bool is_open,
		       const struct json_place *at)
{
	struct docs_worker *w = b->worker_state;
	struct json_value root;

	if (parse(w, line, &root) >= 0) {
		rd->docs->decode(w->decoder, root, at, b);
		return;
	}
	if (is_open || b->is_cut) {
		/* A line that is too long was counted by the reader of chunks. */
		b->losses.count[LOSS_FILES_CUT] += !b->is_cut;
		decode_cut(rd, w, line, at, b);
		return;
	}
	b->losses.count[LOSS_JSON_BROKEN]++;
}

static void parse_lines(void *ctx, struct batch *b)
{
	const struct reading *rd = ctx;
	struct docs_worker *w = b->worker_state;
	struct json_place at = { .file = rd->file, .line = b->first_line };
	struct str rest = b->bytes, line;

	while (rest.n) {
		size_t n = str_find_char(rest, '\n');

		at.offset = b->offset + (b->bytes.n - rest.n);
		line = str_trim(str_head(rest, n));
		at.length = line.n;
		if (line.n)
			parse_line(rd, b, line, n == rest.n, &at);
		rest = str_skip(rest, n + 1);
		at.line++;
	}
	if (rd->docs->settle)
		rd->docs->settle(w->decoder, b);
}

static int read_lines(struct reading *rd, unsigned cores, struct error *err)
{
	const struct chunk_format format = {
		.ctx = rd,
		.line_bytes_max = LINE_BYTES_MAX,
		.open_worker = worker_open,
		.close_worker = worker_close,
		.parse = parse_lines,
	};

	return chunks_read(rd->in, &format, cores, rd->sink, err);
}

/* --- anything else --------------------------------------------------------------------------- */

struct slot {
	struct batch b;
	struct buf text; /* "[" items "]" and padding */
	size_t text_n;
	bool is_cut;
};

static int fill(void *ctx, void *slot, struct error *err)
{
	struct reading *rd = ctx;
	struct slot *s = slot;
	struct json_run run;
	uint64_t now;
	int r = json_stream_next(rd->stream, &run, err);

	now = input_position(rd->in);
	if (rd->sink->progress && now > rd->position)
		rd->sink->progress(rd->sink->to, now - rd->position);
	rd->position = now;
	if (r <= 0)
		return r;
	buf_clear(&s->text);
	buf_char(&s->text, '[');
	buf_add(&s->text, run.text);
	buf_char(&s->text, ']');
	s->text_n = s->text.n;
	memset(buf_room(&s->text, json_padding()), ' ', json_padding());
	s->is_cut = run.is_cut;
	return 1;
}

/* One item of the run does not parse: the others are used. */
static void decode_singly(const struct reading *rd, struct batch *b, struct str text)
{
	const struct json_place at = { .file = rd->file };
	struct docs_worker *w = b->worker_state;
	struct json_value root;
	size_t end, i;

	for (i = json_scan_space(text, 1); i < text.n - 1; i = json_scan_space(text, end)) {
		if (text.p[i] == ',') {
			end = i + 1;
			continue;
		}
		end = json_scan_any(text, i);
		if (!end)
			break;
		if (parse(w, (struct str){ text.p + i, end - i }, &root) < 0)
			b->losses.count[LOSS_JSON_BROKEN]++;
		else
			rd->docs->decode(w->decoder, root, &at, b);
	}
}

static void work(void *ctx, void *slot)
{
	const struct reading *rd = ctx;
	struct slot *s = slot;
	struct batch *b = &s->b;
	struct docs_worker *w = b->worker_state;
	struct str text = { s->text.p, s->text_n };
	const struct json_place at = { .file = rd->file };
	struct json_value root;
	struct json_walk walk;

	vec_clear(&b->events);
	vec_clear(&b->spans);
	arena_reset(&b->arena);
	b->losses = (struct losses){ 0 };
	if (s->is_cut) {
		decode_cut(rd, w, (struct str){ text.p + 1, text.n - 2 }, &at, b);
	} else if (parse(w, text, &root) >= 0) {
		for (walk = json_walk(root); json_next(&walk);)
			rd->docs->decode(w->decoder, walk.value, &at, b);
	} else {
		decode_singly(rd, b, text);
	}
	if (rd->docs->settle)
		rd->docs->settle(w->decoder, b);
}

static int drain(void *ctx, void *slot, struct error *err)
{
	struct reading *rd = ctx;
	struct batch *b = &((struct slot *)slot)->b;
	struct sink *sink = rd->sink;
	int r = 0;

	losses_add(sink->losses, &b->losses);
	if (b->spans.nr)
		r = sink->spans(sink->to, b->spans.v, b->spans.nr, err);
	if (r >= 0 && b->events.nr)
		r = sink->events(sink->to, b->events.v, b->events.nr, err);
	return r < 0 ? r : 0;
}

static void count_stream_losses(const struct reading *rd)
{
	bool is_open = json_stream_is_open_array(rd->stream) && rd->docs->may_stay_open;
	struct losses *l = rd->sink->losses;

	l->count[LOSS_FILES_CUT] += json_stream_is_cut(rd->stream) && !is_open;
	l->count[LOSS_JSON_BROKEN] += json_stream_nr_broken(rd->stream);
}

static void slot_free(struct slot *s)
{
	worker_close(s->b.worker_state);
	vec_done(&s->b.events);
	vec_done(&s->b.spans);
	arena_done(&s->b.arena);
	buf_done(&s->text);
	free(s);
}

static int read_stream(struct reading *rd, unsigned cores, struct error *err)
{
	const struct json_stream_how how = { rd->docs->members, RUN_BYTES };
	const struct pipeline p = { fill, work, drain, rd };
	size_t nr = cores < 2 ? 1 : cores + 2 < NR_SLOTS_MAX ? cores + 2 : NR_SLOTS_MAX;
	void *slots[NR_SLOTS_MAX];
	int r;

	rd->stream = json_stream_new(rd->in, &how);
	for (size_t i = 0; i < nr; i++) {
		struct slot *s = mem_zalloc(sizeof(*s));

		s->b.worker_state = worker_open(rd);
		slots[i] = s;
	}
	r = pipeline_run(&p, slots, nr, cores, err);
	if (r >= 0)
		count_stream_losses(rd);
	for (size_t i = 0; i < nr; i++)
		slot_free(slots[i]);
	json_stream_free(rd->stream);
	return r < 0 ? r : 0;
}

int json_docs_read(struct input *in, const struct json_docs *docs, unsigned cores,
		   struct sink *sink, struct error *err)
{
	struct reading rd = { .docs = docs, .in = in, .sink = sink };
	struct file_seen seen = { .path = str_of(input_path(in)),
				  .format = str_of(docs->format),
				  .bytes = input_bytes(in),
				  .mtime_ns = input_mtime(in) };
	struct str head;
	bool whole;
	int r = sink->file(sink->to, &seen, &rd.file, err);

	if (r < 0)
		return r;
	if (docs->in_order)
		cores = 1;
	else if (!cores)
		cores = pipeline_cores();
	head = input_head(in, &whole);
	return json_scan_is_lines(head, whole) ? read_lines(&rd, cores, err)
					       : read_stream(&rd, cores, err);
}
