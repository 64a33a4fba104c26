#include "source/layout_fields.h"

#include <ctype.h>

#include "base/arena.h"
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"

/* How far into a line the time is looked for when it has no fixed place. */
#define SEEK_BYTES 200

/* Made anew for every line, so nothing of it is cleared that need not be. */
struct take {
	const struct layout_fields *f;
	struct layout_worker *worker;
	struct str rest;
	unsigned taken;             /* a bit for each field whose value is set */
	struct str value[FIELD_NR]; /* read by value_of */
	struct str trace, span, request;
	struct layout_stamp stamp;
	enum level level;
};

bool layout_fields_add(struct layout_fields *f, struct layout_op op)
{
	if (f->nr == LAYOUT_OPS_MAX)
		return false;
	f->ops[f->nr++] = op;
	return true;
}

static inline void set_field(struct take *t, unsigned field, struct str value)
{
	t->taken |= 1u << field;
	t->value[field] = value;
}

static inline struct str value_of(const struct take *t, unsigned field)
{
	return t->taken & 1u << field ? t->value[field] : (struct str){ 0 };
}

static inline bool is_alnum(char c)
{
	char small = (char)(c | 0x20);

	return (c >= '0' && c <= '9') || (small >= 'a' && small <= 'z');
}

/* Without blanks at either end. */
static struct str trim(struct str s)
{
	while (s.n && s.p[0] == ' ')
		s = str_skip(s, 1);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

static bool take_literal(struct str *s, struct str literal)
{
	struct str rest = *s;

	if (literal.n == 1 && literal.p[0] != ' ')
		return str_take_char(s, literal.p[0]);
	for (size_t i = 0; i < literal.n; i++) {
		if (literal.p[i] == ' ') {
			/* at the end of a line the blank may have been cut off */
			if (rest.n && rest.p[0] != ' ' && rest.p[0] != '\t')
				return false;
			while (rest.n && (rest.p[0] == ' ' || rest.p[0] == '\t'))
				rest = str_skip(rest, 1);
		} else {
			if (!rest.n || rest.p[0] != literal.p[i])
				return false;
			rest = str_skip(rest, 1);
		}
	}
	*s = rest;
	return true;
}

/* A word of letters and digits, whose level is known or not. */
static bool take_level(struct take *t, const struct layout_op *op)
{
	size_t n = 0;

	str_take_spaces(&t->rest);
	while (n < t->rest.n && is_alnum(t->rest.p[n]))
		n++;
	if (op->most && n > op->most)
		n = op->most;
	if (!n || n > 20)
		return false;
	t->level = level_of(str_head(t->rest, n));
	if (t->level == LEVEL_NONE && !t->f->is_strict && n != 0) {
		/* learned from levels in most lines: a line without one has its text here */
		for (size_t i = 0; i < n; i++)
			if (!isupper((unsigned char)t->rest.p[i]))
				return false;
	}
	t->rest = str_skip(t->rest, n);
	if (op->padded)
		str_take_spaces(&t->rest);
	return true;
}

/* Thread names have brackets inside: "DataXceiver for client x [Receiving block y]". */
static bool take_balanced(struct str *s, char open, char close, struct str *value)
{
	size_t first = str_find_char(*s, close);
	unsigned depth = 1;

	if (first < s->n && str_find_char(str_head(*s, first), open) == first) {
		*value = trim(str_head(*s, first));
		*s = str_skip(*s, first);
		return true;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (s->p[i] == open) {
			depth++;
		} else if (s->p[i] == close && !--depth) {
			*value = trim(str_head(*s, i));
			*s = str_skip(*s, i);
			return true;
		}
	}
	/* opened once more than closed: the first that closes will do */
	size_t at = str_find_char(*s, close);

	if (at == s->n)
		return false;
	*value = trim(str_head(*s, at));
	*s = str_skip(*s, at);
	return true;
}

/* Position of a short literal, which begins with a byte that is rare in names. */
static size_t find_literal(struct str s, struct str literal)
{
	const char *at = s.p, *end = s.p + s.n;

	if (literal.n > s.n)
		return s.n;
	while ((at = memchr(at, literal.p[0], (size_t)(end - at)))) {
		if ((size_t)(end - at) < literal.n)
			break;
		if (!memcmp(at + 1, literal.p + 1, literal.n - 1))
			return (size_t)(at - s.p);
		at++;
	}
	return s.n;
}

static bool take_until(struct str *s, struct str literal, struct str *value)
{
	size_t at = s->n ? find_literal(*s, literal) : 0;
	struct str trimmed = literal;

	/* ": " may have lost its blank at the end of a line */
	if (at == s->n && literal.n > 1 && literal.p[literal.n - 1] == ' ') {
		trimmed.n--;
		if (!str_ends(*s, trimmed))
			return false;
		at = s->n - trimmed.n;
	} else if (at == s->n) {
		return false;
	}
	*value = trim(str_head(*s, at));
	*s = str_skip(*s, at);
	return true;
}

static bool seek_time(struct take *t)
{
	struct str s = t->rest;
	size_t end = s.n < SEEK_BYTES ? s.n : SEEK_BYTES;

	for (size_t i = 0; i < end; i++) {
		struct str at = str_skip(s, i);

		if (i &&
		    (isalnum((unsigned char)s.p[i - 1]) || s.p[i - 1] == '.' || s.p[i - 1] == ':'))
			continue;
		if (layout_time_take(&t->f->time, &t->worker->clock, &at, &t->stamp)) {
			t->rest = at;
			return true;
		}
	}
	return false;
}

/* name[pid]: or name: ; the name may have blanks neither colons */
static bool take_program(struct take *t)
{
	size_t n = 0;
	struct str s = t->rest, pid;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != ':' && s.p[n] != '[')
		n++;
	if (!n || n == s.n || s.p[n] == ' ')
		return false;
	set_field(t, FIELD_LOGGER, str_head(s, n));
	s = str_skip(s, n);
	if (str_take_char(&s, '[')) {
		if (!str_take_until(&s, ']', &pid))
			return false;
		set_field(t, FIELD_PID, pid);
	}
	if (!str_take_char(&s, ':'))
		return false;
	str_take_spaces(&s);
	t->rest = s;
	return true;
}

