/*
 * One walk over the text, from word to word. A word that holds a digit may name something; what it
 * looks like says of which kind it is. A compound like container_17_0001_01_000002 names all that
 * it is part of as well: container_17_0001 ..., and by its numbers alone whatever else is called
 * 17_0001.
 */
#include "infer/requests/tokens.h"

#include <string.h>

enum {
	HEX_MIN = 12,
	UUID_BYTES = 36,
	NUMBERS_MAX = 8, /* in one compound */
	ENDS_MAX = 8,    /* addresses that one number is agreed between */
	UNIT_LETTERS = 3,
	NAMED_DIGITS = 4 /* a number behind a mere word needs so many digits to be a name */
};

struct walk {
	struct tokens *t;
	const char *start, *p, *end;
	struct str word;           /* the last one without digits, and where it ended */
	const char *first_end;     /* the first line ends here: the shape goes no further */
	struct str ends[ENDS_MAX]; /* addresses in the text, in order */
	struct str first_address;  /* the one that comes first */
	unsigned nr_ends;
	bool has_ends; /* they were looked for */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
	return is_digit(c) || is_letter(c) || c == '_';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_path(char c)
{
	return is_word(c) || c == '.' || c == '-' || c == '+' || c == '=' || c == '%' || c == '/';
}

/* A copy in words; empty when those are full, and then nothing is named. */
static struct str keep(struct tokens *t, struct str a, struct str b)
{
	struct str kept = { t->words + t->nr_words, a.n + b.n };

	if (t->nr_words + kept.n > TOKENS_WORDS) {
		t->is_cut = true;
		return (struct str){ 0 };
	}
	memcpy(t->words + t->nr_words, a.p, a.n);
	memcpy(t->words + t->nr_words + a.n, b.p, b.n);
	t->nr_words += kept.n;
	return kept;
}

static void name(struct tokens *t, struct str kind, struct str value)
{
	if (!kind.n || !value.n)
		return;
	for (unsigned i = 0; i < t->nr; i++)
		if (str_eq(t->v[i].value, value) && str_eq(t->v[i].kind, kind))
			return;
	if (t->nr == TOKENS_MAX) {
		t->is_cut = true;
		return;
	}
	t->v[t->nr++] = (struct token){ kind, value };
}

static void shape(struct walk *w, struct str s)
{
	struct tokens *t = w->t;

	if (w->p > w->first_end)
		return;
	s = str_head(s, TOKENS_SHAPE - t->nr_shape);
	memcpy(t->shape + t->nr_shape, s.p, s.n);
	t->nr_shape += s.n;
}

static void shape_hole(struct walk *w)
{
	if (!str_ends((struct str){ w->t->shape, w->t->nr_shape }, STR("<*>")))
		shape(w, STR("<*>"));
}

/* How many bytes of an address d.d.d.d:port stand here; 0: it is none. */
static size_t address_length(const char *p, const char *end)
{
	const char *at = p;

	for (int i = 0; i < 4; i++) {
		const char *from = at;

		while (at < end && at - from < 3 && is_digit(*at))
			at++;
		if (at == from || at == end || *at != (i < 3 ? '.' : ':'))
			return 0;
		at++;
	}
	if (at == end || !is_digit(*at))
		return 0;
	while (at < end && is_digit(*at))
		at++;
	return (size_t)(at - p);
}

static bool is_uuid(const char *p, const char *end)
{
	if (end - p < UUID_BYTES || (end - p > UUID_BYTES && is_word(p[UUID_BYTES])))
		return false;
	for (int i = 0; i < UUID_BYTES; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? p[i] != '-' : !is_hex(p[i]))
			return false;
	return true;
}

static void take_uuid(struct walk *w)
{
	name(w->t, STR("uuid"), keep(w->t, (struct str){ w->p, UUID_BYTES }, STR("")));
	shape_hole(w);
	w->p += UUID_BYTES;
}

static void add_end(struct walk *w, struct str address)
{
	unsigned at = 0;

	while (at < w->nr_ends && str_cmp(w->ends[at], address) < 0)
		at++;
	if (at < w->nr_ends && str_eq(w->ends[at], address))
		return;
	memmove(&w->ends[at + 1], &w->ends[at], (w->nr_ends - at) * sizeof(*w->ends));
	w->ends[at] = address;
	w->nr_ends++;
}

/* All addresses of the text, however many numbers ask for them. */
static void find_ends(struct walk *w)
{
	w->has_ends = true;
	for (const char *p = w->start; p < w->end && w->nr_ends < ENDS_MAX;) {
		bool is_start = (p == w->start || !is_word(p[-1])) && is_digit(*p);
		size_t n = is_start ? address_length(p, w->end) : 0;

		if (n && !w->first_address.n)
			w->first_address = (struct str){ p, n };
		if (n)
			add_end(w, (struct str){ p, n });
		p += n ? n : 1;
	}
}

/* Who used the number: the first address of the text, unless it is the other end itself. */
static void name_sender(struct walk *w, struct str number)
{
	struct str value = { w->t->words + w->t->nr_words, 0 };

	if (!w->first_address.n || w->first_address.p >= w->p)
		return;
	value.n += keep(w->t, number, STR("@")).n;
	value.n += keep(w->t, w->first_address, STR("")).n;
	name(w->t, STR("@>"), value);
}

/* 181@127.0.0.1:7000: a number that two ends have agreed on; all addresses of the text are the
 * ends. */
static void name_between(struct walk *w, struct str number)
{
	struct str value;

	if (!w->has_ends)
		find_ends(w);
	name_sender(w, number);
	value = (struct str){ w->t->words + w->t->nr_words, 0 };
	value.n += keep(w->t, number, STR("@")).n;
	for (unsigned i = 0; i < w->nr_ends; i++)
		value.n += keep(w->t, w->ends[i], STR("+")).n;
	name(w->t, STR("@"), value);
}

static void take_address(struct walk *w, size_t n)
{
	name(w->t, STR("address"), keep(w->t, (struct str){ w->p, n }, STR("")));
	shape_hole(w);
	w->p += n;
}

/* word_1_2_3 names word_1, word_1_2, word_1_2_3, and 1_2. */
static bool take_compound(struct walk *w, struct str whole)
{
	size_t letters = 0, at, ends[NUMBERS_MAX], nr = 0;

	while (letters < whole.n &&
	       (is_letter(whole.p[letters]) || (whole.p[letters] == '_' && letters + 1 < whole.n &&
						is_letter(whole.p[letters + 1]))))
		letters++;
	if (!letters || letters == whole.n || whole.p[letters] != '_')
		return false;
	for (at = letters; at < whole.n && whole.p[at] == '_' && nr < NUMBERS_MAX;) {
		size_t from = at + 1 + (at + 1 < whole.n && whole.p[at + 1] == '-'), to = from;

		while (to < whole.n && is_digit(whole.p[to]))
			to++;
		if (to == from)
			break;
		ends[nr++] = at = to;
	}
	if (!nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		char digit[2] = { '#', (char)('1' + i) };

		name(w->t, keep(w->t, str_head(whole, letters), (struct str){ digit, 2 }),
		     keep(w->t, str_head(whole, ends[i]), STR("")));
	}
	if (nr > 1)
		name(w->t, STR("#2"),
		     keep(w->t, (struct str){ whole.p + letters + 1, ends[1] - letters - 1 },
			  STR("")));
	return ends[nr - 1] == whole.n;
}

/* a0 of part00290, A0a of R2d: runs of one sort as one letter. */
static struct str look_of(struct tokens *t, struct str s)
{
	char look[24];
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < sizeof(look); i++) {
		char c = is_digit(s.p[i])                 ? '0'
			 : s.p[i] >= 'a' && s.p[i] <= 'z' ? 'a'
			 : s.p[i] == '_'                  ? '_'
							  : 'A';

		if (!n || look[n - 1] != c)
			look[n++] = c;
	}
	return keep(t, STR("mix:"), (struct str){ look, n });
}

