/* Names that are made of parts: paths, and parts joined by commas, each of which may name something
 * by itself. */
#include <string.h>

#include "ident/chars.h"
#include "ident/line_put.h"
#include "ident/look.h"
#include "ident/wording.h"

#define ESCAPED STR("%2C") /* a comma in the name of a file */
enum { PATH_PARTS = 24 };

/* --- parts joined by commas ---------------------------------------------------------------- */

/* A word in front of a host, as threads have: OPEN_REGION-localhost. No host has an underscore. */
static struct str without_front(struct str s)
{
	size_t end = str_find_char(s, ','), at = end;

	while (at && s.p[at - 1] != '-')
		at--;
	if (!at || at == end)
		return s;
	if (memchr(s.p, '_', at) || look_ip(str_skip(s, at)) ||
	    str_starts(str_skip(s, at), STR("localhost,")))
		return str_skip(s, at);
	return s;
}

/* Where the next comma begins, escaped or not, and how long it is. */
static size_t next_comma(struct str s, size_t *bytes)
{
	size_t plain = str_find_char(s, ','), escaped = str_find(s, ESCAPED);

	*bytes = escaped < plain ? ESCAPED.n : 1;
	return escaped < plain ? escaped : plain;
}

/* Host, port and when it was started. */
static void put_host(struct naming *n, struct str whole, size_t address, uint8_t how,
		     uint32_t place)
{
	struct spelling s = line_part(n, whole);

	s.how = how;
	line_put(n, STR("*,#,#"), STR(""), s, place);
	line_put_address(n, str_head(whole, address), place | NAMED_WITHIN, how | SPELT_COLON);
}

void line_put_joined(struct naming *n, struct str s, uint32_t place)
{
	size_t comma, a, b, dot;
	struct str middle, last;
	uint8_t how;

	s = without_front(s);
	a = next_comma(s, &comma);
	middle = str_skip(s, a + comma);
	how = comma > 1 ? SPELT_DECODED : 0;
	b = next_comma(middle, &comma);
	if (b == middle.n || !b)
		how = 0;
	last = str_skip(middle, b + comma);
	middle.n = b;
	dot = str_find_char(last, '.');
	if (middle.n && token_look(middle) == TOKEN_NUMBER && last.n &&
	    chars_is(last.p[0], CHAR_DIGIT)) {
		size_t digits = 0;

		while (digits < last.n && chars_is(last.p[digits], CHAR_DIGIT))
			digits++;
		put_host(n, str_head(s, (size_t)(last.p + digits - s.p)),
			 (size_t)(middle.p + middle.n - s.p), how, place);
		return;
	}
	line_put(n, STR("*,*,#"), STR(""), line_part(n, s), place);
	line_put(n, STR("*,"), STR(""), line_part(n, str_head(s, a)),
		 place | NAMED_WITHIN | NAMED_WORD);
	if (dot < last.n && token_look(str_skip(last, dot + 1)) == TOKEN_HEX)
		line_put_hex(n, str_skip(last, dot + 1), STR("hex"), place | NAMED_WITHIN);
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

/* What stands in front of a part of a path, if it is of several: of /users/17, user. */
static size_t one_of(struct str before, char key[WORDING_KEY], bool *is_one_of)
{
	size_t bytes = wording_key(before, key);

	*is_one_of = bytes > 2 && key[bytes - 1] == 's' && key[bytes - 2] != 's';
	bytes -= *is_one_of;
	return bytes && !wording_is_amount((struct str){ key, bytes }) ? bytes : 0;
}

/* A number among the parts of a path is one of what stands in front: /users/17. */
static void put_numbered(struct naming *n, struct str number, struct str before)
{
	char key[WORDING_KEY];
	bool is_one_of;
	size_t bytes = one_of(before, key, &is_one_of);

	if (bytes)
		line_put(n, line_keep(n->l, (struct str){ key, bytes }), STR(""),
			 line_part(n, number),
			 NAMED_WITHIN | NAMED_NUMBER | (is_one_of ? NAMED_ID : 0));
}

/* So is a UUID behind a plural: /sessions/6ba7b810-… */
static void put_uuid(struct naming *n, struct str uuid, struct str before)
{
	char key[WORDING_KEY + 8] = "uuid/";
	bool is_one_of;
	size_t bytes = one_of(before, key + 5, &is_one_of);

	if (bytes && is_one_of)
		line_put_hex(n, uuid, line_keep(n->l, (struct str){ key, bytes + 5 }),
			     NAMED_WITHIN | NAMED_ID);
	else
		line_put_hex(n, uuid, STR("uuid"), NAMED_WITHIN);
}

/* --- paths --------------------------------------------------------------------------------- */

/* What a part of a path names. */
static void put_part(struct naming *n, struct str s, struct str before)
{
	struct str stem = stem_of(s);

	if (!stem.n)
		return;
	if (look_joined(s) || str_find(s, ESCAPED) < s.n) {
		line_put_joined(n, s, NAMED_WITHIN);
		return;
	}
	switch (token_look(stem)) {
	case TOKEN_NUMBER:
		put_numbered(n, stem, before);
		break;
	case TOKEN_HEX:
		line_put_hex(n, stem, STR("hex"), NAMED_WITHIN);
		break;
	case TOKEN_UUID:
		put_uuid(n, stem, before);
		break;
	case TOKEN_IP:
	case TOKEN_ADDRESS:
		line_put_address(n, stem, NAMED_WITHIN, 0);
		break;
	case TOKEN_MIXED:
		if (token_is_uuid(stem))
			put_uuid(n, str_head(stem, TOKEN_UUID_BYTES), before);
		else
			line_put_schema(n, stem, NAMED_WITHIN);
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

void line_put_path(struct naming *n, struct str path)
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
	line_put(n, line_keep(n->l, (struct str){ type, bytes }), STR(""), line_part(n, path), 0);
	put_parts(n, str_skip(path, 1));
}

void line_put_url(struct naming *n, struct str url)
{
	size_t at = look_url_path(url), host = str_find(url, STR("://")) + 3;
	struct str authority = str_skip(str_head(url, at), host);

	if (authority.n && token_look(authority) == TOKEN_ADDRESS)
		line_put_address(n, authority, NAMED_WITHIN, 0);
	line_put_path(n, str_skip(url, at));
}
