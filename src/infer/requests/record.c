/*
 *	KEY \t e \t gap length lines … node thread … names        an event: columns with tabs
 *between KEY \t b \t 120 \t columns of the first, of the second …  a block of 120
 *
 * No byte of a column can end a column or a line: tab, newline, carriage return, zero and backslash
 * are written with a backslash. In a block, backslash and digits is a text that the same column had
 * before, by its number. The last column holds names, each a text of its own
 * behind a record separator. Numbers are differences to the event before, so that most are small.
 */
#include "infer/requests/record.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/time.h"
#include "infer/requests/sight.h"
#include "model/event.h"
#include "model/loss.h"

enum { NR_COLUMNS = 19, LAST_COLUMN = NR_COLUMNS - 1, SHORT_BYTES = 3, NAME = '\x1e' };

struct record_column {
	struct names seen;
	struct buf packed;
	struct str rest;
};

static const char special[] = "\\\t\n\r\x1e", letters[] = "\\tnrs";

void record_add_text(struct buf *b, struct str s)
{
	char *p = buf_room(b, 2 * s.n), *from = p;

	for (size_t i = 0; i < s.n; i++) {
		bool is_plain = (unsigned char)s.p[i] > NAME && s.p[i] != '\\';
		const char *at = !is_plain && s.p[i] ? strchr(special, s.p[i]) : NULL;

		if (at || !s.p[i]) {
			*p++ = '\\';
			*p++ = at ? letters[at - special] : 'z';
		} else {
			*p++ = s.p[i];
		}
	}
	b->n += (size_t)(p - from);
}

struct str record_text(struct str s, struct arena *arena)
{
	char *to, *p;

	if (str_find_char(s, '\\') == s.n)
		return s;
	p = to = arena_alloc(arena, s.n);
	for (size_t i = 0; i < s.n; i++) {
		const char *at = NULL;

		if (s.p[i] == '\\' && i + 1 < s.n)
			at = s.p[++i] == 'z' ? "" : strchr(letters, s.p[i]);
		*p++ = !at ? s.p[i] : *at ? special[at - letters] : 0;
	}
	return (struct str){ to, (size_t)(p - to) };
}

void record_begin(struct buf *b, const struct record_key *key, enum record_kind kind)
{
	buf_fmt(b, "%08x%016llx%08x\t%c\t", key->file, (unsigned long long)key->part, key->nr,
		kind);
}

static bool take_hex(struct str *s, unsigned nr, uint64_t *v)
{
	struct str digits = str_head(*s, nr);

	if (digits.n < nr || !str_take_hex(&digits, v) || digits.n)
		return false;
	*s = str_skip(*s, nr);
	return true;
}

void record_add_sealed(struct buf *b, struct str s)
{
	buf_fmt(b, "%016llx", (unsigned long long)str_hash(s));
	record_add_text(b, s);
}

bool record_sealed(struct str s, struct arena *arena, struct str *bytes)
{
	uint64_t sum;

	if (!take_hex(&s, 16, &sum))
		return false;
	*bytes = record_text(s, arena);
	return str_hash(*bytes) == sum;
}

bool record_take(struct str line, struct record_key *key, enum record_kind *kind, struct str *body)
{
	uint64_t file, part, nr;

	if (!take_hex(&line, 8, &file) || !take_hex(&line, 16, &part) || !take_hex(&line, 8, &nr) ||
	    !str_take_char(&line, '\t') || line.n < 2 || line.p[1] != '\t' || !line.p[0] ||
	    !strchr("ebftzclrs", line.p[0]))
		return false;
	*key = (struct record_key){ (uint32_t)file, part, (uint32_t)nr };
	*kind = (enum record_kind)line.p[0];
	*body = str_skip(line, 2);
	return true;
}

static void put_number(struct buf *b, int64_t v)
{
	if (v)
		buf_fmt(b, "%lld", (long long)v);
	buf_char(b, '\t');
}

static void put_column(struct buf *b, struct str s)
{
	record_add_text(b, s);
	buf_char(b, '\t');
}

