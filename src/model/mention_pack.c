#include "model/mention_pack.h"

#include <errno.h>

#include "base/time.h"

#define PLACE_MAX 0xff

void mention_packer_done(struct mention_packer *p)
{
	buf_done(&p->body);
	names_done(&p->strings);
}

void mention_packer_clear(struct mention_packer *p)
{
	buf_clear(&p->body);
	names_done(&p->strings);
	p->last_ns = 0;
}

static bool is_plain(unsigned char c)
{
	return c > ' ' && c != '%' && c != 0x7f;
}

static const char digits[] = "0123456789abcdef";

void mention_escape(struct buf *b, struct str text)
{
	char *to = buf_room(b, 3 * text.n);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (is_plain(c)) {
			to[n++] = (char)c;
			continue;
		}
		to[n++] = '%';
		to[n++] = digits[c >> 4];
		to[n++] = digits[c & 15];
	}
	b->n += n;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool mention_unescape(struct arena *arena, struct str text, struct str *back)
{
	char *to = arena_room(arena, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		int high, low;

		if (text.p[i] != '%') {
			to[n++] = text.p[i];
			continue;
		}
		if (text.n - i < 3)
			return false;
		high = digit_of(text.p[i + 1]);
		low = digit_of(text.p[i + 2]);
		if (high < 0 || low < 0)
			return false;
		to[n++] = (char)(high << 4 | low);
		i += 2;
	}
	*back = (struct str){ to, n };
	return true;
}

static void put_hex(struct buf *b, char before, uint64_t v)
{
	char text[17];
	size_t at = sizeof(text);

	do
		text[--at] = digits[v & 15];
	while (v >>= 4);
	text[--at] = before;
	buf_add(b, (struct str){ text + at, sizeof(text) - at });
}

static void begin_item(struct mention_packer *p, char kind)
{
	if (p->body.n)
		buf_char(&p->body, ' ');
	buf_char(&p->body, kind);
}

/* The number of the string, which is told on first sight. */
static uint64_t tell(struct mention_packer *p, struct str s)
{
	uint32_t known = p->strings.nr;
	sym_t sym = s.n ? names_add(&p->strings, s) : 0;

	if (p->strings.nr != known && sym) {
		begin_item(p, '=');
		mention_escape(&p->body, s);
	}
	return sym;
}

