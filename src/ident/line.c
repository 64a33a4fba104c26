/*
 * The tokens of a line, from left to right: what each one names, if anything, and what is left of
 * the text when all that varies is masked. Which type an identifier has is shown by its schema
 * (attempt_#_m_#), or else by the word in front (stage 3). Whether what is found really names
 * something is decided by all values of the type later on; here only that is left out which cannot.
 */
#include "ident/line.h"

#include <string.h>

#include "ident/chars.h"
#include "ident/key.h"
#include "ident/line_put.h"
#include "ident/masked.h"
#include "ident/overrides.h"
#include "ident/wording.h"

enum { STAT_PAIRS = 4, MANY_DOTS = 3 };

/* "[request user tenant]": the how-manieth of values at random with nothing but blanks between.
 * Each is of a type of its own unless their values turn out to be the same. */
static unsigned place_in_row(const struct naming *n, size_t at)
{
	unsigned nr = 1;

	for (; at && n->t->v[at].before == BEFORE_SPACE && nr < 9; at--, nr++) {
		const struct token *v = &n->t->v[at - 1];
		bool is_random = v->kind == TOKEN_HEX || v->kind == TOKEN_UUID;

		if (v->kind == TOKEN_MIXED) {
			char to[LINE_TITLE];

			is_random = memchr(to, '*', token_schema(line_text(n, v), to, sizeof(to)));
		}
		if (!is_random)
			break;
	}
	return nr;
}

/* "hex/region" where the word in front says what it is. */
static struct str type_with_key(struct naming *n, struct str kind, size_t at)
{
	char to[WORDING_KEY + 8];
	struct key key;
	size_t bytes = kind.n;
	unsigned nr = place_in_row(n, at);

	memcpy(to, kind.p, kind.n);
	if (key_of(n->t, n->text, at, &key) && !wording_is_amount(key_str(&key)) &&
	    !wording_is_description(key_str(&key))) {
		to[bytes++] = '/';
		memcpy(to + bytes, key.v, key.n);
		bytes += key.n;
	} else if (nr > 1) {
		to[bytes++] = '/';
		to[bytes++] = (char)('0' + nr);
	}
	return line_keep(n->l, (struct str){ to, bytes });
}

/* "mail/from": whose it is, if a sign ties it to a word; prepositions do as well. */
static void name_mail(struct naming *n, size_t at)
{
	char to[WORDING_KEY + 8] = "mail";
	size_t bytes = strlen(to);
	struct key key;

	if (n->t->v[at].before & (BEFORE_EQUALS | BEFORE_COLON) &&
	    key_of(n->t, n->text, at, &key)) {
		to[bytes++] = '/';
		memcpy(to + bytes, key.v, key.n);
		bytes += key.n;
	}
	line_put(n, line_keep(n->l, (struct str){ to, bytes }), STR(""),
		 line_part(n, line_text(n, &n->t->v[at])), 0);
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

	if (!next || next->kind != TOKEN_WORD || (next->before & ~(BEFORE_SPACE | BEFORE_CALL)))
		return false;
	word = line_text(n, next);
	if (wording_is_unit(word))
		return !(next->before & BEFORE_CALL);
	return !is_strong && wording_is_plural(word);
}

/* Behind an address of a host: "/40312" and "#40312" are a port; what is shorter may be the size of
 * a network. */
static bool is_port_behind(const struct naming *n, const struct token *host)
{
	const struct token *v = host + 1;

	return (v->before == BEFORE_SLASH || v->before == BEFORE_HASH) && v->from == host->to + 1 &&
	       v->kind == TOKEN_NUMBER && token_digits(line_text(n, v).n) == 4;
}

/* "10.0.0.1 port 80": one address in three words. */
static struct str with_port(const struct naming *n, size_t at, uint8_t *how)
{
	const struct token *v = &n->t->v[at];
	struct str s = line_text(n, v), port;
	size_t digits = 0;