static size_t varint_bytes(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

/* Whether taking it apart and packing it again gives the same bytes. */
static bool is_packed(struct str values)
{
	struct sight s;
	struct str name;
	size_t flag, n;

	if (!sight_open(&s, values))
		return false;
	flag = (size_t)(s.shape.p + s.shape.n - values.p);
	n = flag + 1 + varint_bytes(s.nr_own) + varint_bytes(s.nr_thread);
	while (sight_next(&s, &name)) {
		if (s.hash != str_hash(name))
			return false;
		n += sizeof(s.hash) + varint_bytes(name.n) + name.n;
	}
	return n == values.n && !(values.p[flag] & ~1);
}

/* The shape comes again and again, and so do names, each by itself. What is not packed as sight.h
 * does goes as it is. */
static void put_values(struct buf *b, struct str values)
{
	struct sight s;
	struct str name;

	if (!is_packed(values) || !sight_open(&s, values)) {
		put_column(b, STR(""));
		buf_char(b, '=');
		record_add_text(b, values);
		return;
	}
	put_column(b, str_head(values, (size_t)(s.shape.p + s.shape.n - values.p)));
	buf_fmt(b, "%u %llu %llu", s.flags, (unsigned long long)s.nr_own,
		(unsigned long long)s.nr_thread);
	while (sight_next(&s, &name)) {
		buf_char(b, NAME);
		record_add_text(b, name);
	}
}

void record_event(struct buf *b, struct record_last *last, const struct event *ev)
{
	put_number(b, (int64_t)(ev->offset - last->end));
	put_number(b, (int64_t)ev->length);
	put_number(b, (int64_t)(ev->line - last->line));
	put_number(b, ev->nr_lines);
	put_number(b, (int64_t)((uint64_t)ev->ns - last->ns));
	put_number(b, ev->level);
	put_number(b, ev->key_kind);
	put_number(b, ev->duration);
	put_number(b, ev->statement);
	put_column(b, ev->node);
	put_column(b, ev->thread);
	put_column(b, ev->point);
	put_column(b, ev->key);
	put_column(b, ev->span);
	put_column(b, ev->title);
	put_column(b, ev->attrs);
	put_column(b, ev->text);
	put_values(b, ev->values);
	*last = (struct record_last){ ev->offset + ev->length, ev->line + ev->nr_lines,
				      (uint64_t)ev->ns };
}

static bool take_column(struct str *body, struct str *column)
{
	if (str_take_until(body, '\t', column))
		return true;
	*column = *body;
	*body = (struct str){ body->p + body->n, 0 };
	return true;
}

static bool take_number(struct str *body, int64_t *v)
{
	struct str digits;

	*v = 0;
	if (!str_take_until(body, '\t', &digits))
		return false;
	return !digits.n || (str_take_int(&digits, v) && !digits.n);
}

static bool take_names(struct str names, struct str shape, struct arena *arena, struct str *values)
{
	uint64_t flags, nr_own, nr_thread;
	struct buf b = { 0 };

	if (!str_take_uint(&names, &flags) || flags > (SIGHT_CUT | SIGHT_LACKS_WORDS) ||
	    !str_take_char(&names, ' ') || !str_take_uint(&names, &nr_own) ||
	    !str_take_char(&names, ' ') || !str_take_uint(&names, &nr_thread))
		return false;
	buf_add(&b, shape);
	buf_char(&b, (char)flags);
	buf_varint(&b, nr_own);
	buf_varint(&b, nr_thread);
	while (str_take_char(&names, NAME)) {
		struct str one = str_head(names, str_find_char(names, NAME));

		names = str_skip(names, one.n);
		sight_put(&b, record_text(one, arena));
	}
	*values = arena_str(arena, buf_str(&b));
	buf_done(&b);
	return !names.n;
}

static bool take_strings(struct str *body, struct arena *arena, struct event *ev)
{
	struct str *to[] = { &ev->node, &ev->thread, &ev->point, &ev->key,
			     &ev->span, &ev->title,  &ev->attrs, &ev->text };
	struct str column, names;

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		if (!str_take_until(body, '\t', &column))
			return false;
		*to[i] = record_text(column, arena);
	}
	if (!str_take_until(body, '\t', &column) || !take_column(body, &names))
		return false;
	if (!str_take_char(&names, '='))
		return take_names(names, record_text(column, arena), arena, &ev->values);
	ev->values = record_text(names, arena);
	return true;
}

