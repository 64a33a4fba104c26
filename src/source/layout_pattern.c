/*
 * One pass over the pattern makes literals and fields; a second one looks at what stands around
 * each field to decide how its end is found.
 */
#include "source/layout_pattern.h"

#include <ctype.h>
#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

enum action {
	DO_FIELD,
	DO_TIME,
	DO_PAST,
	DO_MDC,
	DO_GROUP, /* {pattern}{…}: what is inside counts */
	DO_MESSAGE,
	DO_NOTHING, /* line ends and stack traces */
};

struct word {
	const char *name;
	uint8_t action, step, field;
	const char *written;
};

/* Longer names before those that they begin with. */
static const struct word words[] = {
	{ "date", DO_TIME, 0, 0, NULL },
	{ "d", DO_TIME, 0, 0, NULL },
	{ "past", DO_PAST, 0, 0, NULL },
	{ "level", DO_FIELD, STEP_LEVEL, FIELD_LEVEL, "%p" },
	{ "le", DO_FIELD, STEP_LEVEL, FIELD_LEVEL, "%p" },
	{ "processId", DO_FIELD, STEP_UNTIL, FIELD_PID, "%pid" },
	{ "pid", DO_FIELD, STEP_UNTIL, FIELD_PID, "%pid" },
	{ "program", DO_FIELD, STEP_PROGRAM, FIELD_NONE, "%program: " },
	{ "priority", DO_FIELD, STEP_PRIORITY, FIELD_NONE, "%priority" },
	{ "property", DO_MDC, 0, 0, NULL },
	{ "p", DO_FIELD, STEP_LEVEL, FIELD_LEVEL, "%p" },
	{ "threadName", DO_FIELD, STEP_UNTIL, FIELD_THREAD, "%t" },
	{ "threadId", DO_FIELD, STEP_UNTIL, FIELD_PID, "%tid" },
	{ "threadPriority", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%tp" },
	{ "throwable", DO_NOTHING, 0, 0, NULL },
	{ "thread", DO_FIELD, STEP_UNTIL, FIELD_THREAD, "%t" },
	{ "tid", DO_FIELD, STEP_UNTIL, FIELD_PID, "%tid" },
	{ "tn", DO_FIELD, STEP_UNTIL, FIELD_THREAD, "%t" },
	{ "tp", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%tp" },
	{ "t", DO_FIELD, STEP_UNTIL, FIELD_THREAD, "%t" },
	{ "T", DO_FIELD, STEP_UNTIL, FIELD_PID, "%tid" },
	{ "contextName", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%*" },
	{ "class", DO_FIELD, STEP_UNTIL, FIELD_LOGGER, "%C" },
	{ "caller", DO_NOTHING, 0, 0, NULL },
	{ "clr", DO_GROUP, 0, 0, NULL },
	{ "cn", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%*" },
	{ "c", DO_FIELD, STEP_UNTIL, FIELD_LOGGER, "%c" },
	{ "C", DO_FIELD, STEP_UNTIL, FIELD_LOGGER, "%C" },
	{ "logger", DO_FIELD, STEP_UNTIL, FIELD_LOGGER, "%c" },
	{ "location", DO_FIELD, STEP_UNTIL, FIELD_FILE, "%l" },
	{ "lo", DO_FIELD, STEP_UNTIL, FIELD_LOGGER, "%c" },
	{ "line", DO_FIELD, STEP_UNTIL, FIELD_LINE, "%L" },
	{ "lsn", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%*" },
	{ "l", DO_FIELD, STEP_UNTIL, FIELD_FILE, "%l" },
	{ "L", DO_FIELD, STEP_UNTIL, FIELD_LINE, "%L" },
	{ "file", DO_FIELD, STEP_UNTIL, FIELD_FILE, "%F" },
	{ "F", DO_FIELD, STEP_UNTIL, FIELD_FILE, "%F" },
	{ "marker", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%*" },
	{ "maxLength", DO_GROUP, 0, 0, NULL },
	{ "maxLen", DO_GROUP, 0, 0, NULL },
	{ "map", DO_MDC, 0, 0, NULL },
	{ "mdc", DO_MDC, 0, 0, NULL },
	{ "MDC", DO_MDC, 0, 0, NULL },
	{ "message", DO_MESSAGE, 0, 0, NULL },
	{ "method", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%M" },
	{ "msg", DO_MESSAGE, 0, 0, NULL },
	{ "m", DO_MESSAGE, 0, 0, NULL },
	{ "M", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%M" },
	{ "X", DO_MDC, 0, 0, NULL },
	{ "xEx", DO_NOTHING, 0, 0, NULL },
	{ "xwEx", DO_NOTHING, 0, 0, NULL },
	{ "xThrowable", DO_NOTHING, 0, 0, NULL },
	{ "x", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%x" },
	{ "NDC", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%x" },
	{ "nopexception", DO_NOTHING, 0, 0, NULL },
	{ "nopex", DO_NOTHING, 0, 0, NULL },
	{ "notEmpty", DO_GROUP, 0, 0, NULL },
	{ "node", DO_FIELD, STEP_UNTIL, FIELD_NODE, "%node" },
	{ "nano", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%N" },
	{ "n", DO_NOTHING, 0, 0, NULL },
	{ "N", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%N" },
	{ "relative", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%r" },
	{ "replace", DO_GROUP, 0, 0, NULL },
	{ "rEx", DO_NOTHING, 0, 0, NULL },
	{ "rThrowable", DO_NOTHING, 0, 0, NULL },
	{ "rootException", DO_NOTHING, 0, 0, NULL },
	{ "r", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%r" },
	{ "sequenceNumber", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%sn" },
	{ "skip", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%*" },
	{ "sn", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%sn" },
	{ "style", DO_GROUP, 0, 0, NULL },
	{ "highlight", DO_GROUP, 0, 0, NULL },
	{ "host", DO_FIELD, STEP_UNTIL, FIELD_NODE, "%node" },
	{ "uuid", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%u" },
	{ "u", DO_FIELD, STEP_UNTIL, FIELD_NONE, "%u" },
	{ "encode", DO_GROUP, 0, 0, NULL },
	{ "enc", DO_GROUP, 0, 0, NULL },
	{ "equals", DO_GROUP, 0, 0, NULL },
	{ "exception", DO_NOTHING, 0, 0, NULL },
	{ "ex", DO_NOTHING, 0, 0, NULL },
	{ "ids", DO_FIELD, STEP_IDS, FIELD_NONE, "%ids" },
	{ "K", DO_MDC, 0, 0, NULL },
	{ "wEx", DO_NOTHING, 0, 0, NULL },
	{ "wex", DO_NOTHING, 0, 0, NULL },
};

struct compiler {
	struct layout_fields *f;
	struct arena *arena;
	struct buf literal;
	struct error *err;
	bool has_message;
	unsigned depth;
};

static int compile_part(struct compiler *c, struct str part);

static int add(struct compiler *c, struct layout_op op)
{
	if (!layout_fields_add(c->f, op))
		return error_set(c->err, EINVAL, "the layout pattern has too many parts");
	return 0;
}

static int flush_literal(struct compiler *c)
{
	struct layout_op op = { .step = STEP_LITERAL };
	struct buf once = { 0 };
	struct str text = buf_str(&c->literal);

	if (!text.n)
		return 0;
	/* a blank stands for any number of them */
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != ' ' || !once.n || once.p[once.n - 1] != ' ')
			buf_char(&once, text.p[i]);
	op.literal = arena_str(c->arena, buf_str(&once));
	buf_done(&once);
	buf_clear(&c->literal);
	return add(c, op);
}

/* {inside}, with braces inside it balanced */
static bool take_braces(struct str *s, char open, char close, struct str *inside)
{
	unsigned depth = 0;

	if (!s->n || s->p[0] != open)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		depth += s->p[i] == open;
		if (s->p[i] == close && !--depth) {
			*inside = str_head(str_skip(*s, 1), i - 1);
			*s = str_skip(*s, i + 1);
			return true;
		}
	}
	return false;
}

static int set_time(struct compiler *c, struct layout_time *time, struct str format)
{
	static const struct {
		const char *name, *letters;
	} named[] = {
		{ "", "yyyy-MM-dd HH:mm:ss,SSS" },
		{ "DEFAULT", "yyyy-MM-dd HH:mm:ss,SSS" },
		{ "DEFAULT_MICROS", "yyyy-MM-dd HH:mm:ss,SSSSSS" },
		{ "DEFAULT_NANOS", "yyyy-MM-dd HH:mm:ss,SSSSSSSSS" },
		{ "DEFAULT_PERIOD", "yyyy-MM-dd HH:mm:ss.SSS" },
		{ "ISO8601_BASIC", "yyyyMMdd'T'HHmmss,SSS" },
		{ "ISO8601_BASIC_PERIOD", "yyyyMMdd'T'HHmmss.SSS" },
		{ "ISO8601_OFFSET_DATE_TIME_HH", "yyyy-MM-dd'T'HH:mm:ss,SSSX" },
		{ "ISO8601_OFFSET_DATE_TIME_HHMM", "yyyy-MM-dd'T'HH:mm:ss,SSSX" },
		{ "ISO8601_OFFSET_DATE_TIME_HHCMM", "yyyy-MM-dd'T'HH:mm:ss,SSSX" },
		{ "ISO8601_PERIOD", "yyyy-MM-dd'T'HH:mm:ss.SSS" },
		{ "ISO8601_PERIOD_MICROS", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS" },
		{ "STRICT", "yyyy-MM-dd'T'HH:mm:ss,SSS" },
		{ "ABSOLUTE", "HH:mm:ss,SSS" },
		{ "ABSOLUTE_PERIOD", "HH:mm:ss.SSS" },
		{ "ABSOLUTE_MICROS", "HH:mm:ss,SSSSSS" },
		{ "ABSOLUTE_NANOS", "HH:mm:ss,SSSSSSSSS" },
		{ "DATE", "dd MMM yyyy HH:mm:ss,SSS" },
		{ "DATE_PERIOD", "dd MMM yyyy HH:mm:ss.SSS" },
		{ "COMPACT", "yyyyMMddHHmmssSSS" },
		{ "UNIX", "$" },
		{ "UNIX_MILLIS", "$" },
		{ "US_MONTH_DAY_YEAR2_TIME", "dd/MM/yy HH:mm:ss.SSS" },
		{ "US_MONTH_DAY_YEAR4_TIME", "dd/MM/yyyy HH:mm:ss.SSS" },
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (str_eq(format, str_of(named[i].name)))
			format = str_of(named[i].letters);
	if (!layout_time_compile(time, format))
		return error_set(c->err, EINVAL,
				 "the layout has a date format that makes no time: '" STR_FMT "'",
				 STR_ARG(format));
	return 0;
}

/* ISO8601 has a T in log4j 2 and a blank in log4j 1 and logback: two formats, tried by the step. */
static bool is_iso(struct str format)
{
	return str_eq(format, STR("ISO8601")) || !format.n;
}

static int add_time(struct compiler *c, struct str *rest)
{
	struct str format = { 0 }, ignored;
	bool given = c->f->time.nr > 0;
	int r = 0;

	if (take_braces(rest, '{', '}', &format))
		while (take_braces(rest, '{', '}', &ignored))
			;
	else if (given)
		format = (struct str){ 0 };
	/* logback: "format, zone" */
	if (str_find(format, STR(", ")) < format.n && str_find_char(format, '/') < format.n &&
	    format.p[0] != 'M')
		format = str_head(format, str_find(format, STR(", ")));
	if (!given)
		r = set_time(c, &c->f->time, is_iso(format) ? STR("") : str_trim(format));
	if (r < 0)
		return r;
	c->f->time.any_t = is_iso(format) && !given;
	return add(c, (struct layout_op){ .step = STEP_TIME });
}

static int add_mdc(struct compiler *c, struct str *rest)
{
	struct layout_op op = { .step = STEP_UNTIL, .written = "%X" };
	struct str key;
	uint8_t rank;

	if (take_braces(rest, '{', '}', &key)) {
		key = str_head(key, str_find_char(key, ':'));
		op.meaning = (uint8_t)layout_meaning_of(key, &rank);
		op.field = op.meaning ? FIELD_MEANING : FIELD_NONE;
		op.written =
			arena_z(c->arena, arena_fmt(c->arena, "%%X{" STR_FMT "}", STR_ARG(key)));
	}
	return add(c, op);
}

static int add_group(struct compiler *c, struct str *rest)
{
	struct str inside, ignored;
	int r;

	if (!take_braces(rest, '{', '}', &inside) && !take_braces(rest, '(', ')', &inside))
		return error_set(c->err, EINVAL, "a group of the layout pattern is not closed");
	r = compile_part(c, inside);
	while (take_braces(rest, '{', '}', &ignored))
		;
	return r;
}

static int add_word(struct compiler *c, const struct word *w, unsigned most, struct str *rest)
{
	struct str ignored;
	struct layout_op op = { .step = w->step, .field = w->field, .written = w->written };
	int r = w->action == DO_NOTHING || w->action == DO_GROUP ? 0 : flush_literal(c);

	if (r < 0)
		return r;
	switch ((enum action)w->action) {
	case DO_TIME:
		return add_time(c, rest);
	case DO_PAST:
		return add(c, (struct layout_op){ .step = STEP_TIME_PAST, .written = "%d" });
	case DO_MDC:
		return add_mdc(c, rest);
	case DO_GROUP:
		return add_group(c, rest);
	case DO_MESSAGE:
		op = (struct layout_op){ .step = STEP_MESSAGE, .written = "%m" };
		break;
	case DO_FIELD:
		op.most = w->step == STEP_LEVEL && most == 1 ? 1 : 0;
		break;
	case DO_NOTHING:
		break;
	}
	while (take_braces(rest, '{', '}', &ignored))
		;
	if (w->action == DO_NOTHING)
		return 0;
	return add(c, op);
}

/* "-5.36" between the percent sign and the word */
static void take_width(struct str *s, unsigned *most)
{
	uint64_t n;

	str_take_char(s, '-');
	str_take_uint(s, &n);
	if (str_take_char(s, '.')) {
		str_take_char(s, '-');
		if (str_take_uint(s, &n) && n < 1000)
			*most = (unsigned)n;
	}
}

/* %cyan(…), %boldRed(…): logback's colours, which begin like other words */
static bool is_colour(struct str word)
{
	static const char *const colours[] = { "black",   "red",  "green", "yellow", "blue",
					       "magenta", "cyan", "white", "gray",   "faint" };

	if (str_starts(word, STR("bold")) || str_starts(word, STR("bright")))
		return true;
	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++)
		if (str_eq_nocase(word, str_of(colours[i])))
			return true;
	return false;
}

static int compile_word(struct compiler *c, struct str *s)
{
	unsigned most = 0;
	size_t n = 0;

	if (str_take_char(s, '%')) {
		buf_char(&c->literal, '%');
		return 0;
	}
	take_width(s, &most);
	while (n < s->n && isalpha((unsigned char)s->p[n]))
		n++;
	if (n < s->n && s->p[n] == '(' && (!n || is_colour(str_head(*s, n)))) {
		*s = str_skip(*s, n);
		return add_group(c, s);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_take(s, str_of(words[i].name)))
			return add_word(c, &words[i], most, s);
	return error_set(c->err, EINVAL, "the layout has an unknown word: '%%" STR_FMT "'",
			 STR_ARG(str_head(*s, n ? n : 1)));
}

/* ${NAME:-default} of Spring's own configuration */
static int compile_property(struct compiler *c, struct str *s)
{
	struct str inside, name;
	size_t at;

	if (!take_braces(s, '{', '}', &inside))
		return error_set(c->err, EINVAL, "a ${ of the layout pattern is not closed");
	at = str_find(inside, STR(":-"));
	name = str_head(inside, at);
	if (str_eq(name, STR("PID")))
		return compile_part(c, STR("%pid"));
	return at < inside.n ? compile_part(c, str_skip(inside, at + 2)) : 0;
}

static int compile_part(struct compiler *c, struct str part)
{
	int r = 0;

	if (++c->depth > 16)
		return error_set(c->err, EINVAL, "the layout pattern nests too deeply");
	while (part.n && r >= 0) {
		if (str_take_char(&part, '%')) {
			r = compile_word(c, &part);
		} else if (part.n > 1 && part.p[0] == '$' && part.p[1] == '{') {
			part = str_skip(part, 1);
			r = compile_property(c, &part);
		} else if (part.n > 1 && part.p[0] == '\\') {
			if (part.p[1] == 't')
				buf_char(&c->literal, '\t');
			else if (part.p[1] != 'n' && part.p[1] != 'r')
				buf_char(&c->literal, part.p[1]);
			part = str_skip(part, 2);
		} else {
			buf_char(&c->literal, part.p[0]);
			part = str_skip(part, 1);
		}
	}
	c->depth--;
	return r;
}

/* As much of the literal as tells the end of a field: up to the blank behind its first mark. */
static struct str end_mark(struct str literal)
{
	size_t n = 0;

	while (n < literal.n && literal.p[n] == ' ')
		n++;
	while (n < literal.n && literal.p[n] != ' ')
		n++;
	return str_head(literal, n < literal.n ? n + 1 : n);
}

/* Decides how the end of each field is found from the literals around it. */
static void find_ends(struct layout_fields *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		struct layout_op *op = &f->ops[i], *next = i + 1 < f->nr ? op + 1 : NULL;
		struct str before = i && op[-1].step == STEP_LITERAL ? op[-1].literal : STR("");
		struct str after = next && next->step == STEP_LITERAL ? next->literal : STR("");
		char open = before.n ? before.p[before.n - 1] : 0;
		char close = open == '[' ? ']' : open == '(' ? ')' : open == '<' ? '>' : 0;

		if (op->step == STEP_LEVEL)
			op->padded = after.n && after.p[0] != ' ' && after.p[0] != '\t';
		if (op->step != STEP_UNTIL)
			continue;
		if (close && after.n && after.p[0] == close) {
			op->step = STEP_BALANCED;
			op->open = open;
			op->close = close;
		} else if (!str_trim(after).n && !(after.n && after.p[0] == '\t')) {
			op->step = STEP_WORD;
		} else {
			op->literal = end_mark(after);
		}
	}
}

/* What stands behind the message: only a logger in brackets can be told from it. */
static void cut_after_message(struct layout_fields *f)
{
	size_t i = 0;

	while (i < f->nr && f->ops[i].step != STEP_MESSAGE)
		i++;
	for (size_t k = i + 1; k < f->nr; k++)
		if (f->ops[k].field == FIELD_LOGGER)
			f->ends_in_logger = f->ops[k - 1].step == STEP_LITERAL &&
					    str_ends(f->ops[k - 1].literal, STR("("));
	if (i < f->nr)
		f->nr = i + 1;
}

int layout_pattern_compile(struct layout_fields *f, struct str pattern, struct arena *arena,
			   struct error *err)
{
	struct compiler c = { .f = f, .arena = arena, .err = err };
	int r;

	f->nr = 0;
	r = compile_part(&c, pattern);
	if (!r)
		r = flush_literal(&c);
	buf_done(&c.literal);
	if (r < 0)
		return r;
	cut_after_message(f);
	find_ends(f);
	for (f->time_op = 0; f->time_op < f->nr; f->time_op++)
		if (f->ops[f->time_op].step == STEP_TIME)
			break;
	if (!f->nr || f->ops[f->nr - 1].step != STEP_MESSAGE) {
		if (f->nr == LAYOUT_OPS_MAX || f->time_op == f->nr)
			return error_set(err, EINVAL,
					 "the layout pattern has neither a time nor a message");
		f->ops[f->nr++] = (struct layout_op){ .step = STEP_MESSAGE, .written = "%m" };
	}
	return 0;
}
