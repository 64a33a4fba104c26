#include "ask/complaints.h"

#include <string.h>

#include "base/error.h"
#include "store/store.h"

#define TEXT_BYTES 120
#define READ_BYTES 4096 /* of one line and its stack */
#define NAMED_BY 2      /* nodes, where there are so many */
#define TEXTS_MOST 1000
#define NAMES_MOST 16 /* addresses in one line */

void complaints_done(struct complaints *c)
{
	vec_each (&c->v, one)
		vec_done(&one->times);
	vec_done(&c->v);
	vec_done(&c->named);
	names_done(&c->texts);
	names_done(&c->addresses);
	buf_done(&c->text);
	buf_done(&c->masked);
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_word(char ch)
{
	return is_digit(ch) || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
	       ch == '.' || ch == '-' || ch == '/' || ch == ':' || ch == '=' || (ch & 0x80);
}

/* A run of signs that make one word; false at the end. */
static bool take_word(struct str *s, struct str *between, struct str *word)
{
	size_t i = 0, n;

	while (i < s->n && !is_word(s->p[i]))
		i++;
	*between = str_head(*s, i);
	for (n = i; n < s->n && is_word(s->p[n]); n++)
		;
	*word = (struct str){ s->p + i, n - i };
	*s = str_skip(*s, n);
	return between->n || word->n;
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_digit(s.p[i]))
			return true;
	return false;
}

void complaints_mask(struct str text, struct str point, struct buf *out)
{
	size_t at = point.n ? str_find(text, point) : text.n, line = 0;
	struct str between, word;

	while (line < text.n && text.p[line] != '\n')
		line++;
	if (at + point.n < line) {
		text = (struct str){ text.p + at + point.n, line - at - point.n };
		while (text.n && (text.p[0] == ':' || text.p[0] == ' ' || text.p[0] == '-'))
			text = str_skip(text, 1);
	} else {
		text = str_head(text, line);
	}
	while (out->n < TEXT_BYTES && take_word(&text, &between, &word)) {
		buf_add(out, between);
		buf_add(out, has_digit(word) ? STR("<*>") : word);
	}
	if (out->n <= TEXT_BYTES)
		return;
	out->n = TEXT_BYTES;
	/* not in the middle of a character */
	while (out->n && (out->p[out->n] & 0xc0) == 0x80)
		out->n--;
}

/* "host:1234", without what stands around it. */
static bool is_address(struct str *word)
{
	size_t colon, n;

	while (word->n && (word->p[0] == '/' || word->p[0] == ':'))
		*word = str_skip(*word, 1);
	for (colon = 0; colon < word->n && word->p[colon] != ':'; colon++)
		/* "Connection.java:1058" is a place in the program; hosts are not written so */
		if (word->p[colon] == '/' || word->p[colon] == '=' ||
		    (word->p[colon] >= 'A' && word->p[colon] <= 'Z'))
			return false;
	for (n = colon + 1; n < word->n && is_digit(word->p[n]); n++)
		;
	/* fewer digits are those of a time of day */
	if (!colon || n < colon + 4 || n > colon + 6)
		return false;
	*word = str_head(*word, n);
	return true;
}

static size_t count_addresses(struct complaints *c, struct str text, sym_t node, sym_t *seen)
{
	size_t nr = 0;
	struct str between, word;

	while (take_word(&text, &between, &word)) {
		sym_t address;
		size_t i = 0;

		/* in a stack, "(File.java:123)" is a place in the program */
		if (between.n && between.p[between.n - 1] == '(')
			continue;
		if (!is_address(&word) || nr == NAMES_MOST)
			continue;
		address = names_add(&c->addresses, word);
		while (i < nr && seen[i] != address)
			i++;
		if (i < nr)
			continue;
		seen[nr++] = address;
		while (c->named.nr < address)
			vec_push(&c->named, (struct address_count){ 0 });
		c->named.v[address - 1].lines++;
		c->named.v[address - 1].nodes += c->named.v[address - 1].last != node;
		c->named.v[address - 1].last = node;
	}
	return nr;
}

static struct complaint *complaint_of(struct complaints *c, sym_t node, struct str text)
{
	sym_t sym = names_find(&c->texts, text);

	vec_each (&c->v, one)
		if (sym && one->node == node && str_eq(one->text, text))
			return one;
	if (c->v.nr >= TEXTS_MOST)
		return NULL;
	sym = names_add(&c->texts, text);
	vec_push(&c->v, (struct complaint){ .text = names_str(&c->texts, sym), .node = node });
	return &c->v.v[c->v.nr - 1];
}

struct reading {
	struct complaints *c;
	struct store *s;
	sym_t node;
	const struct activity *a;
};

/* Where a statement is known the point is its place in the program, which the line does not say:
 * then the message stands behind the thread and a word that ends in a colon. */
