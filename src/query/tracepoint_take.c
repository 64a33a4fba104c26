#include <errno.h>
#include <string.h>

#include "query/near.h"
#include "query/tracepoint_parser.h"

static const struct {
	const char *name;
	enum advice_memory memory;
	enum value_type type;
} types[] = {
	{ "u8", ADVICE_U8, VALUE_INT },         { "i8", ADVICE_I8, VALUE_INT },
	{ "u16", ADVICE_U16, VALUE_INT },       { "i16", ADVICE_I16, VALUE_INT },
	{ "u32", ADVICE_U32, VALUE_INT },       { "i32", ADVICE_I32, VALUE_INT },
	{ "u64", ADVICE_U64, VALUE_INT },       { "i64", ADVICE_I64, VALUE_INT },
	{ "bool", ADVICE_BOOLEAN, VALUE_BOOL }, { "f32", ADVICE_F32, VALUE_DOUBLE },
	{ "f64", ADVICE_F64, VALUE_DOUBLE },    { "text", ADVICE_CHARS, VALUE_TEXT },
};

/* What stands at the root of an expression, and a name for it. */
static const struct {
	const char *name;
	enum advice_from from;
} roots[] = {
	{ "return", ADVICE_FROM_RETURN },
	{ "duration", ADVICE_FROM_DURATION },
};

static int take_type(struct tracepoint_parser *p, struct tracepoint_export *e, bool *is_text)
{
	struct near near;
	struct str word;

	tracepoint_skip(p);
	word = tracepoint_word(p);
	near_begin(&near, word);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		near_offer(&near, str_of(types[i].name));
		if (!str_eq(word, str_of(types[i].name)))
			continue;
		e->taking.memory = types[i].memory;
		e->type = types[i].type;
		*is_text = types[i].memory == ADVICE_CHARS;
		p->at += word.n;
		return 0;
	}
	return tracepoint_wrong(
		p, (struct place){ (uint32_t)p->at, (uint32_t)(word.n ? word.n : 1) },
		"a type is expected: u8 to u64, i8 to i64, bool, f32, f64, text%s" STR_FMT "%s",
		near.best.n ? "; did you mean '" : "", STR_ARG(near.best), near.best.n ? "'?" : "");
}

static bool number_of(struct str word, uint64_t *n)
{
	struct str rest = word;

	if (str_take(&rest, STR("0x")))
		return str_take_hex(&rest, n) && !rest.n;
	return str_take_uint(&rest, n) && !rest.n;
}

/* argN, return, duration or a number. */
static int take_root(struct tracepoint_parser *p, struct advice_taking *t, bool is_address)
{
	struct str word, digits;
	struct place at;
	uint64_t n;

	tracepoint_skip(p);
	word = tracepoint_word(p);
	at = (struct place){ (uint32_t)p->at, (uint32_t)(word.n ? word.n : 1) };
	digits = str_skip(word, 3);
	p->at += word.n;
	if (str_starts(word, STR("arg")) && number_of(digits, &n)) {
		if (n > 11)
			return tracepoint_wrong(p, at, "arguments are arg0 to arg11");
		t->from = ADVICE_FROM_ARGUMENT;
		t->number = (uint8_t)n;
		return 0;
	}
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (str_eq(word, str_of(roots[i].name))) {
			if (is_address && roots[i].from == ADVICE_FROM_DURATION)
				return tracepoint_wrong(p, at, "a duration is no address");
			t->from = (uint8_t)roots[i].from;
			return 0;
		}
	if (!is_address && number_of(word, &n) && n <= INT64_MAX) {
		t->from = ADVICE_FROM_CONSTANT;
		t->constant = (int64_t)n;
		return 0;
	}
	return tracepoint_wrong(p, at,
				"a value is expected: arg0, return, duration, *(arg0 + 8):u32 …");
}

static int take_offset(struct tracepoint_parser *p, int32_t *offset)
{
	bool is_minus;
	struct str word;
	uint64_t n;

	tracepoint_skip(p);
	is_minus = tracepoint_take_sign(p, '-');
	if (!is_minus && !tracepoint_take_sign(p, '+'))
		return 0;
	tracepoint_skip(p);
	word = tracepoint_word(p);
	if (!number_of(word, &n) || n > INT32_MAX)
		return tracepoint_wrong(p, tracepoint_here(p),
					"how many bytes? A number is expected");
	p->at += word.n;
	*offset = is_minus ? -(int32_t)n : (int32_t)n;
	return 0;
}

