#include "cli/engine_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "cli/engine_plan.h"
#include "infer/requests/record.h"
#include "model/event.h"
#include "source/logs.h"
#include "source/split.h"

enum { READ_BYTES = 1 << 18, BLOCK_BYTES = 1 << 20, BLOCK_EVENTS = 20000 };

/* A part on its way to records. */
struct mapping {
	struct record_key key;
	struct record_last last;
	struct split split;
	struct logs logs;
	struct buf line;
	FILE *out;
};

static int write_out(FILE *out, struct buf *b, struct error *err)
{
	size_t n = fwrite(b->p, 1, b->n, out);

	if (n == b->n)
		return 0;
	return error_set(err, errno, "cannot write records: %s", strerror(errno));
}

static int end_line(struct mapping *m, struct error *err)
{
	buf_char(&m->line, '\n');
	m->key.nr++;
	return write_out(m->out, &m->line, err);
}

static int map_raw(void *to, struct str lines, bool is_front, struct error *err)
{
	struct mapping *m = to;
	const struct record_raw raw = { m->split.bytes, m->split.lines, lines };

	buf_clear(&m->line);
	record_begin(&m->line, &m->key, is_front ? RECORD_FRONT : RECORD_TAIL);
	record_raw(&m->line, &raw);
	return end_line(m, err);
}

static int map_events(void *to, const struct event *events, size_t nr, struct error *err)
{
	struct mapping *m = to;
	int got = 0;

	for (size_t i = 0; i < nr && got >= 0; i++) {
		buf_clear(&m->line);
		record_begin(&m->line, &m->key, RECORD_EVENT);
		record_event(&m->line, &m->last, &events[i]);
		got = end_line(m, err);
	}
	return got;
}

/* How the lines of the file look is learned once for all its parts that come together. */
static int open_file(struct mapping *m, const struct plan *plan, uint32_t file,
		     const struct statements *st, struct error *err)
{
	if (m->logs.layout && m->key.file == file)
		return 0;
	logs_close(&m->logs);
	if (file >= plan->files.nr || !*plan->files.v[file].uri)
		return error_set(err, EINVAL, "the plan has no file %u for workers", file);
	return plan_logs(plan, file, st, &m->logs, err);
}

/* The taker points at *m, which must not move. */
static int begin(struct mapping *m, const struct plan *plan, const struct record_key *key,
		 const struct statements *st, struct error *err)
{
	const struct split_taker taker = { m, map_raw, map_events };
	int got = open_file(m, plan, key->file, st, err);

	if (got < 0)
		return got;
	m->key = *key;
	m->last = (struct record_last){ 0 };
	split_init(&m->split, &m->logs, &taker);
	return 0;
}

/* Ends it after a failure, too. */
static int end(struct mapping *m, int got, struct error *err)
{
	if (got >= 0)
		got = split_end(&m->split, err);
	if (got >= 0) {
		const struct record_end end = { m->key.nr, m->split.bytes, m->split.lines };

		buf_clear(&m->line);
		record_begin(&m->line, &m->key, RECORD_END);
		record_end(&m->line, &end, &m->split.losses);
		got = end_line(m, err);
	}
	split_done(&m->split);
	return got;
}

static void mapping_done(struct mapping *m)
{
	logs_close(&m->logs);
	buf_done(&m->line);
}

int engine_map(const struct plan *plan, uint32_t file, uint64_t part, const struct statements *st,
	       FILE *in, FILE *out, struct error *err)
{
	const struct record_key key = { file, part, 0 };
	struct mapping m = { .out = out };
	char *room = mem_alloc(READ_BYTES);
	int got = begin(&m, plan, &key, st, err);
	size_t n;

	if (got >= 0) {
		while (got >= 0 && (n = fread(room, 1, READ_BYTES, in)) > 0)
			got = split_add(&m.split, (struct str){ room, n }, err);
		if (got >= 0 && ferror(in))
			got = error_set(err, EIO, "cannot read the lines of a part");
		got = end(&m, got, err);
	}
	mapping_done(&m);
	free(room);
	return got;
}