bool record_take_event(struct str *body, struct record_last *last, struct arena *arena,
		       struct event *ev)
{
	int64_t n[9];

	*ev = (struct event){ .kind = EVENT_LOG };
	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		if (!take_number(body, &n[i]))
			return false;
	if (!take_strings(body, arena, ev) || n[3] < 0 || n[3] > UINT32_MAX || n[8] < 0 ||
	    n[8] > UINT32_MAX || n[5] < 0 || n[5] > LEVEL_FATAL || n[6] < KEY_NONE ||
	    n[6] > KEY_TRACE)
		return false;
	ev->offset = last->end + (uint64_t)n[0];
	ev->length = (uint64_t)n[1];
	ev->line = last->line + (uint64_t)n[2];
	ev->nr_lines = (uint32_t)n[3];
	ev->ns = (int64_t)(last->ns + (uint64_t)n[4]);
	ev->level = (enum level)n[5];
	ev->key_kind = (enum key_kind)n[6];
	ev->duration = n[7];
	ev->statement = (uint32_t)n[8];
	*last = (struct record_last){ ev->offset + ev->length, ev->line + ev->nr_lines,
				      (uint64_t)ev->ns };
	return true;
}

void record_raw(struct buf *b, const struct record_raw *raw)
{
	buf_fmt(b, "%llu\t%llu\t", (unsigned long long)raw->offset, (unsigned long long)raw->line);
	record_add_text(b, raw->lines);
}

bool record_take_raw(struct str body, struct arena *arena, struct record_raw *raw)
{
	if (!str_take_uint(&body, &raw->offset) || !str_take_char(&body, '\t') ||
	    !str_take_uint(&body, &raw->line) || !str_take_char(&body, '\t'))
		return false;
	raw->lines = record_text(body, arena);
	return true;
}

void record_losses(struct buf *b, const struct losses *losses)
{
	for (int i = 0; i < LOSS_NR; i++)
		if (losses->count[i])
			buf_fmt(b, "\t%s=%llu", loss_name((enum loss)i),
				(unsigned long long)losses->count[i]);
}

void record_end(struct buf *b, const struct record_end *end, const struct losses *losses)
{
	buf_fmt(b, "%u\t%llu\t%llu", end->nr, (unsigned long long)end->bytes,
		(unsigned long long)end->lines);
	record_losses(b, losses);
}

static bool take_loss(struct str s, struct losses *losses)
{
	char name[64];
	struct str text;
	uint64_t count;
	enum loss loss;

	if (!str_take_until(&s, '=', &text) || text.n >= sizeof(name) || !str_take_uint(&s, &count))
		return false;
	memcpy(name, text.p, text.n);
	name[text.n] = 0;
	if (s.n || !loss_find(name, &loss))
		return false;
	losses->count[loss] += count;
	return true;
}

bool record_take_losses(struct str body, struct losses *losses)
{
	struct str one;

	while (str_take_char(&body, '\t')) {
		one = str_head(body, str_find_char(body, '\t'));
		body = str_skip(body, one.n);
		if (!take_loss(one, losses))
			return false;
	}
	return !body.n;
}

bool record_take_end(struct str body, struct record_end *end, struct losses *losses)
{
	uint64_t nr;

	if (!str_take_uint(&body, &nr) || nr > UINT32_MAX || !str_take_char(&body, '\t') ||
	    !str_take_uint(&body, &end->bytes) || !str_take_char(&body, '\t') ||
	    !str_take_uint(&body, &end->lines))
		return false;
	end->nr = (uint32_t)nr;
	return record_take_losses(body, losses);
}

void record_block_done(struct record_block *k)
{
	for (unsigned i = 0; k->columns && i < NR_COLUMNS; i++) {
		names_done(&k->columns[i].seen);
		buf_done(&k->columns[i].packed);
	}
	free(k->columns);
	*k = (struct record_block){ 0 };
}