static struct str behind_thread(struct str text, const struct event *ev)
{
	struct str line = str_head(text, str_find_char(text, '\n'));
	size_t at = ev->thread.n ? str_find(line, ev->thread) : line.n, n;

	if (at == line.n || (ev->point.n && str_find(line, ev->point) < line.n))
		return text;
	line = str_skip(line, at + ev->thread.n);
	while (line.n && (line.p[0] == ' ' || line.p[0] == ']' || line.p[0] == ')'))
		line = str_skip(line, 1);
	n = str_find_char(line, ' ');
	if (n && n < line.n && line.p[n - 1] == ':')
		line = str_skip(line, n + 1);
	return line;
}

/* Without what a line begins with that is not known as its head: nothing but numbers and signs. */
static struct str behind_numbers(struct str masked)
{
	struct str rest = masked;

	while (rest.n) {
		if (str_starts(rest, STR("<*>")))
			rest = str_skip(rest, 3);
		else if (!is_word(rest.p[0]) || rest.p[0] == '-' || rest.p[0] == ':')
			rest = str_skip(rest, 1);
		else
			break;
	}
	return rest.n ? rest : masked;
}

static int read_one(void *ctx, uint64_t number, const struct event *ev)
{
	struct reading *r = ctx;
	struct error err = { 0 };
	struct complaint *one;
	sym_t named[NAMES_MOST];
	struct str text;
	size_t nr;

	(void)number;
	buf_clear(&r->c->text);
	buf_clear(&r->c->masked);
	if (ev->text.n)
		buf_add(&r->c->text, ev->text);
	else if (store_event_text(r->s, ev, &r->c->text, &err) <= 0)
		return 0;
	text = str_head(buf_str(&r->c->text), READ_BYTES);
	complaints_mask(behind_thread(text, ev), ev->point, &r->c->masked);
	nr = count_addresses(r->c, text, r->node, named);
	one = complaint_of(r->c, r->node, behind_numbers(buf_str(&r->c->masked)));
	if (!one)
		return 0;
	for (size_t i = 0; i < nr && i < COMPLAINT_NAMES && !one->times.nr; i++)
		one->named[i] = named[i];
	vec_push(&one->times, ev->ns);
	return 0;
}

int complaints_read(struct complaints *c, struct store *s, const struct activity *a, sym_t but,
		    int64_t from, int64_t until, size_t at_most, struct error *err)
{
	size_t every = 1;

	vec_each (&a->v, l)
		every = l->warnings.nr / at_most >= every ? l->warnings.nr / at_most + 1 : every;
	for (size_t i = 0; i < a->v.nr; i++) {
		struct reading r = { c, s, (sym_t)i + 1, a };
		size_t nr = 0;

		if (r.node == but)
			continue;
		vec_each (&a->v.v[i].warnings, w) {
			int got;

			if (w->ns < from || w->ns >= until || nr++ % every)
				continue;
			got = store_each_event(s, w->event, 1, read_one, &r, err);
			if (got < 0)
				return got;
		}
	}
	return 0;
}

static int read_any(void *ctx, uint64_t number, const struct event *ev)
{
	struct reading *r = ctx;

	r->node = names_find(&r->a->nodes, ev->node);
	return r->node ? read_one(ctx, number, ev) : 0;
}

int complaints_read_lines(struct complaints *c, struct store *s, const struct activity *a,
			  const uint64_t *events, size_t nr, struct error *err)
{
	struct reading r = { c, s, 0, a };
	int got = 0;

	for (size_t i = 0; i < nr && got >= 0; i++)
		got = store_each_event(s, events[i], 1, read_any, &r, err);
	return got < 0 ? got : 0;
}

const struct complaint *complaints_about(const struct complaints *c, struct str address)
{
	sym_t sym = names_find(&c->addresses, address);

	vec_each (&c->v, one)
		for (size_t i = 0; i < COMPLAINT_NAMES && sym; i++)
			if (one->named[i] == sym)
				return one;
	return NULL;
}

struct str complaints_named(const struct complaints *c, size_t at, uint64_t *lines)
{
	*lines = at < c->named.nr ? c->named.v[at].lines : 0;
	return at < c->named.nr ? names_str(&c->addresses, (sym_t)at + 1) : STR("");
}

const struct complaint *complaints_most(const struct complaints *c)
{
	const struct complaint *most = NULL;

	vec_each (&c->v, one)
		if (!most || one->times.nr > most->times.nr)
			most = one;
	return most;
}

struct str complaints_address(const struct complaints *c)
{
	const struct address_count *most = NULL;

	vec_each (&c->named, one)
		if (!most || one->nodes > most->nodes ||
		    (one->nodes == most->nodes && one->lines > most->lines))
			most = one;
	if (!most || most->nodes < NAMED_BY)
		return STR("");
	return names_str(&c->addresses, (sym_t)(most - c->named.v) + 1);
}
