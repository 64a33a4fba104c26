/*
 * Most lines name nothing, so the text is first sieved sixteen bytes at a time for the few pairs of
 * bytes that every name goes with; only what the sieve keeps is looked at closely. Characters are
 * told apart by a table of our own: those of the C library depend on the locale and are calls.
 *
 *      "id" and no letter behind     trace_id= X-Request-ID: "traceId":"…" opID txid
 *      '_' and a digit or minus      blk_1073741825_1001, blk_-42…, application_17_0001
 *      "q-"                          [req-<uuid> of OpenStack
 *      "ep"                          traceparent
 *      "w8"                          sw8, the header of SkyWalking
 *      '['                           [app,<trace>,<span> of Spring Sleuth, [<trace>-<span>]
 */
#include "source/logid.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define STEP 64
#define LOOK_AHEAD 2 /* bytes behind the step that decide about its last ones */
#define NAME_BYTES_MAX 48
#define VALUE_BYTES_MAX 128

enum { DIGIT = 1, LOWER = 2, UPPER = 4, HEX = 8, SIGN = 16, LETTER = LOWER | UPPER };

static const unsigned char classes[256] = {
	['0' ... '9'] = DIGIT | HEX,
	['a' ... 'f'] = LOWER | HEX,
	['g' ... 'z'] = LOWER,
	['A' ... 'F'] = UPPER | HEX,
	['G' ... 'Z'] = UPPER,
	['_'] = SIGN,
	['-'] = SIGN,
	['.'] = SIGN,
};

static inline bool is(char c, unsigned class)
{
	return classes[(unsigned char)c] & class;
}

static inline char lower(char c)
{
	return is(c, UPPER) ? (char)(c | 0x20) : c;
}

/* What was found so far, and the text around it. */
struct search {
	struct str text;
	struct logid found;
	struct str span;
	size_t passed;  /* candidates before this were part of something that was looked at */
	bool by_digits; /* something was looked at whose digits count */
};

/* One bit for each of the first STEP bytes where something may begin; STEP + LOOK_AHEAD readable.
 */
