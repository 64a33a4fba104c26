#include "store/block.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/code.h"
#include "store/sym.h"

/*
 * A block: the number of events, then each numeric column, then each column of strings.
 *
 * A numeric column is a byte that says how, and the values: all alike (one value), or one by one.
 * A log line mostly begins where the one before it ended, so that offset and line are coded as the
 * step from there and are "all alike" in most blocks. A string column that is nowhere used is
 * empty; otherwise it has a length and the bytes for every event.
 */

enum number {
	NR_MS, /* the time, cut in two: most clocks of logs tick in milliseconds */
	NR_NS, /* what is left, all zero then */
	NR_LINES,
	NR_LINE,
	NR_LENGTH,
	NR_OFFSET,
	NR_TAG,
	NR_FILE,
	NR_DURATION,
	NR_SYM, /* the first of the columns of names */
	NR_NUMBERS = NR_SYM + SYM_PEER + 1
};

enum string { STR_KEY, STR_SPAN, STR_ID, STR_AFTER, STR_ATTRS, STR_TEXT, STR_INLINE, NR_STRINGS };

enum { MS = 1000000 };
enum how { HOW_SAME, HOW_EACH };

/* A column writes itself as it goes: nothing but two values as long as all are alike (the first may
 * differ: it is a step from nothing), and the coded values from then on. */
struct column {
	uint64_t first, same;
	char *at; /* NULL as long as all are alike */
	char *coded;
};

struct block_writer {
	uint32_t nr;
	size_t string_bytes;
	struct event last; /* only the numbers of it, and */
	int64_t last_ms;
	struct column v[NR_NUMBERS];
	struct buf s[NR_STRINGS];
};