/* 64KiB, 30ms: an amount with its unit names nothing. */
static bool is_amount(struct str s)
{
	size_t digits = 0;

	while (digits < s.n && is_digit(s.p[digits]))
		digits++;
	for (size_t i = digits; i < s.n; i++)
		if (!is_letter(s.p[i]))
			return false;
	return digits && digits < s.n && s.n - digits <= UNIT_LETTERS;
}

static void name_mixed(struct tokens *t, struct str s)
{
	size_t digits = 0, letters = 0, hex = 0;

	if (is_amount(s))
		return;

	for (size_t i = 0; i < s.n; i++) {
		digits += is_digit(s.p[i]);
		letters += is_letter(s.p[i]);
		hex += is_hex(s.p[i]);
	}
	if (hex == s.n && letters && digits && s.n >= HEX_MIN) {
		char kind[8] = { 'h', 'e', 'x' };

		kind[3] = (char)('0' + s.n / 100 % 10);
		kind[4] = (char)('0' + s.n / 10 % 10);
		kind[5] = (char)('0' + s.n % 10);
		name(t, keep(t, (struct str){ kind, 6 }, STR("")), keep(t, s, STR("")));
	} else if (digits && letters) {
		name(t, look_of(t, s), keep(t, s, STR("")));
	}
}

/* What the number means: name=5, name: 5, name 50000. */
static struct str key_of(const struct walk *w, const char *at, size_t digits)
{
	bool is_assigned = false;

	if (!w->word.n)
		return (struct str){ 0 };
	for (const char *p = w->word.p + w->word.n; p < at; p++) {
		if (*p == '=' || *p == ':')
			is_assigned = true;
		else if (*p != ' ' && *p != '[' && *p != '\'' && *p != '"' && *p != '-')
			return (struct str){ 0 };
	}
	if (!is_assigned && (digits < NAMED_DIGITS || w->word.n < 2))
		return (struct str){ 0 };
	return w->word;
}