static bool take_priority(struct take *t)
{
	static const enum level levels[] = { LEVEL_FATAL, LEVEL_FATAL, LEVEL_FATAL, LEVEL_ERROR,
					     LEVEL_WARN,  LEVEL_INFO,  LEVEL_INFO,  LEVEL_DEBUG };
	struct str s = t->rest;
	uint64_t priority;

	if (!str_take_char(&s, '<') || !str_take_uint(&s, &priority) || priority > 191 ||
	    !str_take_char(&s, '>'))
		return false;
	t->level = levels[priority % 8];
	t->rest = s;
	return true;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]))
			return false;
	return s.n == 16 || s.n == 32;
}

/* [app,trace,span,true], [trace,span] or [trace-span], up to the closing bracket */
static bool take_ids(struct take *t)
{
	struct str inside, part, ids[2];
	unsigned nr = 0;

	if (!take_balanced(&t->rest, '[', ']', &inside))
		return false;
	while (inside.n && nr < 2) {
		size_t n = 0;

		while (n < inside.n && inside.p[n] != ',' && inside.p[n] != '-')
			n++;
		part = trim(str_head(inside, n));
		inside = str_skip(inside, n + 1);
		if (is_hex(part))
			ids[nr++] = part;
	}
	if (nr)
		t->trace = ids[0];
	if (nr == 2)
		t->span = ids[1];
	return true;
}

static void set_value(struct take *t, const struct layout_op *op, struct str value)
{
	if (op->field == FIELD_LEVEL) {
		t->level = level_of(value);
	} else if (op->field != FIELD_MEANING) {
		set_field(t, op->field, value);
	} else if (op->meaning == MEANS_TRACE) {
		t->trace = value;
	} else if (op->meaning == MEANS_SPAN) {
		t->span = value;
	} else if (op->meaning == MEANS_REQUEST) {
		t->request = value;
	}
}

static bool take_step(struct take *t, const struct layout_op *op)
{
	struct str value;
	struct layout_stamp past;

	switch ((enum layout_step)op->step) {
	case STEP_LITERAL:
		return take_literal(&t->rest, op->literal);
	case STEP_BLANKS:
		str_take_spaces(&t->rest);
		return true;
	case STEP_TIME:
		return layout_time_take(&t->f->time, &t->worker->clock, &t->rest, &t->stamp);
	case STEP_TIME_PAST:
		return layout_time_take(&t->f->past, NULL, &t->rest, &past);
	case STEP_SEEK_TIME:
		return seek_time(t);
	case STEP_LEVEL:
		return take_level(t, op);
	case STEP_WORD:
		if (!str_take_word(&t->rest, &value))
			return false;
		break;
	case STEP_UNTIL:
		if (!take_until(&t->rest, op->literal, &value))
			return false;
		/* a sentence with a colon is no name */
		if (op->field == FIELD_LOGGER && !t->f->is_strict &&
		    str_find_char(value, ' ') < value.n)
			return false;
		break;
	case STEP_BALANCED:
		if (!take_balanced(&t->rest, op->open, op->close, &value))
			return false;
		break;
	case STEP_PROGRAM:
		return take_program(t);
	case STEP_PRIORITY:
		return take_priority(t);
	case STEP_IDS:
		return take_ids(t);
	case STEP_MESSAGE:
		return true;
	}
	set_value(t, op, value);
	return true;
}

/* "… (kafka.server.KafkaServer)" */
static void take_ending_logger(struct take *t)
{
	struct str s = t->rest;
	size_t i = s.n;

	if (!i || s.p[i - 1] != ')')
		return;
	while (i && s.p[i - 1] != '(' && s.p[i - 1] != ' ')
		i--;
	if (!i || s.p[i - 1] != '(')
		return;
	set_field(t, FIELD_LOGGER, str_head(str_skip(s, i), s.n - 1 - i));
	t->rest = str_head(s, i - 1);
}

