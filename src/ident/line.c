/*
 * The tokens of a line, from left to right: what each one names, if anything, and what is left of
 * the text when all that varies is masked. Which type an identifier has is shown by its schema
 * (attempt_#_m_#), or else by the word in front (stage 3). Whether what is found really names
 * something is decided by all values of the type later on; here only that is left out which cannot.
 */
#include "ident/line.h"

#include <ctype.h>
#include <string.h>

#include "ident/chars.h"
#include "ident/key.h"
#include "ident/look.h"
#include "ident/masked.h"
#include "ident/token.h"
#include "ident/wording.h"

#define LOCAL_NAME STR("localhost")
#define LOCAL_IP STR("127.0.0.1")
enum { STAT_PAIRS = 4, PATH_PARTS = 12, MANY_DOTS = 3 };

struct naming {
	struct line *l;
	struct str text;
	const struct tokens *t;
	uint32_t place; /* of all that is found */
	bool is_stat;   /* the line tells amounts */
};

static struct str text_of(const struct naming *n, const struct token *t)
{
	return str_head(str_skip(n->text, t->from), (size_t)(t->to - t->from));
}

/* --- what is found ------------------------------------------------------------------------- */

static struct str keep(struct line *l, struct str s)
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

		if (s->how & SPELT_SMALL)
			c = (char)tolower((unsigned char)c);
		if ((s->how & SPELT_COLON) && c == ',')
			c = ':';
		if ((s->how & SPELT_DECODED) && c == '%' && i + 2 < v.n && v.p[i + 1] == '2' &&
		    (v.p[i + 2] | 0x20) == 'c') {
			c = ',';
			i += 2;
		}
		to[n++] = c;
	}
	return (struct str){ to, n };
}

