#include "ident/line_put.h"

#include <ctype.h>
#include <string.h>

#include "ident/chars.h"
#include "ident/overrides.h"

#define LOCAL_NAME STR("localhost")
#define LOCAL_IP STR("127.0.0.1")

struct str line_keep(struct line *l, struct str s)
{
	char *to = l->room + l->nr_room;

	if (s.n > LINE_ROOM - l->nr_room) {
		l->is_cut = true;
		return STR("");
	}
	if (s.n)
		memcpy(to, s.p, s.n);
	l->nr_room += s.n;
	return (struct str){ to, s.n };
}

static bool is_escaped_comma(struct str s)
{
	return s.n > 2 && s.p[0] == '%' && s.p[1] == '2' && (s.p[2] | 0x20) == 'c';
}

struct str line_spell(struct str text, const struct spelling *s, struct str prefix, char *to)
{
	struct str v = str_head(str_skip(text, s->from), (size_t)(s->to - s->from));
	size_t n = prefix.n;

	if (!n && !s->how)
		return v;
	if (n)
		memcpy(to, prefix.p, n);
	for (size_t i = 0; i < v.n; i++) {
		char c = v.p[i];

		if ((s->how & SPELT_DECODED) && is_escaped_comma(str_skip(v, i))) {
			c = ',';
			i += 2;
		}
		if ((s->how & SPELT_PORT) && c == ' ') {
			while (i + 1 < v.n && !chars_is(v.p[i + 1], CHAR_DIGIT))
				i++;
			c = ':';
		}
		if ((s->how & SPELT_PORT) && (c == '/' || c == '#'))
			c = ':';
		if (s->how & SPELT_SMALL)
			c = (char)tolower((unsigned char)c);
		if ((s->how & SPELT_COLON) && c == ',')
			c = ':';
		to[n++] = c;
	}
	return (struct str){ to, n };
}

/* A type that is kept, and where its value stands. */
void line_put(struct naming *n, struct str type, struct str prefix, struct spelling s,
	      uint32_t place)
{
	struct line *l = n->l;
	struct named *v = &l->v[l->nr];
	size_t bytes = prefix.n + (size_t)(s.to - s.from);

	if (n->aids->overrides)
		type = overrides_type(n->aids->overrides, type);
	if (!type.n || s.from >= s.to)
		return;
	if (l->nr == LINE_NAMES || bytes > LINE_ROOM - l->nr_room) {
		l->is_cut = true;
		return;
	}
	s.nr_prefix = (uint8_t)prefix.n;
	v->type = type;
	v->place = place | n->place;
	v->value = line_spell(n->text, &s, prefix, l->room + l->nr_room);
	if (v->value.p == l->room + l->nr_room)
		l->nr_room += v->value.n;
	l->spelt[l->nr++] = s;
}

struct spelling line_part(const struct naming *n, struct str s)
{
	size_t from = (size_t)(s.p - n->text.p);

	return (struct spelling){ .from = (uint16_t)from, .to = (uint16_t)(from + s.n) };
}

/* "uuid/req" in req-*: what stands in front tells which it is, whose it may be elsewhere its value
 * tells. */
static struct str type_within(struct naming *n, struct str kind, struct str outer)
{
	char to[LINE_TITLE];
	size_t front = 0, bytes = kind.n;

	while (front < outer.n && chars_is(outer.p[front], CHAR_LETTER))
		front++;
	memcpy(to, kind.p, kind.n);
	if (front && front < sizeof(to) - kind.n && !token_is_uuid(outer) &&
	    !chars_is(outer.p[front], CHAR_DIGIT)) {
		to[bytes++] = '/';
		memcpy(to + bytes, outer.p, front);
		bytes += front;
	}
	return line_keep(n->l, (struct str){ to, bytes });
}

/* Hexadecimal numbers and UUIDs within: what they name stands elsewhere by itself. */
static void put_within(struct naming *n, struct str outer, uint32_t place)
{
	struct str s = outer;

	while (s.n) {
		size_t bytes = 0;

		while (bytes < s.n && chars_is(s.p[bytes], CHAR_ALNUM))
			bytes++;
		if (token_is_uuid(s)) {
			line_put_hex(n, str_head(s, TOKEN_UUID_BYTES),
				     type_within(n, STR("uuid"), outer), place | NAMED_WITHIN);
			bytes = TOKEN_UUID_BYTES;
		} else if (bytes && token_is_hex(str_head(s, bytes))) {
			line_put_hex(n, str_head(s, bytes), type_within(n, STR("hex"), outer),
				     place | NAMED_WITHIN);
		}
		s = str_skip(s, bytes ? bytes : 1);
	}
}

void line_put_schema(struct naming *n, struct str s, uint32_t place)
{
	char to[LINE_TITLE];
	size_t bytes = token_schema(s, to, sizeof(to));

	line_put(n, line_keep(n->l, (struct str){ to, bytes }), STR(""), line_part(n, s), place);
	/* in container_1_2_<hex> the number goes on with the others and means nothing alone */
	if (memchr(to, '*', bytes) && !memmem(to, bytes, "#_#", 3))
		put_within(n, s, place);
}

/* localhost:80 and 127.0.0.1:80 are one. */
void line_put_address(struct naming *n, struct str s, uint32_t place, uint8_t how)
{
	const char *colon = memchr(s.p, ':', s.n);
	bool has_port = how || (colon && colon == memrchr(s.p, ':', s.n));
	struct str type = has_port ? STR("ip:port") : STR("ip");
	struct str prefix = STR("");
	struct spelling spelt;

	if (str_starts(s, LOCAL_NAME) &&
	    (s.n == LOCAL_NAME.n || strchr(":,%", s.p[LOCAL_NAME.n]))) {
		prefix = LOCAL_IP;
		s = str_skip(s, LOCAL_NAME.n);
	}
	spelt = line_part(n, s);
	spelt.how = how;
	line_put(n, type, prefix, spelt, place);
}

void line_put_hex(struct naming *n, struct str s, struct str type, uint32_t place)
{
	struct spelling spelt = line_part(n, s);

	for (size_t i = 0; i < s.n; i++)
		if (isupper((unsigned char)s.p[i]))
			spelt.how = SPELT_SMALL;
	line_put(n, type, STR(""), spelt, place);
}