	*how = 0;
	if (v->kind == TOKEN_IP && at + 1 < n->t->nr && is_port_behind(n, v)) {
		*how = SPELT_PORT;
		return str_head(str_skip(n->text, v->from), (size_t)(v[1].to - v->from));
	}
	if (v->kind != TOKEN_IP || at + 2 >= n->t->nr || v[1].before != BEFORE_SPACE ||
	    v[2].before != BEFORE_SPACE || !str_eq(line_text(n, &v[1]), STR("port")))
		return s;
	port = line_text(n, &v[2]);
	while (digits < port.n && chars_is(port.p[digits], CHAR_DIGIT))
		digits++;
	if (!digits || (digits < port.n && port.p[digits] != ':'))
		return s;
	*how = SPELT_PORT;
	return (struct str){ s.p, (size_t)(port.p + digits - s.p) };
}

static void name_number(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	struct str s = line_text(n, t);
	struct key key;

	if (t->before & BEFORE_SLASH)
		return;
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
	line_put(n, line_keep(n->l, key_str(&key)), STR(""), line_part(n, s),
		 NAMED_NUMBER | (key.is_id ? NAMED_ID : 0));
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

	if (!next || (next->before & ~(BEFORE_SPACE | BEFORE_OPEN | BEFORE_CALL)))
		return true;
	/* "group billing in state …" */
	if (next->kind == TOKEN_WORD && next->before == BEFORE_SPACE &&
	    wording_is_function(line_text(n, next)))
		return true;
	next = token_behind(n, at + 1);
	return next && (next->before & BEFORE_EQUALS);
}

static bool may_be_name(const struct naming *n, size_t at)
{
	struct str s = line_text(n, &n->t->v[at]);

	return !n->place && at && !is_key(n, at) && !wording_is_void(s) &&
	       !wording_is_function(s) && !wording_is_unit(s) && !is_shouted(s) && !is_code(s);
}

/* "for group billing", "removed group billing": the noun is what something is done to, so that what
 * follows is its name and not what it does itself, as in "server starting". */
static bool is_called(const struct naming *n, size_t at)
{
	const struct token *front = &n->t->v[at] - 2;
	struct str word;

	if (at < 2 || front->kind != TOKEN_WORD || front[1].before != BEFORE_SPACE ||
	    front[2].before != BEFORE_SPACE || str_ends(line_text(n, &front[2]), STR("ed")))
		return false;
	word = line_text(n, front);
	if (wording_is_preposition(word) || wording_is_verb(word))
		return true;
	/* "to rebalance group billing" */
	return at > 2 && front->before == BEFORE_SPACE &&
	       str_eq(line_text(n, front - 1), STR("to"));
}

/* A word that is the value of a key: user=root, queue: default, user root; or of a statement that
 * is known. */
static bool name_word(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	bool is_tied, is_noun, is_value;
	struct key key;

	if (!may_be_name(n, at) || !key_of(n->t, n->text, at, &key) ||
	    wording_is_amount(key_str(&key)) || wording_is_description(key_str(&key)))
		return false;
	is_tied = key.is_strong && !(t->before & BEFORE_CALL);
	is_noun = wording_is_noun_of_names(key_str(&key));
	is_value = n->is_covered &&
		   cover_is_value(&n->aids->cover, n->text, (struct stretch){ t->from, t->to });
	if (!is_value && !(is_tied && is_noun) && !(ends_value(n, at) && (is_tied || is_noun)))
		return false;
	if (!is_value && !is_tied && wording_is_verb(line_text(n, t)) &&
	    !(is_noun && is_called(n, at)))
		return false;

	line_put(n, line_keep(n->l, key_str(&key)), STR(""), line_part(n, line_text(n, t)),
		 NAMED_WORD);
	return true;
}

/* "node-1.rack2.example": labels that begin by letters. */
static bool is_host_name(struct str s)
{
	size_t dots = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool begins = !i || s.p[i - 1] == '.';

		if (begins ? !chars_is(s.p[i], CHAR_LETTER)
			   : !chars_is(s.p[i], CHAR_ALNUM) && !strchr(".-", s.p[i]))
			return false;
		dots += s.p[i] == '.';
	}
	return dots >= 2;
}

/* "usersL802": a name that was given, and no schema that names are made by. */
static bool is_given(struct str s)
{
	size_t n = 0;

	if (is_host_name(s))
		return true;
	while (n < s.n && chars_is(s.p[n], CHAR_LETTER))
		n++;
	while (n < s.n && n && chars_is(s.p[n], CHAR_DIGIT))
		n++;
	return n == s.n;
}