#ifdef __SSE2__
static __m128i is_in(__m128i v, char first, char last)
{
	__m128i from = _mm_sub_epi8(v, _mm_set1_epi8(first));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static __m128i is_char(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static inline __m128i load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Of the bytes of a, where b are those one further and c those two further. */
static inline __attribute__((always_inline)) uint64_t sieve16(__m128i a, __m128i b, __m128i c)
{
	const __m128i small = _mm_set1_epi8(0x20);
	__m128i la = _mm_or_si128(a, small), lb = _mm_or_si128(b, small);
	__m128i letter = is_in(_mm_or_si128(c, small), 'a', 'z');
	__m128i id = _mm_andnot_si128(letter, _mm_and_si128(is_char(la, 'i'), is_char(lb, 'd')));
	__m128i work =
		_mm_and_si128(is_char(a, '_'), _mm_or_si128(is_in(b, '0', '9'), is_char(b, '-')));
	__m128i req = _mm_and_si128(is_char(a, 'q'), is_char(b, '-'));
	__m128i parent = _mm_and_si128(is_char(la, 'e'), is_char(lb, 'p'));
	__m128i sw8 = _mm_and_si128(is_char(la, 'w'), is_char(b, '8'));
	__m128i any = _mm_or_si128(_mm_or_si128(_mm_or_si128(id, work), _mm_or_si128(req, parent)),
				   _mm_or_si128(sw8, is_char(a, '[')));

	return (uint16_t)_mm_movemask_epi8(any);
}

static uint64_t sieve(const char *p)
{
	uint64_t bits = 0;

	for (int i = 0; i < STEP; i += 16)
		bits |= sieve16(load(p + i), load(p + i + 1), load(p + i + 2)) << i;
	return bits;
}

/* Of exactly STEP bytes, as if zeros followed. */
static uint64_t sieve_last(const char *p)
{
	uint64_t bits = 0;

	for (int i = 0; i < STEP; i += 16) {
		__m128i a = load(p + i), next = _mm_setzero_si128();

		if (i + 16 < STEP)
			next = load(p + i + 16);
		bits |= sieve16(a, _mm_or_si128(_mm_srli_si128(a, 1), _mm_slli_si128(next, 15)),
				_mm_or_si128(_mm_srli_si128(a, 2), _mm_slli_si128(next, 14)))
			<< i;
	}
	return bits;
}

/* How many of the 16 bytes at p, in front or at the end, are of a kind. */
static inline unsigned front_of(__m128i kind)
{
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(kind));
}

static inline unsigned end_of(__m128i kind)
{
	return (unsigned)__builtin_clz(~((unsigned)_mm_movemask_epi8(kind) << 16));
}
#else
static uint64_t sieve(const char *p)
{
	uint64_t bits = 0;

	for (int i = 0; i < STEP; i++) {
		char a = p[i], b = p[i + 1], la = a | 0x20, lb = b | 0x20, lc = p[i + 2] | 0x20;
		bool id = la == 'i' && lb == 'd' && !(lc >= 'a' && lc <= 'z');
		bool work = a == '_' && ((b >= '0' && b <= '9') || b == '-');

		if (id || work || a == '[' || (a == 'q' && b == '-') || (la == 'e' && lb == 'p') ||
		    (la == 'w' && b == '8'))
			bits |= 1ULL << i;
	}
	return bits;
}

static uint64_t sieve_last(const char *p)
{
	char copy[STEP + LOOK_AHEAD] = { 0 };

	memcpy(copy, p, STEP);
	return sieve(copy);
}
#endif

/* Where the digits that begin at this place end. Where a run ends cannot be foreseen, and a wrong
 * guess of the processor costs more than sixteen bytes at once. */
static inline size_t pass_digits(struct str s, size_t at)
{
#ifdef __SSE2__
	if (s.n - at >= 16) {
		unsigned n = front_of(is_in(load(s.p + at), '0', '9'));

		at += n;
		if (n < 16)
			return at;
	}
#endif
	while (at < s.n && is(s.p[at], DIGIT))
		at++;
	return at;
}

static inline size_t pass_letters(struct str s, size_t at)
{
#ifdef __SSE2__
	if (s.n - at >= 16) {
		__m128i small = _mm_or_si128(load(s.p + at), _mm_set1_epi8(0x20));
		unsigned n = front_of(is_in(small, 'a', 'z'));

		at += n;
		if (n < 16)
			return at;
	}
#endif
	while (at < s.n && is(s.p[at], LETTER))
		at++;
	return at;
}

/* Where the letters, digits and underscores in front of this place begin. */
static inline size_t back_to_token(struct str s, size_t at)
{
#ifdef __SSE2__
	if (at >= 16) {
		__m128i v = load(s.p + at - 16), small = _mm_or_si128(v, _mm_set1_epi8(0x20));
		__m128i word = _mm_or_si128(is_in(small, 'a', 'z'), is_in(v, '0', '9'));
		unsigned n = end_of(_mm_or_si128(word, is_char(v, '_')));

		at -= n;
		if (n < 16)
			return at;
	}
#endif
	while (at && (is(s.p[at - 1], LETTER | DIGIT) || s.p[at - 1] == '_'))
		at--;
	return at;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is(s.p[i], HEX))
			return false;
	return s.n;
}

/* Zeros only (and dashes and dots between): how tracers write "no id". */
static bool is_zero(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '0' && s.p[i] != '-' && s.p[i] != '.')
			return false;
	return true;
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is(s.p[i], DIGIT))
			return true;
	return false;
}

static bool take_hex(struct str *s, size_t n, struct str *id)
{
	struct str front = str_head(*s, n);

	if (front.n < n || !is_hex(front))
		return false;
	*id = front;
	*s = str_skip(*s, n);
	return true;
}

