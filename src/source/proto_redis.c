/*
 * Redis (RESP2 and RESP3). Commands are answered in order. Values nest, and may be long: each step
 * takes one of them, and what is counted is how many are still to come until the whole one ends.
 */
#include <ctype.h>

#include "base/buf.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define LINE_MAX 65536
#define VALUES_MAX ((int64_t)1 << 32)
#define NAME_MAX 32

struct redis_side {
	uint64_t left; /* values until the one that began is whole; 0: none has begun */
	uint64_t bytes;
	bool is_error, is_push;
};

struct redis {
	struct redis_side side[2];
	bool is_subscribed; /* messages come between answers, as arrays like these */
};

/* The line at the front: a type, a text, and where the line ends. */
static int take_header(struct str s, char *type, struct str *text, size_t *bytes)
{
	struct str line, rest = s;

	if (!str_take_until(&rest, '\n', &line))
		return s.n < LINE_MAX ? 0 : -1;
	if (line.n < 2 || line.p[line.n - 1] != '\r')
		return -1;
	*type = line.p[0];
	*text = (struct str){ line.p + 1, line.n - 2 };
	*bytes = line.n + 1;
	return 1;
}

static bool take_count(struct str text, int64_t *n)
{
	return str_take_int(&text, n) && !text.n && *n >= -1 && *n < VALUES_MAX;
}

static bool is_number(struct str text)
{
	int64_t n;

	return str_take_int(&text, &n) && !text.n;
}

static int looks(struct str s, bool from_client)
{
	char type = 0, inner = 0;
	struct str text, more;
	size_t n, m;
	int64_t count;

	if (take_header(s, &type, &text, &n) != 1)
		return 0;
	if (type == '*' && take_count(text, &count)) {
		if (take_header(str_skip(s, n), &inner, &more, &m) == 1 && inner == '$' &&
		    is_number(more))
			return from_client ? 90 : 62;
		return from_client || s.n > n ? 10 : 62;
	}
	if (from_client)
		return isalpha((unsigned char)type) && s.n == n && n < 64 ? 10 : 0;
	if (type == '$' || type == '%')
		return take_count(text, &count) ? 70 : 0;
	if (type == ':')
		return is_number(text) ? 40 : 0;
	return type == '+' || type == '-' || type == '_' ? 30 : 0;
}

/* The first bulk of a command is its name, the second may be part of it (CONFIG GET, CLIENT LIST).
 */
static bool take_word(struct str *s, struct str *word)
{
	struct str text;
	size_t n;
	char type;
	int64_t count;

	if (take_header(*s, &type, &text, &n) != 1 || type != '$' || !take_count(text, &count) ||
	    count < 0 || s->n < n + (size_t)count + 2)
		return false;
	*word = (struct str){ s->p + n, (size_t)count };
	*s = str_skip(*s, n + (size_t)count + 2);
	return true;
}

static bool has_second_word(struct str name)
{
	static const char *const names[] = { "config", "client",  "cluster", "script",  "object",
					     "memory", "xgroup",  "xinfo",   "pubsub",  "acl",
					     "debug",  "latency", "command", "function" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_eq_nocase(name, str_of(names[i])))
			return true;
	return false;
}

static void add_upper(struct buf *b, struct str word)
{
	for (size_t i = 0; i < word.n && i < NAME_MAX; i++)
		buf_char(b, isgraph((unsigned char)word.p[i])
				    ? (char)toupper((unsigned char)word.p[i])
				    : '?');
}

static void call(struct talk *t, struct str name, struct str second)
{
	struct buf title = { 0 };
	struct message m = { 0 };

	add_upper(&title, name);
	if (str_ends(buf_str(&title), STR("SUBSCRIBE")))
		((struct redis *)talk_state(t))->is_subscribed = true;
	if (second.n && has_second_word(name)) {
		buf_char(&title, ' ');
		add_upper(&title, second);
	}
	m.title = buf_str(&title);
	talk_call(t, &m);
	buf_done(&title);
}