void record_block_clear(struct record_block *k)
{
	if (!k->columns)
		k->columns = mem_zalloc(mem_bytes(NR_COLUMNS, sizeof(*k->columns)));
	for (unsigned i = 0; i < NR_COLUMNS; i++) {
		names_done(&k->columns[i].seen);
		k->columns[i].seen = (struct names){ 0 };
		buf_clear(&k->columns[i].packed);
	}
	k->nr = 0;
	k->bytes = 0;
}

static bool has_columns(struct str body)
{
	unsigned nr = 1;

	for (struct str column; str_take_until(&body, '\t', &column);)
		nr++;
	return nr == NR_COLUMNS;
}

static void pack(struct record_column *c, struct str text)
{
	sym_t known = text.n > SHORT_BYTES ? names_find(&c->seen, text) : 0;

	if (known)
		buf_fmt(&c->packed, "\\%u", known);
	else
		buf_add(&c->packed, text);
	if (text.n > SHORT_BYTES && !known)
		names_add(&c->seen, text);
}

bool record_block_add(struct record_block *k, struct str body)
{
	if (!k->columns)
		record_block_clear(k);
	if (!has_columns(body))
		return false;
	k->bytes = 0;
	for (unsigned i = 0; i < NR_COLUMNS; i++) {
		struct record_column *c = &k->columns[i];
		struct str column, one;

		take_column(&body, &column);
		buf_char(&c->packed, '\t');
		while (i == LAST_COLUMN && str_take_until(&column, NAME, &one)) {
			pack(c, one);
			buf_char(&c->packed, NAME);
		}
		pack(c, column);
		k->bytes += c->packed.n;
	}
	k->nr++;
	return true;
}

void record_block_write(const struct record_block *k, struct buf *b)
{
	buf_fmt(b, "%u", k->nr);
	for (unsigned i = 0; k->nr && i < NR_COLUMNS; i++)
		buf_add(b, buf_str(&k->columns[i].packed));
}

bool record_block_open(struct record_block *k, struct str body, uint32_t *nr)
{
	uint64_t n;
	struct str one;

	record_block_clear(k);
	if (!str_take_uint(&body, &n) || n > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < NR_COLUMNS; i++) {
		k->columns[i].rest = body;
		for (uint64_t at = 0; at < n; at++) {
			if (!str_take_char(&body, '\t'))
				return false;
			one = str_head(body, str_find_char(body, '\t'));
			body = str_skip(body, one.n);
		}
	}
	*nr = (uint32_t)n;
	return !body.n;
}

/* Backslash and digits; no text begins like that. */
static bool unpack(struct names *seen, struct str text, struct buf *b)
{
	struct str digits = str_skip(text, 1);
	uint64_t nr;

	if (text.n > 1 && text.p[0] == '\\' && text.p[1] >= '0' && text.p[1] <= '9') {
		if (!str_take_uint(&digits, &nr) || digits.n || !nr || nr >= seen->nr)
			return false;
		text = names_str(seen, (sym_t)nr);
	} else if (text.n > SHORT_BYTES) {
		names_add(seen, text);
	}
	buf_add(b, text);
	return true;
}

static bool next_column(struct record_column *c, bool is_last, struct buf *event)
{
	struct str column, one;

	if (!str_take_char(&c->rest, '\t'))
		return false;
	column = str_head(c->rest, str_find_char(c->rest, '\t'));
	c->rest = str_skip(c->rest, column.n);
	while (is_last && str_take_until(&column, NAME, &one)) {
		if (!unpack(&c->seen, one, event))
			return false;
		buf_char(event, NAME);
	}
	return unpack(&c->seen, column, event);
}

bool record_block_next(struct record_block *k, struct buf *event)
{
	buf_clear(event);
	for (unsigned i = 0; i < NR_COLUMNS; i++) {
		if (i)
			buf_char(event, '\t');
		if (!next_column(&k->columns[i], i == LAST_COLUMN, event))
			return false;
	}
	return true;
}
