/*
 * One walk over the text, from one word with a digit to the next. What such a word looks like says
 * of which kind it is. A compound like container_17_0001_01_000002 names all that it is part of as
 * well: container_17_0001 ..., and by its numbers alone whatever else is called 17_0001.
 */
#include "infer/requests/tokens.h"

#include <string.h>

#include "infer/requests/tokens_marks.h"
#include "infer/requests/tokens_words.h"

enum {
	HEX_MIN = 12,
	UUID_BYTES = 36,
	ADDRESS_DIGITS = 3,
	NUMBERS_MAX = 8,  /* in one compound */
	ENDS_MAX = 8,     /* addresses that one number is agreed between */
	NAMED_DIGITS = 4, /* a number behind a mere word needs so many digits to be a name */
	LONG_WORD = 32,   /* what is longer is taken for letters at random */
	LOOK_MAX = 24,
	UNIT_LETTERS = 3
};

enum { DIGIT = 1, LOWER = 2, UPPER = 4, UNDER = 8, HEX = 16, SIGN = 32, BETWEEN = 64 };
enum { LETTER = LOWER | UPPER, WORD = DIGIT | LETTER | UNDER, PATH = WORD | SIGN };

static const unsigned char classes[256] = {
	['0' ... '9'] = DIGIT | HEX,
	['a' ... 'f'] = LOWER | HEX,
	['g' ... 'z'] = LOWER,
	['A' ... 'Z'] = UPPER,
	['_'] = UNDER,
	['.'] = SIGN,
	['-'] = SIGN | BETWEEN,
	['+'] = SIGN,
	['='] = SIGN | BETWEEN,
	['%'] = SIGN,
	['/'] = SIGN,
	[':'] = BETWEEN,
	[' '] = BETWEEN,
	['['] = BETWEEN,
	['\''] = BETWEEN,
	['"'] = BETWEEN,
};

static inline bool is(char c, unsigned class)
{
	return classes[(unsigned char)c] & class;
}

/* Addresses in the text, in order, and the one that comes first. */
struct ends {
	struct str v[ENDS_MAX];
	unsigned nr;
	struct str first;
};

struct walk {
	struct tokens *t;
	struct str text;
	size_t at;                    /* up to here all is taken */
	size_t first_end;             /* the first line ends here: the shape goes no further */
	bool has_shape;               /* it is wanted */
	bool has_ends;                /* they were looked for */
	struct tokens_recipe *recipe; /* where it is noted down, or NULL */
	struct ends ends;
	struct marks marks;
};

_Static_assert((int)TOKENS_TEXT_MAX <= (int)MARKS_TEXT_MAX, "marks cover what is looked at");

/* --- what is named ------------------------------------------------------------------------- */

/* The kind is made of two pieces. */
static inline void name(struct walk *w, struct str kind, struct str more, struct str value)
{
	struct str both = { 0, kind.n + more.n + 1 + value.n };
	struct tokens *t = w->t;
	char *p = t->words + t->nr_words + sizeof(uint64_t);

	if (t->nr_words + both.n + WORDS_HEAD > TOKENS_WORDS) {
		t->is_cut = true;
		return;
	}
	p += words_put_length(p, both.n);
	both.p = p;
	p = words_put(words_put(p, kind), more);
	*p++ = TOKENS_SEPARATOR;
	words_put(p, value);
	if (w->recipe)
		words_note(w->recipe, str_head(both, kind.n + more.n),
			   (size_t)(value.p - w->text.p), value.n);
	words_written(t, both, kind.n + more.n);
}

/* --- the shape ----------------------------------------------------------------------------- */

static void shape(struct walk *w, struct str s)
{
	struct tokens *t = w->t;

	s = str_head(s, TOKENS_SHAPE - t->nr_shape);
	if (!s.n)
		return;
	memcpy(t->shape + t->nr_shape, s.p, s.n);
	t->nr_shape += s.n;
}