/* Whether a schema says nothing of what it is: no letter of it is constant. */
static bool is_mute(struct str s)
{
	char to[LINE_TITLE];
	size_t bytes = token_schema(s, to, sizeof(to));

	for (size_t i = 0; i < bytes; i++)
		if (chars_is(to[i], CHAR_LETTER))
			return false;
	return true;
}

/* session=6afab432.27f4, vxid=3/223: only the key tells what it is. */
static bool name_by_key(struct naming *n, size_t at, bool needs_id)
{
	struct str s = line_text(n, &n->t->v[at]);
	struct key key;

	bool is_tied = n->t->v[at].before & (BEFORE_EQUALS | BEFORE_COLON);

	if (!key_of(n->t, n->text, at, &key) || !(is_tied || (key.is_id && !needs_id)) ||
	    wording_is_amount(key_str(&key)) || wording_is_description(key_str(&key)) ||
	    (needs_id && !key.is_id))
		return false;
	line_put(n, line_keep(n->l, key_str(&key)), STR(""), line_part(n, s), 0);
	return true;
}

/* Letters and digits: by its schema, unless the word in front says better what it is. */
static void name_mixed(struct naming *n, size_t at)
{
	struct str s = line_text(n, &n->t->v[at]);
	struct key key;

	if (is_mute(s) && name_by_key(n, at, false))
		return;
	if (n->place || !is_given(s) || !key_of(n->t, n->text, at, &key) ||
	    wording_is_amount(key_str(&key)) || wording_is_description(key_str(&key)) ||
	    (!wording_is_noun_of_names(key_str(&key)) &&
	     !(n->t->v[at].before & (BEFORE_EQUALS | BEFORE_COLON))))
		line_put_schema(n, s, 0);
	else
		line_put(n, line_keep(n->l, key_str(&key)), STR(""), line_part(n, s), NAMED_WORD);
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

/* localhost/127.0.0.1:80 is named once, by its address. */
static bool is_host_of(const struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at], *next = token_behind(n, at);

	return next && next->before == BEFORE_SLASH && next->from == t->to + 1 &&
	       (next->kind == TOKEN_ADDRESS || next->kind == TOKEN_IP) &&
	       (t->kind == TOKEN_WORD || t->kind == TOKEN_IP || t->kind == TOKEN_MIXED);
}

/* "Sat May" of a date. */
static bool is_of_date(const struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	size_t next = at + 1;

	if (!wording_is_calendar(line_text(n, t)))
		return false;
	while (next < n->t->nr && next < at + 3 && n->t->v[next].kind == TOKEN_WORD &&
	       wording_is_calendar(line_text(n, &n->t->v[next])))
		next++;
	return next < n->t->nr &&
	       (n->t->v[next].kind == TOKEN_DATE || n->t->v[next].kind == TOKEN_NUMBER);
}

/* A name with dots or underscores, as hosts, tables and settings have, or a word in quotes: not
 * part of the wording, unless it is a key, or a place in the program that tells what follows. */
static bool is_foreign(const struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	uint16_t behind = at + 1 < n->t->nr ? t[1].before : n->t->behind;
	struct str s = line_text(n, t);

	if ((t->before & BEFORE_QUOTE) && (behind & BEFORE_QUOTE))
		return true;
	if (memchr(s.p, '_', s.n) && !is_shouted(s) && !is_key(n, at))
		return true;
	return memchr(s.p, '.', s.n) && !(behind & (BEFORE_COLON | BEFORE_CALL));
}

/* Whether it is part of what the program says, by its constants. */
static bool is_text(const struct naming *n, const struct token *t)
{
	const struct cover *c = &n->aids->cover;

	vec_each (&c->constant, s)
		if (s->from <= t->from && t->to <= s->to)
			return true;
	return false;
}