/* A type that is kept, and where its value stands. */
static void put(struct naming *n, struct str type, struct str prefix, struct spelling s,
		uint32_t place)
{
	struct line *l = n->l;
	struct named *v = &l->v[l->nr];
	size_t bytes = prefix.n + (size_t)(s.to - s.from);

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

static struct spelling whole(const struct token *t)
{
	return (struct spelling){ .from = t->from, .to = t->to };
}

static struct spelling part(const struct naming *n, struct str s)
{
	size_t from = (size_t)(s.p - n->text.p);

	return (struct spelling){ .from = (uint16_t)from, .to = (uint16_t)(from + s.n) };
}

/* "hex/region" where the word in front says what it is. */
static struct str type_with_key(struct naming *n, struct str kind, size_t at)
{
	char to[WORDING_KEY + 8];
	struct key key;
	size_t bytes = kind.n;

	memcpy(to, kind.p, kind.n);
	if (key_of(n->t, n->text, at, &key) && !wording_is_amount(key_str(&key))) {
		to[bytes++] = '/';
		memcpy(to + bytes, key.v, key.n);
		bytes += key.n;
	}
	return keep(n->l, (struct str){ to, bytes });
}

static void put_schema(struct naming *n, struct str s, uint32_t place)
{
	char to[LINE_TITLE];
	struct str stem = s;
	size_t bytes = token_schema(stem, to, sizeof(to));

	put(n, keep(n->l, (struct str){ to, bytes }), STR(""), part(n, s), place);
}

/* localhost:80 and 127.0.0.1:80 are one. */
static void put_address(struct naming *n, struct str s, uint32_t place, uint8_t how)
{
	struct str type = memchr(s.p, ':', s.n) || how ? STR("ip:port") : STR("ip");
	struct str prefix = STR("");
	struct spelling spelt;

	if (str_starts(s, LOCAL_NAME) && (s.n == LOCAL_NAME.n || strchr(":,", s.p[LOCAL_NAME.n]))) {
		prefix = LOCAL_IP;
		s = str_skip(s, LOCAL_NAME.n);
	}
	spelt = part(n, s);
	spelt.how = how;
	put(n, keep(n->l, type), prefix, spelt, place);
}

static void put_hex(struct naming *n, struct str s, struct str type, uint32_t place)
{
	struct spelling spelt = part(n, s);

	for (size_t i = 0; i < s.n; i++)
		if (isupper((unsigned char)s.p[i]))
			spelt.how = SPELT_SMALL;
	put(n, type, STR(""), spelt, place);
}

/* --- paths --------------------------------------------------------------------------------- */

/* Without a suffix of letters, as files have. */
static struct str stem_of(struct str s)
{
	const char *dot = memrchr(s.p, '.', s.n);
	size_t n = dot ? (size_t)(dot - s.p) : s.n;

	if (!dot || !n || s.n - n > 12)
		return s;
	for (size_t i = n + 1; i < s.n; i++)
		if (!chars_is(s.p[i], CHAR_LETTER | CHAR_UNDER))
			return s;
	return str_head(s, n);
}

/* A number among the parts of a path is one of what stands in front: /users/17. */
static void put_numbered(struct naming *n, struct str number, struct str before)
{
	char key[WORDING_KEY];
	size_t bytes = wording_key(before, key);

	if (bytes > 2 && key[bytes - 1] == 's' && key[bytes - 2] != 's')
		bytes--;
	if (bytes && !wording_is_amount((struct str){ key, bytes }))
		put(n, keep(n->l, (struct str){ key, bytes }), STR(""), part(n, number),
		    NAMED_WITHIN | NAMED_NUMBER);
}

/* What a part of a path or of joined parts names. */
static void put_part(struct naming *n, struct str s, struct str before)
{
	struct str stem = stem_of(s);

	if (!stem.n)
		return;
	switch (token_look(stem)) {
	case TOKEN_NUMBER:
		put_numbered(n, stem, before);
		break;
	case TOKEN_HEX:
		put_hex(n, stem, keep(n->l, STR("hex")), NAMED_WITHIN);
		break;
	case TOKEN_UUID:
		put_hex(n, stem, keep(n->l, STR("uuid")), NAMED_WITHIN);
		break;
	case TOKEN_IP:
	case TOKEN_ADDRESS:
		put_address(n, stem, NAMED_WITHIN, 0);
		break;
	case TOKEN_MIXED:
		if (token_is_uuid(stem))
			put_hex(n, stem, keep(n->l, STR("uuid")), NAMED_WITHIN);
		else
			put_schema(n, stem, NAMED_WITHIN);
		break;
	default:
		break;
	}
}

static void put_parts(struct naming *n, struct str path)
{
	struct str before = STR("");

	for (int i = 0; path.n && i < PATH_PARTS; i++) {
		size_t end = str_find_char(path, '/');
		struct str one = str_head(path, end);

		if (one.n) {
			put_part(n, one, before);
			before = one;
		}
		path = str_skip(path, end + 1);
	}
	if (path.n)
		n->l->is_cut = true;
}

static void put_path(struct naming *n, struct str path)
{
	char type[LINE_TITLE] = "path/";
	struct str top = str_skip(path, 1), shown;
	size_t bytes = strlen(type);

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (path.n < 2)
		return;
	shown = str_head(top, str_find_char(top, '/'));
	bytes += token_schema(shown, type + bytes, sizeof(type) - bytes);
	put(n, keep(n->l, (struct str){ type, bytes }), STR(""), part(n, path), 0);
	put_parts(n, str_skip(path, 1));
}

static void put_url(struct naming *n, struct str url)
{
	size_t at = look_url_path(url), host = str_find(url, STR("://")) + 3;
	struct str authority = str_skip(str_head(url, at), host);

	if (authority.n && token_look(authority) == TOKEN_ADDRESS)
		put_address(n, authority, NAMED_WITHIN, 0);
	put_path(n, str_skip(url, at));
}

/* --- joined parts -------------------------------------------------------------------------- */

/* Host, port and when it was started; or a name, a place in it, a number and more. */
static void put_joined(struct naming *n, struct str s)
{
	size_t a = str_find_char(s, ','), b = a + 1 + str_find_char(str_skip(s, a + 1), ',');
	struct str middle = str_head(str_skip(s, a + 1), b - a - 1), last = str_skip(s, b + 1);
	size_t dot = str_find_char(last, '.');
	bool is_host = middle.n && token_look(middle) == TOKEN_NUMBER && dot == last.n;

	put(n, keep(n->l, is_host ? STR("*,#,#") : STR("*,*,#")), STR(""), part(n, s), 0);
	if (is_host) {
		put_address(n, str_head(s, b), NAMED_WITHIN, SPELT_COLON);
		return;
	}
	put(n, keep(n->l, STR("*,")), STR(""), part(n, str_head(s, a)), NAMED_WITHIN | NAMED_WORD);
	if (dot < last.n)
		put_part(n, str_skip(last, dot + 1), STR(""));
}

/* --- numbers and words --------------------------------------------------------------------- */

static const struct token *token_behind(const struct naming *n, size_t at)
{
	return at + 1 < n->t->nr ? &n->t->v[at + 1] : NULL;
}

/* 5 ms, 3 rows: what follows says that it is an amount. */
static bool is_counted(const struct naming *n, size_t at, bool is_strong)
{
	const struct token *next = token_behind(n, at);
	struct str word;

	if (!next || next->kind != TOKEN_WORD || (next->before & ~(BEFORE_SPACE | BEFORE_OPEN)))
		return false;
	word = text_of(n, next);
	if (wording_is_unit(word))
		return !(next->before & BEFORE_OPEN);
	return !is_strong && wording_is_plural(word);
}

static void name_number(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	struct str s = text_of(n, t);
	struct key key;

	if (!key_of(n->t, n->text, at, &key) || is_counted(n, at, key.is_strong) ||
	    wording_is_amount(key_str(&key)))
		return;
	if (n->is_stat && !key.is_id)
		return;
	if (strchr("-+", s.p[0]) && token_digits(s.n - 1) < 10)
		return;
	if (t->kind == TOKEN_DECIMAL) {
		size_t dot = str_find_char(s, '.');

		/* "stage 3.0" is the first attempt of stage 3; others are amounts */
		if (key.is_strong || token_digits(dot) > 4 || token_digits(s.n - dot - 1) > 1)
			return;
		s = str_head(s, dot);
	}
	put(n, keep(n->l, key_str(&key)), STR(""), part(n, s), NAMED_NUMBER);
}

/* org.example.Thing: code, not a name that was given to something. */
static bool is_code(struct str s)
{
	size_t dots = 0;

	for (size_t i = 0; i < s.n; i++)
		dots += s.p[i] == '.' || s.p[i] == '$';
	return dots >= MANY_DOTS || memchr(s.p, '$', s.n) ||
	       (dots &&
		chars_is(*(const char *)((const char *)memrchr(s.p, '.', s.n) + 1), CHAR_UPPER));
}

static bool is_shouted(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (chars_is(s.p[i], CHAR_LOWER))
			return false;
	return s.n > 1;
}

/* Whether a value follows, so that the word is no value itself. */
static bool is_key(const struct naming *n, size_t at)
{
	const struct token *next = token_behind(n, at);

	return next && n->t->v[at].kind == TOKEN_WORD &&
	       (next->before & (BEFORE_EQUALS | BEFORE_COLON));
}

/* Nothing more of the same sentence stands behind it. */
static bool ends_value(const struct naming *n, size_t at)
{
	const struct token *next = token_behind(n, at);

	return !next || (next->before & ~(BEFORE_SPACE | BEFORE_OPEN | BEFORE_SLASH)) ||
	       is_key(n, at + 1);
}

static bool may_be_name(const struct naming *n, size_t at)
{
	struct str s = text_of(n, &n->t->v[at]);

	return !n->place && s.n > 1 && at && !is_key(n, at) && !wording_is_void(s) &&
	       !wording_is_function(s) && !wording_is_unit(s) && !is_shouted(s) && !is_code(s);
}

/* A word that is the value of a key: user=root, queue: default, user root. */
static bool name_word(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	struct key key;

	if (!may_be_name(n, at) || !key_of(n->t, n->text, at, &key) ||
	    wording_is_amount(key_str(&key)))
		return false;
	if (!ends_value(n, at) && !(key.is_strong && wording_is_noun_of_names(key_str(&key))))
		return false;
	if (!key.is_strong && !wording_is_noun_of_names(key_str(&key)))
		return false;
	put(n, keep(n->l, key_str(&key)), STR(""), whole(t), NAMED_WORD);
	return true;
}

/* --- the line ------------------------------------------------------------------------------ */

static bool tells_amounts(const struct tokens *t)
{
	size_t pairs = 0;

	for (size_t i = 1; i < t->nr; i++) {
		const struct token *v = &t->v[i];
		bool is_amount = v->kind == TOKEN_NUMBER || v->kind == TOKEN_DECIMAL ||
				 v->kind == TOKEN_QUANTITY;

		pairs += is_amount && t->v[i - 1].kind == TOKEN_WORD &&
			 (v->before & (BEFORE_EQUALS | BEFORE_COLON));
	}
	return pairs >= STAT_PAIRS;
}

/* Whether it varies, so that the template does not hold it. */
static bool name(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	struct str s = text_of(n, t);

	switch ((enum token_kind)t->kind) {
	case TOKEN_WORD:
		return name_word(n, at);
	case TOKEN_NUMBER:
	case TOKEN_DECIMAL:
		name_number(n, at);
		break;
	case TOKEN_IP:
	case TOKEN_ADDRESS:
		put_address(n, s, 0, 0);
		break;
	case TOKEN_UUID:
		put_hex(n, s, type_with_key(n, STR("uuid"), at), 0);
		break;
	case TOKEN_HEX:
		put_hex(n, s, type_with_key(n, STR("hex"), at), 0);
		break;
	case TOKEN_PATH:
		put_path(n, s);
		break;
	case TOKEN_URL:
		put_url(n, s);
		break;
	case TOKEN_JOINED:
		put_joined(n, s);
		break;
	case TOKEN_MIXED:
		put_schema(n, s, 0);
		break;
	default:
		break;
	}
	return true;
}

/* A unit belongs to the number in front of it. */
static bool is_unit_of(const struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];

	return at && t->kind == TOKEN_WORD && !(t->before & ~BEFORE_SPACE) &&
	       (t[-1].kind == TOKEN_NUMBER || t[-1].kind == TOKEN_DECIMAL) &&
	       wording_is_unit(text_of(n, t));
}