/* A trace id in one of its two lengths, not part of a longer number. */
static bool take_trace(struct str *s, struct str *id)
{
	struct str rest = *s;

	if (!take_hex(&rest, 32, id) && !take_hex(&rest, 16, id))
		return false;
	if ((rest.n && is(rest.p[0], LETTER | DIGIT)) || is_zero(*id))
		return false;
	*s = rest;
	return true;
}

static void found(struct search *s, enum key_kind kind, struct str key)
{
	if (kind > s->found.kind)
		s->found = (struct logid){ .kind = kind, .key = key };
}

static void found_trace(struct search *s, struct str key, struct str span)
{
	if (s->found.kind == KEY_TRACE)
		return;
	found(s, KEY_TRACE, key);
	if (!is_zero(span))
		s->span = span;
}

/* --- values behind a name ------------------------------------------------------------------ */

static bool ends_value(char c)
{
	return (unsigned char)c <= ' ' || strchr(",;\"'`])}><&|\\", c);
}

/* What follows a name: quotes, one separator, quotes or brackets, the value. */
static bool take_value(struct str rest, struct str *value, bool *separated)
{
	size_t n = 0;

	while (rest.n && strchr("\"'`\\]", rest.p[0]) && rest.p[0])
		rest = str_skip(rest, 1);
	str_take_spaces(&rest);
	*separated = rest.n && strchr("=:>", rest.p[0]) && rest.p[0];
	if (*separated)
		rest = str_skip(rest, 1);
	str_take_char(&rest, '>');
	str_take_spaces(&rest);
	for (int i = 0; i < 3 && rest.n && rest.p[0] && strchr("\"'`\\[({<", rest.p[0]); i++)
		rest = str_skip(rest, 1);
	while (n < rest.n && n <= VALUE_BYTES_MAX && !ends_value(rest.p[n]))
		n++;
	if (!n || n > VALUE_BYTES_MAX)
		return false;
	*value = str_head(rest, n);
	while (value->n && strchr(".:!?", value->p[value->n - 1]))
		value->n--;
	return value->n > 0;
}

static bool is_trace(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is(s.p[i], LETTER | DIGIT) && s.p[i] != '-' && s.p[i] != '.')
			return false;
	return s.n >= 8 && has_digit(s) && !is_zero(s);
}

static void on_trace(struct search *s, struct str value)
{
	struct str key, span = STR("");

	str_take(&value, STR("Root=")); /* X-Amzn-Trace-Id */
	if (str_take_until(&value, ':', &key)) {
		/* uber-trace-id is trace:span:parent:flags */
		if (!is_hex(key) || !str_take_until(&value, ':', &span) || !is_hex(span))
			return;
	} else {
		key = value;
	}
	if (is_trace(key))
		found_trace(s, key, span);
}

static bool is_placeholder(struct str s)
{
	static const char *const words[] = { "null",    "none", "nil", "undefined",
					     "unknown", "n/a",  "na" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq_nocase(s, str_of(words[i])))
			return true;
	return is_zero(s);
}

/* --- names that end in "id" ---------------------------------------------------------------- */

enum name_kind { NAME_OTHER, NAME_TRACE, NAME_SPAN, NAME_TID, NAME_REQUEST, NAME_SHORT };

static const struct {
	struct str letters;
	enum name_kind kind;
} names[] = {
	{ STR("traceid"), NAME_TRACE },
	{ STR("spanid"), NAME_SPAN },
	{ STR("tid"), NAME_TID },
	{ STR("requestid"), NAME_REQUEST },
	{ STR("reqid"), NAME_REQUEST },
	{ STR("jid"), NAME_SHORT },
	{ STR("rid"), NAME_SHORT },
	{ STR("correlationid"), NAME_REQUEST },
	{ STR("corrid"), NAME_REQUEST },
	{ STR("opid"), NAME_REQUEST },
	{ STR("operationid"), NAME_REQUEST },
	{ STR("transactionid"), NAME_REQUEST },
	{ STR("transid"), NAME_REQUEST },
	{ STR("txid"), NAME_REQUEST },
	{ STR("txnid"), NAME_REQUEST },
	{ STR("queryid"), NAME_REQUEST },
	{ STR("invocationid"), NAME_REQUEST },
	{ STR("activityid"), NAME_REQUEST },
};