/* Whether it varies, so that the template does not hold it. */
static bool name(struct naming *n, size_t at)
{
	const struct token *t = &n->t->v[at];
	struct str s = line_text(n, t), type;
	uint8_t how;

	if (n->aids->overrides && overrides_match(n->aids->overrides, s, &type)) {
		line_put(n, type, STR(""), line_part(n, s), 0);
		return true;
	}
	if (is_host_of(n, at))
		return true;
	if (n->is_covered && t->kind == TOKEN_MIXED && is_text(n, t))
		return false;
	switch ((enum token_kind)t->kind) {
	case TOKEN_WORD:
		if (n->is_covered && is_text(n, t))
			return false;
		return is_of_date(n, at) || name_word(n, at) || is_foreign(n, at) ||
		       (n->is_covered && !is_text(n, t));
	case TOKEN_NUMBER:
	case TOKEN_DECIMAL:
		name_number(n, at);
		break;
	case TOKEN_IP:
	case TOKEN_ADDRESS:
		type = with_port(n, at, &how);
		line_put_address(n, type, 0, how);
		if (how)
			line_put_address(n, s, 0, 0);
		break;
	case TOKEN_MAIL:
		name_mail(n, at);
		break;
	case TOKEN_UUID:
		line_put_hex(n, s, type_with_key(n, STR("uuid"), at), 0);
		break;
	case TOKEN_HEX:
		line_put_hex(n, s, type_with_key(n, STR("hex"), at), 0);
		break;
	case TOKEN_PATH:
		line_put_path(n, s);
		break;
	case TOKEN_URL:
		line_put_url(n, s);
		break;
	case TOKEN_JOINED:
		line_put_joined(n, s, 0);
		break;
	case TOKEN_MIXED:
		name_mixed(n, at);
		break;
	case TOKEN_FRACTION:
		name_by_key(n, at, true);
		break;
	case TOKEN_CODE:
		return is_foreign(n, at) || (n->is_covered && !is_text(n, t));
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
	       wording_is_unit(line_text(n, t));
}

bool line_mark_lists(struct named *v, size_t nr)
{
	bool is_repeated = false;

	for (size_t i = 0; i < nr; i++)
		v[i].place &= ~(uint32_t)NAMED_IN_LIST;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = i + 1; j < nr; j++) {
			if (!str_eq(v[i].type, v[j].type))
				continue;
			is_repeated = true;
			if (str_eq(v[i].value, v[j].value))
				continue;
			v[i].place |= NAMED_IN_LIST;
			v[j].place |= NAMED_IN_LIST;
		}
	return is_repeated;
}

/* Asks the constants of the programs. They are believed where one statement is found that formats
 * the text: pieces that are constants of whatever else may as well be values. */
static void cover(struct naming *n, struct line_aids *aids)
{
	n->is_covered = false;
	if (!aids->constants)
		return;
	constants_cover(aids->constants, n->text, &aids->cover);
	n->is_covered = aids->cover.is_pattern;
}

static void find_names(struct naming *n, const struct tokens *t, bool *varies)
{
	n->is_stat = tells_amounts(t);
	for (size_t i = 0; i < t->nr; i++)
		varies[i] = is_unit_of(n, i) || name(n, i);
	n->l->is_repeated = line_mark_lists(n->l->v, n->l->nr);
}

static void begin(struct line *l, const struct tokens *t)
{
	l->nr = l->nr_room = 0;
	l->title = STR("");
	l->template = 0;
	l->is_cut = t->is_cut;
}

void line_read(struct line *l, struct str text, struct line_aids *aids)
{
	struct tokens t;
	bool varies[TOKENS_MAX];
	struct naming n = {
		.l = l, .text = str_head(text, str_find_char(text, '\n')), .t = &t, .aids = aids
	};

	tokens_cut(&t, n.text);
	begin(l, &t);
	cover(&n, aids);
	find_names(&n, &t, varies);
	masked_title(l, n.text, &t, varies);
}

void line_read_thread(struct line *l, struct str thread, struct line_aids *aids)
{
	struct tokens t;
	bool varies[TOKENS_MAX];
	struct naming n = {
		.l = l, .text = thread, .t = &t, .aids = aids, .place = NAMED_IN_THREAD
	};

	tokens_cut(&t, n.text);
	begin(l, &t);
	if (t.nr == 1 && t.v[0].kind == TOKEN_NUMBER) {
		/* the head of a line has the number of its process where others have a name */
		line_put(&n, STR("pid"), STR(""), line_part(&n, line_text(&n, t.v)),
			 NAMED_NUMBER | NAMED_ID);
		return;
	}
	find_names(&n, &t, varies);
}