/* Those of a type that occurs more than once are a list. */
static void mark_lists(struct line *l)
{
	for (size_t i = 0; i < l->nr; i++)
		for (size_t j = i + 1; j < l->nr; j++) {
			if (!str_eq(l->v[i].type, l->v[j].type) ||
			    str_eq(l->v[i].value, l->v[j].value))
				continue;
			l->v[i].place |= NAMED_IN_LIST;
			l->v[j].place |= NAMED_IN_LIST;
		}
}

static void find_names(struct naming *n, const struct tokens *t, bool *varies)
{
	n->is_stat = tells_amounts(t);
	for (size_t i = 0; i < t->nr; i++)
		varies[i] = is_unit_of(n, i) || name(n, i);
	mark_lists(n->l);
}

static void begin(struct line *l, const struct tokens *t)
{
	l->nr = l->nr_room = 0;
	l->title = STR("");
	l->template = 0;
	l->is_cut = t->is_cut;
}

void line_read(struct line *l, struct str text)
{
	struct tokens t;
	bool varies[TOKENS_MAX];
	struct naming n = { .l = l, .text = str_head(text, str_find_char(text, '\n')), .t = &t };

	tokens_cut(&t, n.text);
	begin(l, &t);
	find_names(&n, &t, varies);
	masked_title(l, n.text, &t, varies);
}

void line_read_thread(struct line *l, struct str thread)
{
	struct tokens t;
	bool varies[TOKENS_MAX];
	struct naming n = { .l = l, .text = thread, .t = &t, .place = NAMED_IN_THREAD };

	tokens_cut(&t, n.text);
	begin(l, &t);
	find_names(&n, &t, varies);
}