/* Folded around zero, so that both signs are short. */
static uint64_t fold(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unfold(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

static void put_times(struct mention_packer *p, const struct mention *m)
{
	if (m->first_ns == NS_NONE) {
		buf_add(&p->body, STR(",-,-"));
		return;
	}
	put_hex(&p->body, ',', fold((int64_t)((uint64_t)m->first_ns - (uint64_t)p->last_ns)));
	put_hex(&p->body, ',', (uint64_t)m->last_ns - (uint64_t)m->first_ns);
	p->last_ns = m->first_ns;
}

void mention_pack(struct mention_packer *p, const struct mention *m)
{
	uint64_t file = tell(p, m->file), node = tell(p, m->node), thread = tell(p, m->thread);
	uint64_t title = tell(p, m->title);

	for (size_t i = 0; i < m->nr; i++) {
		tell(p, m->v[i].type);
		tell(p, m->v[i].value);
	}
	if (p->body.n)
		buf_char(&p->body, ' ');
	put_hex(&p->body, '@', m->level);
	put_hex(&p->body, ',', file);
	put_hex(&p->body, ',', node);
	put_hex(&p->body, ',', thread);
	put_hex(&p->body, ',', m->template);
	put_hex(&p->body, ',', title);
	put_times(p, m);
	put_hex(&p->body, ',', m->count);
	for (size_t i = 0; i < m->nr; i++) {
		buf_char(&p->body, ' ');
		put_hex(&p->body, ':', tell(p, m->v[i].type));
		put_hex(&p->body, ',', m->v[i].place);
		put_hex(&p->body, ',', tell(p, m->v[i].value));
	}
}

void mention_pack_loss(struct mention_packer *p, enum loss loss, uint64_t count)
{
	begin_item(p, '!');
	buf_add(&p->body, str_of(loss_name(loss)));
	put_hex(&p->body, ',', count);
}

void mention_pack_note(struct mention_packer *p, struct str note)
{
	begin_item(p, '~');
	mention_escape(&p->body, note);
}

void mention_taker_init(struct mention_taker *t, struct str body)
{
	*t = (struct mention_taker){ .rest = body };
	vec_push(&t->strings, STR(""));
}

void mention_taker_done(struct mention_taker *t)
{
	vec_done(&t->strings);
	vec_done(&t->v);
	arena_done(&t->arena);
}

static bool take_item(struct str *s, struct str *item)
{
	size_t end;

	if (!s->n)
		return false;
	end = str_find_char(*s, ' ');
	*item = str_head(*s, end);
	*s = str_skip(*s, end + 1);
	return true;
}

static bool take_number(struct str *item, uint64_t *v)
{
	return str_take_char(item, ',') && str_take_hex(item, v);
}

static bool take_string(const struct mention_taker *t, struct str *item, struct str *s)
{
	uint64_t nr;

	if (!take_number(item, &nr) || nr >= t->strings.nr)
		return false;
	*s = t->strings.v[nr];
	return true;
}

static bool take_times(struct mention_taker *t, struct str *item, struct mention *m)
{
	uint64_t first, length;

	if (str_take(item, STR(",-,-"))) {
		m->first_ns = m->last_ns = NS_NONE;
		return true;
	}
	if (!take_number(item, &first) || !take_number(item, &length))
		return false;
	m->first_ns = (int64_t)((uint64_t)t->last_ns + (uint64_t)unfold(first));
	if (m->first_ns == NS_NONE || length > (uint64_t)INT64_MAX ||
	    m->first_ns > INT64_MAX - (int64_t)length)
		return false;
	m->last_ns = m->first_ns + (int64_t)length;
	t->last_ns = m->first_ns;
	return true;
}

/* What follows the '@'. */
static bool take_mention(struct mention_taker *t, struct str item, struct mention *m)
{
	uint64_t level;

	if (!str_take_hex(&item, &level) || level > LEVEL_FATAL)
		return false;
	m->level = (enum level)level;
	return take_string(t, &item, &m->file) && take_string(t, &item, &m->node) &&
	       take_string(t, &item, &m->thread) && take_number(&item, &m->template) &&
	       take_string(t, &item, &m->title) && take_times(t, &item, m) &&
	       take_number(&item, &m->count) && m->count && !item.n;
}

static bool take_named(struct mention_taker *t, struct str item)
{
	struct named named = { 0 };
	uint64_t type, place;

	if (!str_take_hex(&item, &type) || type >= t->strings.nr || !take_number(&item, &place) ||
	    place > PLACE_MAX || !take_string(t, &item, &named.value) || item.n)
		return false;
	named.type = t->strings.v[type];
	named.place = (uint32_t)place;
	vec_push(&t->v, named);
	return true;
}

/* One that a newer writer knows and we do not is counted as such. */
static bool take_loss(struct mention_taker *t, struct str item)
{
	size_t at = str_find_char(item, ',');
	const char *name = arena_z(&t->arena, str_head(item, at));
	enum loss loss;
	uint64_t count;

	item = str_skip(item, at);
	if (!take_number(&item, &count) || item.n)
		return false;
	if (loss_find(name, &loss))
		t->losses.count[loss] += count;
	else
		t->nr_losses_unknown += count;
	return true;
}

/* Items of other kinds than a mention's. */
static bool take_other(struct mention_taker *t, struct str item)
{
	struct str s;

	if (!item.n)
		return false;
	switch (item.p[0]) {
	case '=':
		if (!mention_unescape(&t->arena, str_skip(item, 1), &s))
			return false;
		vec_push(&t->strings, s);
		return true;
	case '!':
		return take_loss(t, str_skip(item, 1));
	default:
		return item.p[0] == '~';
	}
}

int mention_take(struct mention_taker *t, struct mention *m)
{
	struct str item, ahead;
	bool has_one = false;

	vec_clear(&t->v);
	while (ahead = t->rest, take_item(&ahead, &item)) {
		bool begins = item.n && item.p[0] == '@', goes_on = item.n && item.p[0] == ':';

		if (has_one && !goes_on)
			break;
		if (begins) {
			*m = (struct mention){ 0 };
			has_one = take_mention(t, str_skip(item, 1), m);
			if (!has_one)
				return -EBADMSG;
		} else if (goes_on ? !has_one || !take_named(t, str_skip(item, 1))
				   : !take_other(t, item)) {
			return -EBADMSG;
		}
		t->rest = ahead;
	}
	if (!has_one)
		return 0;
	m->v = t->v.v;
	m->nr = t->v.nr;
	return 1;
}

bool mention_take_note(struct str *body, struct arena *arena, struct str *note)
{
	struct str item;

	while (take_item(body, &item))
		if (str_take_char(&item, '~') && mention_unescape(arena, item, note))
			return true;
	return false;
}