/* What lies between names, as it is but for words that are too long. */
static void shape_between(struct walk *w, size_t to)
{
	size_t from = w->at, at = from;

	while (to - at >= LONG_WORD && w->t->nr_shape < TOKENS_SHAPE) {
		size_t start = marks_next(w->marks.word, at, to);

		at = start < to ? marks_end(w->marks.word, start) : to;
		if (at - start < LONG_WORD)
			continue;
		shape(w, str_head(str_skip(w->text, from), start - from));
		shape(w, STR("<*>"));
		from = at;
	}
	shape(w, str_head(str_skip(w->text, from), to - from));
}

/* What lies in front of this place goes into the shape, then the text given, then a hole. */
static void shape_more(struct walk *w, size_t to, struct str more, bool has_hole)
{
	if (w->at >= w->first_end)
		return;
	shape_between(w, to < w->first_end ? to : w->first_end);
	if (to >= w->first_end)
		return;
	shape(w, more);
	if (has_hole && !str_ends((struct str){ w->t->shape, w->t->nr_shape }, STR("<*>")))
		shape(w, STR("<*>"));
}

static inline void shape_up_to(struct walk *w, size_t to, struct str more, bool has_hole)
{
	if (w->has_shape)
		shape_more(w, to, more, has_hole);
}

/* --- addresses and UUIDs ------------------------------------------------------------------- */

/* How many bytes of an address d.d.d.d:port stand here; 0: it is none. */
static size_t address_length(struct str s)
{
	const char *at = s.p, *end = s.p + s.n;

	for (int i = 0; i < 4; i++) {
		const char *from = at;

		while (at < end && at - from < ADDRESS_DIGITS && is(*at, DIGIT))
			at++;
		if (at == from || at == end || *at != (i < 3 ? '.' : ':'))
			return 0;
		at++;
	}
	if (at == end || !is(*at, DIGIT))
		return 0;
	while (at < end && is(*at, DIGIT))
		at++;
	return (size_t)(at - s.p);
}

/* What most numbers are not: up to three digits and a dot. */
static inline bool may_be_address(struct str s)
{
	return s.n > 3 && (s.p[1] == '.' || s.p[2] == '.' || s.p[3] == '.');
}

static bool is_whole_uuid(struct str s)
{
	const char *p = s.p;

	if (p[13] != '-' || p[18] != '-' || p[23] != '-' ||
	    (s.n > UUID_BYTES && is(p[UUID_BYTES], WORD)))
		return false;
	for (int i = 0; i < UUID_BYTES; i++)
		if (!is(p[i], HEX) && i != 8 && i != 13 && i != 18 && i != 23)
			return false;
	return true;
}

static inline bool is_uuid(struct str s)
{
	return s.n >= UUID_BYTES && s.p[8] == '-' && is_whole_uuid(s);
}

static void add_end(struct ends *e, struct str address)
{
	unsigned at = 0;

	if (!e->first.n)
		e->first = address;
	while (at < e->nr && str_cmp(e->v[at], address) < 0)
		at++;
	if (at < e->nr && str_eq(e->v[at], address))
		return;
	memmove(&e->v[at + 1], &e->v[at], (e->nr - at) * sizeof(*e->v));
	e->v[at] = address;
	e->nr++;
}

/* All addresses of the text, however many numbers ask for them. */
static void find_ends(struct walk *w)
{
	struct ends *e = &w->ends;

	*e = (struct ends){ .nr = 0 };
	w->has_ends = true;
	for (size_t at = 0; e->nr < ENDS_MAX;) {
		size_t n;

		at = marks_next(w->marks.digit, at, w->text.n);
		if (at == w->text.n)
			return;
		n = at && is(w->text.p[at - 1], WORD) ? 0 : address_length(str_skip(w->text, at));
		if (n)
			add_end(e, (struct str){ w->text.p + at, n });
		at += n ? n : 1;
	}
}