static bool is_between(char c)
{
	return c == '_' || c == '-' || c == '.' || c == ' ';
}

/* Whether the name ends in these letters, whatever separates them, and they begin a word of it. */
static bool ends_in(struct str name, struct str letters)
{
	size_t at = name.n, left = letters.n;

	while (left) {
		while (at && is_between(name.p[at - 1]) && left < letters.n)
			at--;
		if (!at || lower(name.p[at - 1]) != letters.p[left - 1])
			return false;
		at--;
		left--;
	}
	return !at || !is(name.p[at - 1], LETTER) ||
	       (is(name.p[at], UPPER) && !is(name.p[at - 1], UPPER));
}

static bool is_name_char(char c)
{
	return is(c, LETTER | DIGIT | SIGN);
}

/* The name that ends behind "id" at this place; "trace id" in two words is one too. */
static struct str name_ending(struct str text, size_t end)
{
	size_t from = end - 2, least = end > NAME_BYTES_MAX ? end - NAME_BYTES_MAX : 0;

	while (from > least && is_name_char(text.p[from - 1]))
		from--;
	if (from == end - 2 && from > least + 1 && text.p[from - 1] == ' ' &&
	    is(text.p[from - 2], LETTER))
		for (from--; from > least && is_name_char(text.p[from - 1]);)
			from--;
	return (struct str){ text.p + from, end - from };
}

static enum name_kind name_kind(struct str name)
{
	size_t at = name.n - 2;
	char last; /* the letter before "id", which rules out most */

	while (at && is_between(name.p[at - 1]))
		at--;
	last = at ? lower(name.p[at - 1]) : 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct str letters = names[i].letters;

		if (letters.p[letters.n - 3] == last && ends_in(name, letters))
			return names[i].kind;
	}
	return NAME_OTHER;
}

static bool is_uuid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? s.p[i] != '-' : !is(s.p[i], HEX))
			return false;
	return s.n == 36 && !is_zero(s);
}

static void at_id(struct search *s, size_t at)
{
	struct str name = name_ending(s->text, at + 2), value;
	enum name_kind kind = name_kind(name);
	bool separated;

	s->by_digits |= kind != NAME_OTHER;
	if (kind == NAME_OTHER || str_eq_nocase(str_head(name, 6), STR("parent")) ||
	    !take_value(str_skip(s->text, at + 2), &value, &separated))
		return;
	/* without a separator this may be prose: "the request id is missing" */
	if (!separated && (value.n < 8 || !has_digit(value)))
		return;
	if (kind == NAME_TRACE)
		on_trace(s, value);
	else if (kind == NAME_SPAN && is_hex(value) && !is_zero(value) && !s->span.n)
		s->span = value;
	else if (kind == NAME_TID && value.n > 32 && memchr(value.p, '.', value.n))
		on_trace(s, value); /* SkyWalking; a thread is never that long */
	else if (kind == NAME_REQUEST && !is_placeholder(value) &&
		 (has_digit(value) || value.n >= 16))
		found(s, KEY_REQUEST, value);
	else if (kind == NAME_SHORT && value.n >= 12 && has_digit(value) && !is_zero(value) &&
		 (is_hex(value) || is_uuid(value)))
		found(s, KEY_REQUEST, value);
}

/* --- the other places ---------------------------------------------------------------------- */