static void take_number(struct walk *w, struct str digits)
{
	struct str key;

	if (w->p + 1 < w->end && *w->p == '@') {
		const char *p = w->p + 1 + (w->p[1] == '/');

		if (p < w->end && address_length(p, w->end)) {
			name_between(w, digits);
			return;
		}
	}
	if (w->p + 1 < w->end && *w->p == '.' && is_digit(w->p[1]))
		return;
	key = key_of(w, digits.p, digits.n);
	if (key.n)
		name(w->t, keep(w->t, key, STR("=")), keep(w->t, digits, STR("")));
}

static struct str read_word(struct walk *w)
{
	const char *from = w->p;

	while (w->p < w->end &&
	       (is_word(*w->p) || (*w->p == '-' && w->p > from && w->p[-1] == '_' &&
				   w->p + 1 < w->end && is_digit(w->p[1]))))
		w->p++;
	return (struct str){ from, (size_t)(w->p - from) };
}

/* A path names what its parts name. */
static void name_components(struct walk *w, struct str path)
{
	struct walk in = { .p = path.p, .end = path.p + path.n };

	while (in.p < in.end) {
		struct str s = { 0 };

		if (is_hex(*in.p) && is_uuid(in.p, in.end)) {
			name(w->t, STR("uuid"),
			     keep(w->t, (struct str){ in.p, UUID_BYTES }, STR("")));
			in.p += UUID_BYTES;
		} else if (is_word(*in.p)) {
			s = read_word(&in);
		} else {
			in.p++;
		}
		if (s.n && !take_compound(w, s))
			name_mixed(w->t, s);
	}
}

static void take_path(struct walk *w)
{
	const char *from = w->p, *second;
	struct str path, top;

	while (w->p < w->end && is_path(*w->p))
		w->p++;
	path = (struct str){ from, (size_t)(w->p - from) };
	while (path.n && (path.p[path.n - 1] == '.' || path.p[path.n - 1] == '/'))
		path.n--;
	second = path.n > 1 ? memchr(path.p + 1, '/', path.n - 1) : NULL;
	if (!second) {
		shape(w, (struct str){ from, (size_t)(w->p - from) });
		return;
	}
	top = (struct str){ path.p, (size_t)(second - path.p) };
	name(w->t, keep(w->t, STR("path"), top), keep(w->t, path, STR("")));
	name_components(w, path);
	shape(w, STR("/"));
	shape_hole(w);
}

static void take_word(struct walk *w)
{
	struct str s = read_word(w);
	size_t digits = 0;

	for (size_t i = 0; i < s.n; i++)
		digits += is_digit(s.p[i]);
	if (!digits) {
		bool is_hexadecimal = s.n >= 32;

		w->word = s;
		shape(w, is_hexadecimal ? STR("<*>") : s);
		return;
	}
	shape_hole(w);
	if (digits == s.n)
		take_number(w, s);
	else if (!take_compound(w, s))
		name_mixed(w->t, s);
	w->word = (struct str){ 0 };
}

/* scheme:/path and scheme://authority/path; the word in front was taken already. */
static bool is_path_here(const struct walk *w)
{
	char before = w->p > w->start ? w->p[-1] : ' ';

	return w->p + 1 < w->end && is_path(w->p[1]) && w->p[1] != '/' && !is_word(before) &&
	       before != '/' && before != '.';
}

static void skip_authority(struct walk *w)
{
	shape(w, STR("//"));
	w->p += 2;
	while (w->p < w->end && (is_word(*w->p) || *w->p == '.' || *w->p == ':' || *w->p == '-'))
		w->p++;
	if (w->p < w->end && *w->p == '/')
		take_path(w);
}

static void step(struct walk *w)
{
	bool is_start = w->p == w->start || !is_word(w->p[-1]);
	size_t n;

	if (is_start && is_hex(*w->p) && is_uuid(w->p, w->end)) {
		take_uuid(w);
	} else if (is_start && is_digit(*w->p) && (n = address_length(w->p, w->end))) {
		take_address(w, n);
	} else if (*w->p == '/' && w->p + 1 < w->end && w->p[1] == '/' && w->p > w->start &&
		   w->p[-1] == ':') {
		skip_authority(w);
	} else if (*w->p == '/' && is_path_here(w) && !address_length(w->p + 1, w->end)) {
		take_path(w);
	} else if (is_word(*w->p)) {
		take_word(w);
	} else {
		if (*w->p != '\n')
			shape(w, (struct str){ w->p, 1 });
		w->p++;
	}
}

void tokens_find(struct tokens *t, struct str text)
{
	struct walk w = { .t = t };
	const char *line;

	t->nr = 0;
	t->is_cut = text.n > TOKENS_TEXT_MAX;
	text = str_head(text, TOKENS_TEXT_MAX);
	t->nr_words = t->nr_shape = 0;
	w.start = w.p = text.p;
	w.end = text.p + text.n;
	line = text.n ? memchr(text.p, '\n', text.n) : NULL;
	w.first_end = line ? line : w.end;
	while (w.p < w.end)
		step(&w);
}