/*
 * 181@127.0.0.1:7000: a number that two ends have agreed on; all addresses of the text are the
 * ends. Who used it is the first one, unless that is the other end itself.
 */
static void name_between(struct walk *w, struct str number)
{
	char value[2 * TOKENS_TEXT_MAX + 2 * ENDS_MAX], *p;
	const struct ends *e = &w->ends;

	if (w->recipe)
		w->recipe->is_bad = true;
	if (!w->has_ends)
		find_ends(w);
	p = words_put(value, number);
	*p++ = '@';
	if (e->first.n && e->first.p < number.p) {
		char *end = words_put(p, e->first);

		name(w, STR("@>"), STR(""), (struct str){ value, (size_t)(end - value) });
	}
	for (unsigned i = 0; i < e->nr; i++) {
		p = words_put(p, e->v[i]);
		*p++ = '+';
	}
	name(w, STR("@"), STR(""), (struct str){ value, (size_t)(p - value) });
}

/* --- words --------------------------------------------------------------------------------- */

/* The letters at the front of a compound, which may be several words: NONMAPREDUCE of a_b_17. */
static size_t letters_of(struct str s)
{
	size_t n = 0;

	while (n < s.n &&
	       (is(s.p[n], LETTER) || (s.p[n] == '_' && n + 1 < s.n && is(s.p[n + 1], LETTER))))
		n++;
	return n;
}

/* word_1_2_3 names word_1, word_1_2, word_1_2_3, and 1_2. */
static bool name_compound(struct walk *w, struct str whole)
{
	size_t letters = letters_of(whole), at = letters, nr = 0, second = 0;

	if (!letters || letters == whole.n || whole.p[letters] != '_')
		return false;
	while (at < whole.n && whole.p[at] == '_' && nr < NUMBERS_MAX) {
		size_t from = at + 1 + (at + 1 < whole.n && whole.p[at + 1] == '-'), to = from;
		char digit[2] = { '#', (char)('1' + nr) };

		while (to < whole.n && is(whole.p[to], DIGIT))
			to++;
		/* 0000021a1e: where the number ends and something else begins, nobody can tell */
		if (to == from || (to < whole.n && is(whole.p[to], LETTER)))
			break;
		name(w, str_head(whole, letters), (struct str){ digit, 2 }, str_head(whole, to));
		if (++nr == 2)
			second = to;
		at = to;
	}
	if (nr > 1)
		name(w, STR("#2"), STR(""),
		     (struct str){ whole.p + letters + 1, second - letters - 1 });
	return nr && at == whole.n;
}

/* a0 of part00290, A0a of R2d: runs of one sort as one letter. */
static void name_by_look(struct walk *w, struct str s)
{
	char look[LOOK_MAX];
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < sizeof(look); i++) {
		char c = is(s.p[i], DIGIT)   ? '0'
			 : is(s.p[i], LOWER) ? 'a'
			 : s.p[i] == '_'     ? '_'
					     : 'A';

		if (!n || look[n - 1] != c)
			look[n++] = c;
	}
	name(w, STR("mix:"), (struct str){ look, n }, s);
}

/* 64KiB, 30ms: an amount with its unit names nothing. */
static bool is_amount(struct str s)
{
	size_t digits = 0;

	while (digits < s.n && is(s.p[digits], DIGIT))
		digits++;
	if (!digits || s.n - digits > UNIT_LETTERS)
		return false;
	for (size_t i = digits; i < s.n; i++)
		if (!is(s.p[i], LETTER))
			return false;
	return true;
}

/* A word with digits that is no compound. */
static void name_mixed(struct walk *w, struct str s)
{
	unsigned all = 0, each = HEX;

	if (is_amount(s))
		return;
	for (size_t i = 0; i < s.n; i++) {
		all |= classes[(unsigned char)s.p[i]];
		each &= classes[(unsigned char)s.p[i]];
	}
	if (!(all & LETTER))
		return;
	if (each && s.n >= HEX_MIN) {
		char digits[3] = { (char)('0' + s.n / 100 % 10), (char)('0' + s.n / 10 % 10),
				   (char)('0' + s.n % 10) };

		name(w, STR("hex"), (struct str){ digits, 3 }, s);
	} else {
		name_by_look(w, s);
	}
}