/*
 * word_digits(_digits)*, where further words may stand between: attempt_17_0001_m_000000_0. How
 * long the token at the front is, and whether it is of that form.
 */
static size_t take_work(struct str s, bool *is_work)
{
	size_t n = 0, digits = 0, longest = 0, word = 0;
	bool fits = true;

	for (size_t piece = 0;; piece++, n++) {
		size_t from, letters;

		if (piece && n < s.n && s.p[n] == '-') /* blk_-42 */
			n++;
		from = n;
		n = pass_letters(s, n);
		letters = n - from;
		from = n;
		n = pass_digits(s, n);
		digits += n - from;
		longest = n - from > longest ? n - from : longest;
		/* letters and digits are apart, but for epochs: container_e12_… */
		if (!piece)
			word = n == from ? letters : 0;
		fits &= letters + n > from && (!letters || n == from || (piece && letters == 1));
		if (n == s.n || s.p[n] != '_')
			break;
	}
	while (n < s.n && is(s.p[n], LETTER | DIGIT)) {
		fits = false;
		n++;
	}
	*is_work = fits && word >= 3 && digits >= 4 && longest >= 3;
	return n;
}

static void at_work(struct search *s, size_t at)
{
	struct str token;
	size_t from = back_to_token(s->text, at);
	bool is_work;

	token = str_skip(s->text, from);
	token.n = take_work(token, &is_work);
	s->passed = from + token.n > at ? from + token.n : at + 1;
	if (!is_work || token.n > VALUE_BYTES_MAX || s->found.kind > KEY_WORK)
		return;
	/* DFSClient_NONMAPREDUCE_17_1 is who works; blk_17 beside it is what on */
	if (!s->found.kind || (is(s->found.key.p[0], UPPER) && is(token.p[0], LOWER)))
		s->found = (struct logid){ .kind = KEY_WORK, .key = token };
}

/* req-<uuid>, the whole of which is the name. */
static void at_req(struct search *s, size_t at)
{
	struct str rest = str_skip(s->text, at + 2), id = rest;

	if (at < 2 || memcmp(s->text.p + at - 2, "re", 2) ||
	    (at > 2 && is(s->text.p[at - 3], LETTER | DIGIT)))
		return;
	s->by_digits = true;
	for (id.n = 0; id.n < rest.n; id.n++)
		if (!is(rest.p[id.n], HEX) && rest.p[id.n] != '-')
			break;
	if (id.n == 36 && !is_zero(id))
		found(s, KEY_REQUEST, (struct str){ s->text.p + at - 2, id.n + 4 });
}

static void at_traceparent(struct search *s, size_t at)
{
	struct str name = STR("traceparent"), value, trace, span, version;
	bool separated;

	if (at < 4 || !str_eq_nocase(str_head(str_skip(s->text, at - 4), name.n), name) ||
	    !take_value(str_skip(s->text, at - 4 + name.n), &value, &separated))
		return;
	s->by_digits = true;
	if (take_hex(&value, 2, &version) && str_take_char(&value, '-') &&
	    take_hex(&value, 32, &trace) && str_take_char(&value, '-') &&
	    take_hex(&value, 16, &span) && !is_zero(trace))
		found_trace(s, trace, span);
}

/* sw8: 1-<trace>-<segment>-…, each in base64. */
static void at_sw8(struct search *s, size_t at)
{
	struct str value, trace;
	bool separated;

	if (!at || lower(s->text.p[at - 1]) != 's' ||
	    (at > 1 && is(s->text.p[at - 2], LETTER | DIGIT)) ||
	    !take_value(str_skip(s->text, at + 2), &value, &separated) || !separated)
		return;
	if ((str_take(&value, STR("1-")) || str_take(&value, STR("0-"))) &&
	    str_take_until(&value, '-', &trace) && trace.n >= 16)
		found_trace(s, trace, STR(""));
}