static uint64_t fold(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static uint64_t unfold(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

struct block_writer *block_new(void)
{
	struct block_writer *w = mem_zalloc(sizeof(*w));

	for (int i = 0; i < NR_NUMBERS; i++)
		w->v[i].coded = mem_alloc((size_t)BLOCK_EVENTS * U64_ROOM);
	return w;
}

void block_free(struct block_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < NR_NUMBERS; i++)
		free(w->v[i].coded);
	for (int i = 0; i < NR_STRINGS; i++)
		buf_done(&w->s[i]);
	free(w);
}

uint32_t block_nr(const struct block_writer *w)
{
	return w->nr;
}

/* The value that ends the row of like ones: those before are coded now. */
static void begin_each(struct column *c, uint64_t v, uint32_t i)
{
	char *p = put_u64(c->coded, c->first);

	for (uint32_t k = 1; k < i; k++)
		p = put_u64(p, c->same);
	c->at = put_u64(p, v);
}

static inline void add_number(struct column *c, uint64_t v, uint32_t i)
{
	if (c->at)
		c->at = put_u64(c->at, v);
	else if (i > 1 && v != c->same)
		begin_each(c, v, i);
	else if (i)
		c->same = v;
	else
		c->first = v;
}

/* The first use of a column says "empty" for every event before. */
static void add_used_string(struct block_writer *w, struct buf *b, struct str s)
{
	if (!b->n && w->nr) {
		memset(buf_room(b, w->nr), 0, w->nr);
		b->n = w->nr;
	}
	buf_bytes(b, s);
	w->string_bytes += s.n;
}

static inline void add_string(struct block_writer *w, enum string column, struct str s)
{
	if (s.n || w->s[column].n)
		add_used_string(w, &w->s[column], s);
}

static void add_inline(struct block_writer *w, struct str s)
{
	buf_bytes(&w->s[STR_INLINE], s);
	w->string_bytes += s.n;
}

static inline void add_name(struct block_writer *w, const struct event_syms *syms,
			    enum sym_field field, struct str s)
{
	sym_t sym = syms->v[field];

	if (sym == SYM_INLINE)
		add_inline(w, s);
	add_number(&w->v[NR_SYM + field],
		   sym == SYM_INLINE ? 1
		   : sym             ? (uint64_t)sym + 1
				     : 0,
		   w->nr);
}

/* What is expected of an event follows from the one before: its line and offset begin where that
 * ended. */
static inline void add_place(struct block_writer *w, const struct event *ev)
{
	const struct event *last = &w->last;
	int64_t ms = ev->ns / MS - (ev->ns % MS < 0);
	uint32_t i = w->nr;

	add_number(&w->v[NR_MS], fold((uint64_t)(ms - w->last_ms)), i);
	add_number(&w->v[NR_NS], (uint64_t)ev->ns - (uint64_t)ms * MS, i);
	add_number(&w->v[NR_LINES], ev->nr_lines, i);
	add_number(&w->v[NR_LINE], fold(ev->line - last->line - last->nr_lines), i);
	add_number(&w->v[NR_LENGTH], ev->length, i);
	add_number(&w->v[NR_OFFSET], fold(ev->offset - last->offset - last->length), i);
	add_number(&w->v[NR_FILE], ev->file, i);
	w->last_ms = ms;
	w->last.nr_lines = ev->nr_lines;
	w->last.line = ev->line;
	w->last.length = ev->length;
	w->last.offset = ev->offset;
}

bool block_add(struct block_writer *w, const struct event_syms *syms, const struct event *ev)
{
	add_place(w, ev);
	add_number(&w->v[NR_TAG], code_tag(ev), w->nr);
	add_number(&w->v[NR_DURATION], (uint64_t)ev->duration + 1, w->nr);
	add_name(w, syms, SYM_NODE, ev->node);
	add_name(w, syms, SYM_THREAD, ev->thread);
	add_name(w, syms, SYM_POINT, ev->point);
	add_name(w, syms, SYM_TITLE, ev->title);
	add_name(w, syms, SYM_PEER, ev->peer);
	add_string(w, STR_KEY, ev->key);
	add_string(w, STR_SPAN, ev->span);
	add_string(w, STR_ID, ev->id);
	add_string(w, STR_AFTER, ev->after);
	add_string(w, STR_ATTRS, ev->attrs);
	add_string(w, STR_TEXT, ev->text);
	w->nr++;
	return w->nr == BLOCK_EVENTS || w->string_bytes >= BLOCK_STRING_BYTES;
}

static void close_column(struct buf *raw, struct column *c, uint32_t nr)
{
	buf_char(raw, c->at ? HOW_EACH : HOW_SAME);
	if (c->at) {
		buf_add(raw, (struct str){ c->coded, (size_t)(c->at - c->coded) });
	} else {
		buf_varint(raw, c->first);
		buf_varint(raw, nr > 1 ? c->same : c->first);
	}
	c->at = NULL;
}

void block_close(struct block_writer *w, struct buf *raw)
{
	buf_varint(raw, w->nr);
	if (!w->nr)
		return;
	for (int i = 0; i < NR_NUMBERS; i++)
		close_column(raw, &w->v[i], w->nr);
	for (int i = 0; i < NR_STRINGS; i++) {
		buf_bytes(raw, buf_str(&w->s[i]));
		buf_clear(&w->s[i]);
	}
	w->nr = 0;
	w->string_bytes = 0;
	w->last = (struct event){ 0 };
	w->last_ms = 0;
}

static void undo_steps(uint64_t *v, const uint64_t *length, uint32_t nr)
{
	v[0] = unfold(v[0]);
	for (uint32_t i = 1; i < nr; i++)
		v[i] = unfold(v[i]) + v[i - 1] + (length ? length[i - 1] : 0);
}

/* --- back ------------------------------------------------------------------------------------ */

static bool take_column(struct str *from, uint64_t *v, uint32_t nr)
{
	uint64_t how, last;

	if (!str_take_varint(from, &how) || how > HOW_EACH || !str_take_varint(from, &v[0]))
		return false;
	if (how == HOW_SAME) {
		if (!str_take_varint(from, &last))
			return false;
		for (uint32_t i = 1; i < nr; i++)
			v[i] = last;
		return true;
	}
	for (uint32_t i = 1; i < nr; i++)
		if (!str_take_varint(from, &v[i]))
			return false;
	return true;
}

static bool take_numbers(struct str *from, uint64_t (*v)[BLOCK_EVENTS], uint32_t nr)
{
	for (int i = 0; i < NR_NUMBERS; i++)
		if (!take_column(from, v[i], nr))
			return false;
	undo_steps(v[NR_MS], NULL, nr);
	undo_steps(v[NR_LINE], v[NR_LINES], nr);
	undo_steps(v[NR_OFFSET], v[NR_LENGTH], nr);
	return true;
}

static bool set_name(struct str *s, uint64_t v, const struct syms *t, struct str *inlined)
{
	if (v == 1)
		return str_take_bytes(inlined, s);
	if (v > t->names.nr)
		return false;
	*s = v ? names_str(&t->names, (sym_t)(v - 1)) : STR("");
	return true;
}

static bool set_numbers(struct event *ev, uint64_t (*v)[BLOCK_EVENTS], uint32_t i,
			const struct syms *t, struct str *inlined)
{
	struct str *const names[] = { &ev->node, &ev->thread, &ev->point, &ev->title, &ev->peer };

	*ev = (struct event){ .ns = (int64_t)(v[NR_MS][i] * MS + v[NR_NS][i]),
			      .file = (uint32_t)v[NR_FILE][i],
			      .nr_lines = (uint32_t)v[NR_LINES][i],
			      .line = v[NR_LINE][i],
			      .offset = v[NR_OFFSET][i],
			      .length = v[NR_LENGTH][i],
			      .duration = (int64_t)(v[NR_DURATION][i] - 1) };
	for (int f = 0; f <= SYM_PEER; f++)
		if (!set_name(names[f], v[NR_SYM + f][i], t, inlined))
			return false;
	return v[NR_FILE][i] <= UINT32_MAX && v[NR_LINES][i] <= UINT32_MAX &&
	       code_set_tag(ev, v[NR_TAG][i]);
}

static bool set_strings(struct event *ev, struct str *columns)
{
	struct str *const to[] = {
		&ev->key, &ev->span, &ev->id, &ev->after, &ev->attrs, &ev->text
	};

	for (int i = 0; i < STR_INLINE; i++) {
		*to[i] = STR("");
		if (columns[i].n && !str_take_bytes(&columns[i], to[i]))
			return false;
	}
	return true;
}

uint32_t block_count(struct str raw)
{
	uint64_t nr;

	return str_take_varint(&raw, &nr) && nr <= BLOCK_EVENTS ? (uint32_t)nr : 0;
}

bool block_decode(struct str raw, const struct syms *t, struct event *events)
{
	uint64_t(*v)[BLOCK_EVENTS] = mem_alloc(sizeof(*v) * NR_NUMBERS), skip;
	uint32_t nr = block_count(raw);
	struct str columns[NR_STRINGS];
	bool ok;

	ok = nr && str_take_varint(&raw, &skip) && take_numbers(&raw, v, nr);
	for (int i = 0; i < NR_STRINGS && ok; i++)
		ok = str_take_bytes(&raw, &columns[i]);
	for (uint32_t i = 0; i < nr && ok; i++)
		ok = set_numbers(&events[i], v, i, t, &columns[STR_INLINE]) &&
		     set_strings(&events[i], columns);
	free(v);
	return ok;
}