/* What the number means: name=5, name: 5, name 50000. */
static struct str key_of(const struct walk *w, size_t at, size_t digits)
{
	bool is_assigned = false;
	size_t end = at, start;

	for (; end > w->at && is(w->text.p[end - 1], BETWEEN); end--)
		is_assigned |= w->text.p[end - 1] == '=' || w->text.p[end - 1] == ':';
	if (end == w->at || !is(w->text.p[end - 1], WORD))
		return (struct str){ 0 };
	start = marks_start(w->marks.word, end - 1);
	start = start > w->at ? start : w->at;
	if (!is_assigned && (digits < NAMED_DIGITS || end - start < 2))
		return (struct str){ 0 };
	return (struct str){ w->text.p + start, end - start };
}

static void name_number(struct walk *w, struct str digits)
{
	size_t at = (size_t)(digits.p - w->text.p), end = at + digits.n;
	struct str rest = str_skip(w->text, end), key;

	if (rest.n > 1 && rest.p[0] == '@') {
		if (address_length(str_skip(rest, 1 + (rest.p[1] == '/')))) {
			name_between(w, digits);
			return;
		}
	}
	if (rest.n > 1 && rest.p[0] == '.' && is(rest.p[1], DIGIT))
		return;
	key = key_of(w, at, digits.n);
	if (key.n)
		name(w, key, STR("="), digits);
}

/* --- paths --------------------------------------------------------------------------------- */

/* A path names what its parts name. */
static void name_components(struct walk *w, size_t at, size_t end)
{
	size_t taken = at;

	while ((at = marks_next(w->marks.look, at, end)) < end) {
		size_t start = marks_start(w->marks.word, at), to;
		struct str rest = { w->text.p + at, end - at };

		if (rest.p[0] == '/') {
			at++;
			continue;
		}
		if (start == at && is_uuid(rest)) {
			name(w, STR("uuid"), STR(""), str_head(rest, UUID_BYTES));
			at = taken = at + UUID_BYTES;
			continue;
		}
		if (!is(rest.p[0], DIGIT)) {
			at++;
			continue;
		}
		start = start > taken ? start : taken;
		to = marks_end(w->marks.word, at);
		rest = (struct str){ w->text.p + start, to - start };
		if (!name_compound(w, rest))
			name_mixed(w, rest);
		at = taken = to;
	}
}

static size_t take_path(struct walk *w, size_t at)
{
	struct str path = str_skip(w->text, at), top;
	size_t end, second;

	for (end = 0; end < path.n && is(path.p[end], PATH);)
		end++;
	path.n = end;
	while (path.n && (path.p[path.n - 1] == '.' || path.p[path.n - 1] == '/'))
		path.n--;
	second = str_find_char(str_skip(path, 1), '/') + 1;
	if (path.n < 2 || second == path.n) {
		shape_up_to(w, at, str_head(str_skip(w->text, at), end), false);
		return at + end;
	}
	top = str_head(path, second);
	if (w->recipe && marks_next(w->marks.digit, at, at + top.n) < at + top.n)
		w->recipe->is_bad = true;
	name(w, STR("path"), top, path);
	name_components(w, at, at + path.n);
	shape_up_to(w, at, STR("/"), true);
	return at + end;
}

/* scheme:/path and scheme://authority/path; the word in front was taken already. */
static bool is_path_here(struct str text, size_t at)
{
	char before = at ? text.p[at - 1] : ' ';

	return at + 1 < text.n && is(text.p[at + 1], PATH) && text.p[at + 1] != '/' &&
	       !is(before, WORD) && before != '/' && before != '.' &&
	       !address_length(str_skip(text, at + 1));
}