static void at_bracket(struct search *s, size_t at)
{
	struct str rest = str_skip(s->text, at + 1), inside = rest, trace, span;

	s->by_digits |= is_hex(str_head(rest, 16)) || (rest.n > 36 && rest.p[36] == ']');
	if (take_trace(&rest, &trace) && str_take_char(&rest, '-') && take_hex(&rest, 16, &span) &&
	    str_take_char(&rest, ']')) {
		found_trace(s, trace, span);
		return;
	}
	/* [<uuid>] of Rails, name[<uuid>] of Celery */
	if (inside.n > 36 && inside.p[36] == ']' && is_uuid(str_head(inside, 36))) {
		found(s, KEY_REQUEST, str_head(inside, 36));
		return;
	}
	for (size_t n = 0; inside.n && n < NAME_BYTES_MAX && is_name_char(inside.p[0]); n++)
		inside = str_skip(inside, 1);
	s->by_digits |= inside.n && inside.p[0] == ',';
	if (str_take_char(&inside, ',') && take_trace(&inside, &trace) &&
	    str_take_char(&inside, ',') && take_hex(&inside, 16, &span) && inside.n &&
	    (inside.p[0] == ',' || inside.p[0] == ']'))
		found_trace(s, trace, span);
}

static void look_at(struct search *s, size_t at)
{
	switch (s->text.p[at]) {
	case '_':
		at_work(s, at);
		break;
	case '[':
		at_bracket(s, at);
		break;
	case 'q':
		at_req(s, at);
		break;
	case 'e':
	case 'E':
		at_traceparent(s, at);
		break;
	case 'w':
	case 'W':
		at_sw8(s, at);
		break;
	default:
		at_id(s, at);
	}
}

/* The bytes from this place, fewer than sieve() reads: nothing behind the text is looked at. */
static uint64_t sieve_end(struct str text, size_t at)
{
	char copy[STEP] = { 0 };

	if (text.n - at > STEP) /* by one */
		return (sieve_last(text.p + at) & 1) | sieve_last(text.p + at + 1) << 1;
	if (text.n >= STEP)
		return sieve_last(text.p + text.n - STEP) >> (at + STEP - text.n);
	memcpy(copy, text.p, text.n);
	return sieve_last(copy);
}

/* "sw8": where another digit stands now. */
static bool may_be_sw8(struct str s)
{
	for (size_t i = 0; i + 1 < s.n; i++)
		if (lower(s.p[i]) == 'w' && is(s.p[i + 1], DIGIT))
			return true;
	return false;
}

static bool find(struct search *s, struct logid *id)
{
	struct str text = s->text;

	/* in front of everything, as Lambda writes it */
	if (text.n > 36 && text.p[8] == '-' && (unsigned char)text.p[36] <= ' ' &&
	    is_uuid(str_head(text, 36)))
		found(s, KEY_REQUEST, str_head(text, 36));
	for (size_t at = 0; at < text.n; at += STEP) {
		bool is_end = text.n - at < STEP + LOOK_AHEAD;
		uint64_t bits = is_end ? sieve_end(text, at) : sieve(text.p + at);

		for (; bits; bits &= bits - 1) {
			size_t here = at + (size_t)__builtin_ctzll(bits);

			if (here >= s->passed && here < text.n)
				look_at(s, here);
		}
	}
	if (!s->found.kind)
		return false;
	*id = s->found;
	id->span = s->found.kind == KEY_TRACE ? s->span : STR("");
	return true;
}

bool logid_find(struct str text, struct logid *id)
{
	struct search s = { .text = text };

	return find(&s, id);
}

bool logid_find_noting(struct str text, struct logid *id, bool *by_digits)
{
	struct search s = { .text = text };
	bool any = find(&s, id);

	*by_digits = s.by_digits || may_be_sw8(text) || (any && id->kind != KEY_WORK) ||
		     (text.n > 36 && text.p[8] == '-' && is(text.p[0], HEX));
	return any;
}