/* "read(3, …) = 5 <0.000421>": the time is that of the call, the event that of its end */
static void take_ending_duration(struct take *t, struct event *ev)
{
	struct str s = t->rest;
	size_t at = s.n;

	if (!str_ends(s, STR(">")))
		return;
	while (at && s.p[at - 1] != '<')
		at--;
	ev->duration = at ? layout_duration(str_head(str_skip(s, at), s.n - at - 1), NS_S) : -1;
	if (ev->duration < 0)
		return;
	if (ev->ns != NS_NONE)
		ev->ns += ev->duration;
	/* the name of the call says what it is, its arguments do not */
	at = str_find_char(s, '(');
	if (at && at < s.n && at < 40)
		ev->title = str_head(s, at);
}

/* PostgreSQL: "duration: 12.345 ms  statement: SELECT …" */
static void take_leading_duration(struct take *t, struct event *ev)
{
	struct str s = t->rest, word, unit;

	if (!str_take(&s, STR("duration: ")) || !str_take_word(&s, &word) ||
	    !str_take_word(&s, &unit) || !str_eq(unit, STR("ms")))
		return;
	ev->duration = layout_duration(word, NS_MS);
	str_take_spaces(&s);
	if (ev->duration >= 0 && s.n)
		t->rest = s;
}

static struct str file_and_line(struct take *t, struct arena *arena)
{
	struct str file = value_of(t, FIELD_FILE), line = value_of(t, FIELD_LINE);

	if (!file.n || !line.n)
		return file;
	/* nearly always they stand beside each other in the line already */
	if (file.p + file.n + 1 == line.p && file.p[file.n] == ':')
		return (struct str){ file.p, file.n + 1 + line.n };
	return arena_fmt(arena, STR_FMT ":" STR_FMT, STR_ARG(file), STR_ARG(line));
}

static void fill_event(struct take *t, const struct layout *layout, struct arena *arena,
		       struct event *ev, struct losses *losses)
{
	layout_event_begin(layout, ev);
	if (t->f->time_op < t->f->nr)
		ev->ns = layout_ns(layout, t->worker, &t->stamp, losses);
	ev->level = t->level;
	ev->thread = value_of(t, FIELD_THREAD);
	if (!ev->thread.n)
		ev->thread = value_of(t, FIELD_PID);
	ev->point = value_of(t, FIELD_LOGGER);
	if (!ev->point.n)
		ev->point = file_and_line(t, arena);
	if (value_of(t, FIELD_NODE).n)
		ev->node = value_of(t, FIELD_NODE);
	if (t->trace.n) {
		ev->key_kind = KEY_TRACE;
		ev->key = t->trace;
		ev->span = t->span;
	} else if (t->request.n) {
		ev->key_kind = KEY_REQUEST;
		ev->key = t->request;
	}
	if (t->f->ends_in_duration)
		take_ending_duration(t, ev);
	else if (t->rest.n > 10 && t->rest.p[0] == 'd')
		take_leading_duration(t, ev);
	layout_event_finish(t->worker, ev, t->rest, arena);
}

int layout_fields_parse(const struct layout_fields *f, const struct layout *layout,
			struct layout_worker *worker, struct str line, struct arena *arena,
			struct event *ev, struct losses *losses, size_t *matched)
{
	const struct str none = { 0 };
	struct take t;
	size_t i = 0;

	t.f = f;
	t.worker = worker;
	t.rest = line;
	t.taken = 0;
	t.trace = none;
	t.span = none;
	t.request = none;
	t.level = LEVEL_NONE;
	while (i < f->nr) {
		struct str before = t.rest;

		if (!take_step(&t, &f->ops[i])) {
			t.rest = before;
			break;
		}
		i++;
	}
	if (matched)
		*matched = i;
	/* what has its time is an event, even if the rest is written differently */
	if (i < f->nr && i <= f->time_op)
		return 0;
	if (i < f->nr && f->is_strict)
		losses->count[LOSS_LINES_BROKEN]++;
	if (f->ends_in_logger)
		take_ending_logger(&t);
	fill_event(&t, layout, arena, ev, losses);
	return 1;
}

void layout_fields_text(const struct layout_fields *f, struct buf *b)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct layout_op *op = &f->ops[i];

		switch ((enum layout_step)op->step) {
		case STEP_LITERAL:
			buf_add(b, op->literal);
			break;
		case STEP_BLANKS:
			break;
		case STEP_SEEK_TIME:
			buf_add(b, STR("…"));
			__attribute__((fallthrough));
		case STEP_TIME:
			buf_add(b, STR("%d{"));
			layout_time_text(&f->time, b);
			buf_char(b, '}');
			break;
		default:
			buf_add(b, str_of(op->written ? op->written : "%*"));
		}
	}
	if (f->ends_in_logger)
		buf_add(b, STR(" (%c)"));
}