static size_t take_authority(struct walk *w, size_t at)
{
	struct str s = w->text;

	shape_up_to(w, at, STR("//"), false);
	at += 2;
	while (at < s.n &&
	       (is(s.p[at], WORD) || s.p[at] == '.' || s.p[at] == ':' || s.p[at] == '-'))
		at++;
	w->at = at;
	return at < s.n && s.p[at] == '/' ? take_path(w, at) : at;
}

/* Where what is taken ends; 0: nothing begins here. */
static size_t take_slash(struct walk *w, size_t at)
{
	struct str s = w->text;

	if (at && at + 1 < s.n && s.p[at + 1] == '/' && s.p[at - 1] == ':')
		return take_authority(w, at);
	return is_path_here(s, at) ? take_path(w, at) : 0;
}

/* --- the walk ------------------------------------------------------------------------------ */

/* A word with a digit at this place. */
static size_t take_word(struct walk *w, size_t start, size_t at)
{
	size_t end = marks_end(w->marks.word, at);
	struct str s = { w->text.p + start, end - start };

	shape_up_to(w, start, STR(""), true);
	if (start == at && marks_end(w->marks.digit, at) == end)
		name_number(w, s);
	else if (!name_compound(w, s))
		name_mixed(w, s);
	return end;
}

/* Where what is taken ends; 0: nothing begins here. */
static size_t take(struct walk *w, size_t at)
{
	struct str rest = str_skip(w->text, at);
	size_t start, n;

	if (rest.p[0] == '/')
		return take_slash(w, at);
	start = marks_start(w->marks.word, at);
	if (start < w->at) { /* letters right behind an address */
		start = w->at;
	} else if (start == at && is_uuid(rest)) {
		shape_up_to(w, at, STR(""), true);
		name(w, STR("uuid"), STR(""), str_head(rest, UUID_BYTES));
		return at + UUID_BYTES;
	} else if (start == at && may_be_address(rest) && (n = address_length(rest))) {
		shape_up_to(w, at, STR(""), true);
		name(w, STR("address"), STR(""), str_head(rest, n));
		return at + n;
	}
	return is(rest.p[0], DIGIT) ? take_word(w, start, at) : 0;
}

static void find(struct tokens *t, struct str text, bool has_shape, struct tokens_recipe *recipe)
{
	struct walk w;
	size_t at = 0;

	t->nr = 0;
	t->nr_words = t->nr_shape = 0;
	t->is_cut = text.n > TOKENS_TEXT_MAX;
	t->lacks_words = false;
	w.t = t;
	w.text = str_head(text, TOKENS_TEXT_MAX);
	w.at = 0;
	w.has_shape = has_shape;
	w.has_ends = false;
	w.recipe = recipe;
	if (has_shape)
		w.first_end = str_find_char(w.text, '\n');
	marks_of(&w.marks, w.text);
	while ((at = marks_next(w.marks.look, at, w.text.n)) < w.text.n) {
		size_t end = take(&w, at);

		if (end)
			w.at = end;
		at = end ? end : at + 1;
	}
	shape_up_to(&w, w.text.n, STR(""), false);
}

void tokens_find(struct tokens *t, struct str text)
{
	find(t, text, true, NULL);
}

void tokens_find_names(struct tokens *t, struct str text)
{
	find(t, text, false, NULL);
}

void tokens_note(struct tokens *t, struct str text, bool has_shape, struct tokens_recipe *recipe)
{
	recipe->nr = 0;
	recipe->nr_kinds = 0;
	recipe->lacks_words = false;
	recipe->is_bad = text.n > TOKENS_TEXT_MAX;
	find(t, text, has_shape, recipe);
	recipe->is_bad |= t->is_cut;
	for (size_t i = 0; has_shape && i < t->nr_shape; i++)
		recipe->is_bad |= is(t->shape[i], DIGIT);
}