/* "FILE PART BYTES"; 1, or 0 at the end. */
static int take_frame(FILE *in, struct record_key *key, uint64_t *bytes, struct error *err)
{
	char text[80];
	struct str s;
	uint64_t file;

	if (!fgets(text, sizeof(text), in))
		return ferror(in) ? error_set(err, EIO, "cannot read the lines of a part") : 0;
	s = str_of(text);
	if (!str_take_uint(&s, &file) || file > UINT32_MAX || !str_take_char(&s, ' ') ||
	    !str_take_uint(&s, &key->part) || !str_take_char(&s, ' ') ||
	    !str_take_uint(&s, bytes) || !str_take_char(&s, '\n'))
		return error_set(err, EBADMSG, "FILE PART BYTES expected in front of lines");
	key->file = (uint32_t)file;
	return 1;
}

static int add_frame(struct mapping *m, uint64_t bytes, FILE *in, struct error *err)
{
	int got = 0;

	while (bytes && got >= 0) {
		char room[1 << 14];
		size_t n = fread(room, 1, bytes < sizeof(room) ? bytes : sizeof(room), in);

		if (!n)
			return error_set(err, EBADMSG, "the lines of a part end too early");
		bytes -= n;
		got = split_add(&m->split, (struct str){ room, n }, err);
	}
	return got;
}

int engine_map_frames(const struct plan *plan, const struct statements *st, FILE *in, FILE *out,
		      struct error *err)
{
	struct mapping m = { .out = out };
	struct record_key key = { 0 };
	uint64_t bytes = 0;
	bool is_open = false;
	int got;

	while ((got = take_frame(in, &key, &bytes, err)) > 0) {
		if (is_open && (key.file != m.key.file || key.part != m.key.part)) {
			got = end(&m, 0, err);
			is_open = false;
		}
		if (got >= 0 && !is_open) {
			got = begin(&m, plan, &key, st, err);
			is_open = got >= 0;
		}
		if (got >= 0)
			got = add_frame(&m, bytes, in, err);
		if (got < 0)
			break;
	}
	if (is_open)
		got = end(&m, got, err);
	mapping_done(&m);
	return got;
}

struct combining {
	struct record_block block;
	struct record_key first;
	struct buf line;
	FILE *out;
};

static int write_block(struct combining *c, struct error *err)
{
	int got = 0;

	if (c->block.nr) {
		buf_clear(&c->line);
		record_begin(&c->line, &c->first, RECORD_BLOCK);
		record_block_write(&c->block, &c->line);
		buf_char(&c->line, '\n');
		got = write_out(c->out, &c->line, err);
	}
	record_block_clear(&c->block);
	return got;
}

static bool goes_on(const struct combining *c, const struct record_key *key)
{
	return c->block.nr && key->file == c->first.file && key->part == c->first.part &&
	       key->nr == c->first.nr + c->block.nr && c->block.nr < BLOCK_EVENTS &&
	       c->block.bytes < BLOCK_BYTES;
}

static int combine(struct combining *c, struct str line, struct error *err)
{
	struct record_key key;
	enum record_kind kind;
	struct str body;
	int got = 0;

	if (!record_take(line, &key, &kind, &body))
		return error_set(err, EBADMSG, "a line is no record of the map step");
	if (kind != RECORD_EVENT || !goes_on(c, &key))
		got = write_block(c, err);
	if (got < 0)
		return got;
	if (kind == RECORD_EVENT) {
		if (!c->block.nr)
			c->first = key;
		return record_block_add(&c->block, body)
			       ? 0
			       : error_set(err, EBADMSG, "an event of the map step is damaged");
	}
	buf_clear(&c->line);
	buf_add(&c->line, line);
	buf_char(&c->line, '\n');
	return write_out(c->out, &c->line, err);
}

int engine_combine(FILE *in, FILE *out, struct error *err)
{
	struct combining c = { .out = out };
	cleanup(free) char *room = NULL;
	size_t capacity = 0;
	ssize_t n;
	int got = 0;

	while (got >= 0 && (n = getline(&room, &capacity, in)) > 0) {
		if (room[n - 1] == '\n')
			n--;
		got = combine(&c, (struct str){ room, (size_t)n }, err);
	}
	if (got >= 0)
		got = write_block(&c, err);
	record_block_done(&c.block);
	buf_done(&c.line);
	return got;
}
