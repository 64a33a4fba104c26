/*
 * A .pyc is sixteen bytes and one marshalled object, the code of the module (PEP 552, marshal.c of
 * CPython). Its constants hold the code of functions and classes, and so on. The layout of code
 * changed with 3.8 and 3.11. Objects that are needed again are numbered in the order in which they
 * begin; only texts are kept, since a constant may refer to a name.
 *
 * Not everything behind damage can be found, as nothing tells where the next object begins: what
 * stands in front of it is used, and the file is counted.
 */
#include "program/strings_python.h"

#include "base/vec.h"
#include "model/loss.h"
#include "program/strings.h"
#include "program/strings_text.h"

enum {
	HEAD_BYTES = 16,
	DEPTH_MAX = 200, /* objects within each other */
	FLAG_REF = 0x80,
	FIRST_KNOWN = 3390,     /* 3.7, the first with sixteen bytes in front */
	POSITIONAL_ONLY = 3400, /* 3.8 counts such parameters */
	QUALIFIED_NAME = 3450,  /* 3.11 has it in the code, and no number of locals */
	FIRST_UNKNOWN = 3700,
};

struct marshal {
	struct str rest;
	unsigned version, depth;
	const struct strings_sink *to;
	struct losses *losses;
	VEC(struct str) refs;
	struct str last_code; /* the name of the code object before, empty for none */
	bool is_first;        /* the next constant is the first of its code */
};

static bool read_object(struct marshal *m, bool is_constant, struct str *text);