/* "*(" was taken: what is inside, the closing bracket included. Loads are counted inside out. */
static int take_address(struct tracepoint_parser *p, struct advice_taking *t, unsigned depth)
{
	int got;

	if (depth > ADVICE_LOADS)
		return tracepoint_wrong(p, tracepoint_here(p), "at most %d pointers are followed",
					ADVICE_LOADS);
	tracepoint_skip(p);
	if (tracepoint_take_sign(p, '*')) {
		tracepoint_skip(p);
		if (!tracepoint_take_sign(p, '('))
			return tracepoint_wrong(p, tracepoint_here(p), "'(' is expected");
		got = take_address(p, t, depth + 1);
	} else {
		got = take_root(p, t, true);
	}
	if (got >= 0)
		got = take_offset(p, &t->offsets[t->nr_loads]);
	if (got < 0)
		return got;
	tracepoint_skip(p);
	if (!tracepoint_take_sign(p, ')'))
		return tracepoint_wrong(p, tracepoint_here(p), "')' is expected");
	t->nr_loads++;
	return 0;
}

static int take_native(struct tracepoint_parser *p, struct tracepoint_export *e)
{
	bool is_text = false;
	int got;

	e->taking.memory = ADVICE_I64;
	e->type = VALUE_INT;
	tracepoint_skip(p);
	if (tracepoint_take_sign(p, '*')) {
		tracepoint_skip(p);
		if (!tracepoint_take_sign(p, '('))
			return tracepoint_wrong(p, tracepoint_here(p), "'(' is expected");
		got = take_address(p, &e->taking, 1);
	} else {
		got = take_root(p, &e->taking, false);
	}
	if (got < 0)
		return got;
	tracepoint_skip(p);
	if (tracepoint_take_sign(p, ':'))
		got = take_type(p, e, &is_text);
	/* the text is where the last pointer points to */
	if (got >= 0 && is_text && e->taking.nr_loads)
		e->taking.nr_loads--;
	return got;
}

/* What is known of its type before it is seen. */
static enum value_type java_type(const struct java_path *path)
{
	switch (path->root) {
	case JAVA_DURATION:
	case JAVA_INT:
		return VALUE_INT;
	case JAVA_BOOL:
		return VALUE_BOOL;
	case JAVA_REAL:
		return VALUE_DOUBLE;
	case JAVA_TEXT:
		return VALUE_TEXT;
	default:
		break;
	}
	for (size_t i = 0; i < path->nr_steps; i++)
		if (path->steps[i].kind == JAVA_EACH || path->steps[i].kind == JAVA_CLASS)
			return VALUE_TEXT;
	return VALUE_NULL;
}

/* What a JVM evaluates, such as this.name or arg0.getLength(). Who weaves it reads it again from
 * its text: only the type and the root are noted here. */
static int take_java(struct tracepoint_parser *p, struct tracepoint_export *e)
{
	struct java_mistake mistake;
	struct java_path path;
	struct str rest;
	size_t from;

	tracepoint_skip(p);
	from = p->at;
	rest = str_skip(p->text, from);
	if (java_path_take(&rest, &path, &mistake) < 0)
		return tracepoint_wrong(
			p,
			(struct place){ (uint32_t)(from + mistake.at), (uint32_t)mistake.length },
			"%s", mistake.what);
	p->at = p->text.n - rest.n;
	e->expression = (struct str){ p->text.p + from, p->at - from };
	e->type = java_type(&path);
	e->java_root = path.root;
	str_take_spaces(&rest);
	if (!rest.n || strchr(",#\r\n", rest.p[0]))
		return 0;
	p->at = p->text.n - rest.n;
	return tracepoint_wrong(p, tracepoint_here(p), "',' or the end of the line is expected");
}

/* What a run knows: a path such as user.id. */
static int take_path(struct tracepoint_parser *p, struct tracepoint_export *e)
{
	size_t from, depth = 0;

	tracepoint_skip(p);
	for (from = p->at; p->at < p->text.n; p->at++) {
		char c = p->text.p[p->at];

		depth += c == '(' || c == '[';
		if ((c == ')' || c == ']') && depth)
			depth--;
		if (c == '\n' || (!depth && (c == ',' || c == '#')))
			break;
	}
	e->expression = str_trim((struct str){ p->text.p + from, p->at - from });
	if (e->expression.n)
		return 0;
	p->at = from;
	return tracepoint_wrong(p, tracepoint_here(p),
				"what is exported? A path such as this.name is expected");
}

int tracepoint_taking(struct tracepoint_parser *p, enum tracepoint_written written,
		      struct tracepoint_export *e)
{
	size_t from;
	int got;

	if (written == WRITTEN_RUN)
		return take_path(p, e);
	if (written == WRITTEN_JAVA)
		return take_java(p, e);
	tracepoint_skip(p);
	from = p->at;
	got = take_native(p, e);
	e->expression = str_trim((struct str){ p->text.p + from, p->at - from });
	return got;
}