/* "*<n>", of which only the name is looked at; the rest goes by value for value. */
static int64_t take_command(struct talk *t, struct redis_side *side, struct str s)
{
	struct str text, name, second = { 0 }, rest;
	char type;
	size_t n;
	int64_t count;
	int r = take_header(s, &type, &text, &n);

	if (r <= 0)
		return r ? PROTO_LOST : PROTO_MORE;
	if (type != '*') { /* an inline command, as typed by hand */
		struct str line = { s.p, n - 2 };

		if (!isalpha((unsigned char)type) || !str_take_word(&line, &name))
			return PROTO_LOST;
		str_take_word(&line, &second);
		call(t, name, second);
		return (int64_t)n;
	}
	if (!take_count(text, &count))
		return PROTO_LOST;
	if (count <= 0)
		return (int64_t)n;
	rest = str_skip(s, n);
	if (!take_word(&rest, &name))
		return s.n < n + 256 ? PROTO_MORE : PROTO_LOST;
	if (count > 1 && has_second_word(name) && !take_word(&rest, &second))
		return s.n < n + 512 ? PROTO_MORE : PROTO_LOST;
	call(t, name, second);
	side->left = (uint64_t)count - (second.p ? 2 : 1);
	return (int64_t)(s.n - rest.n);
}

/* One value: how many bytes it has, and how many values it says follow in it. */
static int64_t take_value(struct str s, char *type, uint64_t *inside)
{
	struct str text;
	size_t n;
	int64_t count = 0;
	int r = take_header(s, type, &text, &n);

	*inside = 0;
	if (r <= 0)
		return r ? PROTO_LOST : PROTO_MORE;
	switch (*type) {
	case '+':
	case '-':
	case ':':
	case '_':
	case ',':
	case '#':
	case '(':
		return (int64_t)n;
	case '$':
	case '!':
	case '=':
		if (!take_count(text, &count))
			return PROTO_LOST;
		return (int64_t)n + (count >= 0 ? count + 2 : 0);
	case '*':
	case '~':
	case '>':
	case '%':
	case '|':
		if (!take_count(text, &count))
			return PROTO_LOST;
		*inside = count > 0 ? (uint64_t)count : 0;
		if (*type == '%' || *type == '|')
			*inside *= 2;
		if (*type == '|') /* attributes stand in front of a value and are not one */
			*inside += 1;
		return (int64_t)n;
	default:
		return PROTO_LOST;
	}
}

/* *3 message <channel> <text>, *4 pmessage <pattern> <channel> <text>; 1, 0, or -1 for more. */
static int is_published(struct str s)
{
	static const struct str heads[] = { STR("*3\r\n$7\r\nmessage\r\n"),
					    STR("*3\r\n$8\r\nsmessage\r\n"),
					    STR("*4\r\n$8\r\npmessage\r\n") };
	int found = 0;

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		if (str_starts(s, heads[i]))
			return 1;
		if (str_starts(heads[i], s))
			found = -1;
	}
	return found;
}

static void answer(struct talk *t, const struct redis_side *side)
{
	struct message m = { .bytes = side->bytes, .is_error = side->is_error };

	if (side->is_push || !talk_has_call(t, 0)) {
		m.title = STR("PUSH");
		talk_sent(t, &m);
	} else {
		talk_return(t, &m);
	}
}

static int64_t parse(struct talk *t, unsigned at, struct str s)
{
	struct redis *redis = talk_state(t);
	struct redis_side *side = &redis->side[at];
	bool is_client = talk_is_client(t, at);
	uint64_t inside;
	char type;
	int64_t n;

	if (is_client && !side->left)
		return take_command(t, side, s);
	n = take_value(s, &type, &inside);
	if (n <= 0)
		return n;
	if (!side->left) {
		int is_push = redis->is_subscribed && !is_client ? is_published(s) : 0;

		if (is_push < 0)
			return PROTO_MORE;
		*side = (struct redis_side){ 1, 0, type == '-' || type == '!',
					     is_push || type == '>' };
	}
	side->left += inside - 1;
	side->bytes += (uint64_t)n;
	if (!side->left && !is_client)
		answer(t, side);
	return n;
}

static void lose(struct talk *t, unsigned side)
{
	struct redis *redis = talk_state(t);

	redis->side[side].left = 0;
}

const struct proto proto_redis = {
	.name = "redis",
	.ports = { 6379, 6380, 26379, 16379 },
	.state_bytes = sizeof(struct redis),
	.looks = looks,
	.parse = parse,
	.lose = lose,
};