static bool take_number(struct marshal *m, unsigned bytes, uint32_t *v)
{
	*v = 0;
	if (m->rest.n < bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		*v |= (uint32_t)(uint8_t)m->rest.p[i] << (8 * i);
	m->rest = str_skip(m->rest, bytes);
	return true;
}

static bool skip(struct marshal *m, size_t n)
{
	if (m->rest.n < n)
		return false;
	m->rest = str_skip(m->rest, n);
	return true;
}

static bool take_text(struct marshal *m, unsigned length_bytes, struct str *text)
{
	uint32_t n;

	if (!take_number(m, length_bytes, &n) || m->rest.n < n)
		return false;
	*text = str_head(m->rest, n);
	return skip(m, n);
}

static bool read_items(struct marshal *m, uint32_t nr, bool is_constant)
{
	struct str text;

	for (uint32_t i = 0; i < nr; i++)
		if (!read_object(m, is_constant, &text))
			return false;
	return true;
}

static bool take_items(struct marshal *m, unsigned length_bytes, bool is_constant)
{
	uint32_t nr;

	return take_number(m, length_bytes, &nr) && read_items(m, nr, is_constant);
}

/* Keys and values up to a null object. */
static bool take_dict(struct marshal *m, bool is_constant)
{
	struct str text;

	while (m->rest.n && m->rest.p[0] != '0')
		if (!read_object(m, is_constant, &text))
			return false;
	return skip(m, 1);
}

/* Only what is in the constants is printed; the rest is names. */
static bool take_code(struct marshal *m)
{
	bool is_new = m->version >= QUALIFIED_NAME;
	unsigned numbers = is_new || m->version < POSITIONAL_ONLY ? 5 : 6;
	struct str name = STR("");

	m->last_code = STR("");
	if (!skip(m, 4 * numbers) || !read_items(m, 1, false))
		return false;
	m->is_first = true;
	if (!read_items(m, 1, true))
		return false;
	/* names, then names and kinds of locals, or locals, free and cell variables */
	if (!read_items(m, is_new ? 3 : 4, false) || !read_items(m, 1, false) ||
	    !read_object(m, false, &name))
		return false;
	if (is_new && !read_items(m, 1, false))
		return false;
	if (!skip(m, 4) || !read_items(m, is_new ? 2 : 1, false))
		return false;
	m->last_code = name;
	return true;
}

/*
 * Not all constants are printed. The first one of some lines is documentation. Where code does not
 * have its qualified name, that follows it in the constants. And what is long is not given again
 * where it is referred to, since few bytes may do so often.
 */
static bool is_printed(const struct marshal *m, char kind, struct str s)
{
	if (m->is_first && str_find_char(s, '\n') < s.n)
		return false;
	if (m->version < QUALIFIED_NAME && m->last_code.n && str_ends(s, m->last_code))
		return false;
	return kind != 'r' || s.n <= STRING_MAX;
}

static bool take_big(struct marshal *m)
{
	uint32_t n;

	if (!take_number(m, 4, &n))
		return false;
	return skip(m, 2 * (size_t)(n > INT32_MAX ? 0 - n : n));
}

static bool take_ref(struct marshal *m, struct str *text)
{
	uint32_t n;

	if (!take_number(m, 4, &n) || n >= m->refs.nr)
		return false;
	*text = m->refs.v[n];
	return true;
}

static bool take_kind(struct marshal *m, char kind, bool is_constant, struct str *text)
{
	struct str bytes;

	switch (kind) {
	case '0':
	case 'N':
	case 'F':
	case 'T':
	case 'S':
	case '.':
		return true;
	case 'i':
		return skip(m, 4);
	case 'I':
	case 'g':
		return skip(m, 8);
	case 'y':
		return skip(m, 16);
	case 'f':
		return take_text(m, 1, &bytes);
	case 'x': {
		struct str imaginary;

		return take_text(m, 1, &bytes) && take_text(m, 1, &imaginary);
	}
	case 'l':
		return take_big(m);
	case 's':
		return take_text(m, 4, &bytes);
	case 't':
	case 'u':
	case 'a':
	case 'A':
		return take_text(m, 4, text);
	case 'z':
	case 'Z':
		return take_text(m, 1, text);
	case 'r':
		return take_ref(m, text);
	case '(':
	case '[':
	case '<':
	case '>':
		return take_items(m, 4, is_constant);
	case ')':
		return take_items(m, 1, is_constant);
	case '{':
		return take_dict(m, is_constant);
	case ':':
		return read_items(m, 3, is_constant);
	case 'c':
		return take_code(m);
	default:
		return false;
	}
}

static bool is_tuple(uint32_t kind)
{
	kind &= ~(uint32_t)FLAG_REF;
	return kind == '(' || kind == ')';
}

/* The next object; *text is what it says, empty when it is no text. */
static bool read_object(struct marshal *m, bool is_constant, struct str *text)
{
	size_t ref = SIZE_MAX;
	uint32_t kind;
	bool is_good;

	*text = STR("");
	if (m->depth >= DEPTH_MAX || !take_number(m, 1, &kind))
		return false;
	if (kind & FLAG_REF) {
		ref = m->refs.nr;
		vec_push(&m->refs, STR(""));
	}
	m->depth++;
	is_good = take_kind(m, (char)(kind & ~(unsigned)FLAG_REF), is_constant, text);
	m->depth--;
	if (ref != SIZE_MAX)
		m->refs.v[ref] = *text;
	if (!is_constant || is_tuple(kind))
		return is_good;
	if (is_good && is_printed(m, (char)kind, *text))
		strings_give(m->to, *text, m->losses);
	m->is_first = false;
	if (text->n)
		m->last_code = STR("");
	return is_good;
}

static unsigned version_of(struct str s)
{
	return s.n < 2 ? 0 : (unsigned)(uint8_t)s.p[0] | (unsigned)(uint8_t)s.p[1] << 8;
}

bool strings_is_pyc(struct str s)
{
	unsigned version = version_of(s);

	return s.n >= HEAD_BYTES && version >= FIRST_KNOWN && version < FIRST_UNKNOWN &&
	       str_starts(str_skip(s, 2), STR("\r\n"));
}

void strings_of_pyc(struct str s, const struct strings_sink *to, struct losses *losses)
{
	struct marshal m = { .rest = str_skip(s, HEAD_BYTES),
			     .version = version_of(s),
			     .to = to,
			     .losses = losses };
	struct str text;

	if (!read_object(&m, false, &text))
		losses->count[LOSS_PROGRAMS_BROKEN]++;
	vec_done(&m.refs);
}
