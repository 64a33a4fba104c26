/*
 * Memcached: the text protocol, whose answers come in order, and the binary one. A command may ask
 * to be answered only when there is something to say: it is told as sent, and so is its answer.
 * "mn" ends a row of such commands, and its answer is known by its name.
 */
#include <ctype.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define LINE_MAX 8192

enum kind {
	KIND_NONE,
	KIND_PLAIN,    /* a line */
	KIND_DATA,     /* <key> <flags> <expires> <bytes>, and data behind the line */
	KIND_META_SET, /* <key> <bytes>, and data behind the line */
	KIND_QUIT,     /* has no answer */
};

static enum kind kind_of(struct str word)
{
	static const struct {
		const char *word;
		enum kind kind;
	} kinds[] = {
		{ "get", KIND_PLAIN },     { "gets", KIND_PLAIN },      { "gat", KIND_PLAIN },
		{ "gats", KIND_PLAIN },    { "set", KIND_DATA },        { "add", KIND_DATA },
		{ "replace", KIND_DATA },  { "append", KIND_DATA },     { "prepend", KIND_DATA },
		{ "cas", KIND_DATA },      { "delete", KIND_PLAIN },    { "incr", KIND_PLAIN },
		{ "decr", KIND_PLAIN },    { "touch", KIND_PLAIN },     { "stats", KIND_PLAIN },
		{ "version", KIND_PLAIN }, { "flush_all", KIND_PLAIN }, { "verbosity", KIND_PLAIN },
		{ "mg", KIND_PLAIN },      { "ms", KIND_META_SET },     { "md", KIND_PLAIN },
		{ "ma", KIND_PLAIN },      { "mn", KIND_PLAIN },        { "quit", KIND_QUIT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq(word, str_of(kinds[i].word)))
			return kinds[i].kind;
	return KIND_NONE;
}

/* The line at the front without its end; 1, 0 when it is not whole, -1 when there is none. */
static int take_line(struct str *s, struct str *line)
{
	if (!str_take_until(s, '\n', line))
		return s->n < LINE_MAX ? 0 : -1;
	if (str_ends(*line, STR("\r")))
		line->n--;
	return 1;
}

/* "mg", "ms" …, with the flag that asks for silence. */
static bool is_quiet(struct str word, struct str flags)
{
	struct str flag;

	if (word.n != 2 || word.p[0] != 'm')
		return false;
	while (str_take_word(&flags, &flag))
		if (str_eq(flag, STR("q")))
			return true;
	return false;
}

static bool nth_number(struct str line, unsigned nth, uint64_t *n)
{
	struct str word = { 0 };

	for (unsigned i = 0; i <= nth; i++)
		if (!str_take_word(&line, &word))
			return false;
	return str_take_uint(&word, n) && !word.n && *n < (uint64_t)1 << 31;
}

static int looks_like_answer(struct str line)
{
	static const char *const words[] = {
		"STORED",  "NOT_STORED",   "EXISTS",       "NOT_FOUND", "DELETED",
		"TOUCHED", "END",          "OK",           "VALUE",     "STAT",
		"VERSION", "CLIENT_ERROR", "SERVER_ERROR", "ERROR",     "HD",
		"VA",      "EN",           "NF",           "NS"
	};
	struct str word;

	if (!str_take_word(&line, &word))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq(word, str_of(words[i])))
			return word.n > 2 && !str_eq(word, STR("ERROR")) ? 65 : 20;
	return 0;
}

static int looks(struct str s, bool from_client)
{
	struct str line, word, rest;
	uint64_t n;

	if (take_line(&s, &line) != 1)
		return 0;
	if (!from_client)
		return looks_like_answer(line);
	rest = line;
	if (!str_take_word(&rest, &word))
		return 0;
	switch (kind_of(word)) {
	case KIND_DATA:
		return nth_number(line, 2, &n) && nth_number(line, 4, &n) ? 85 : 0;
	case KIND_META_SET:
		return nth_number(line, 2, &n) ? 30 : 0;
	case KIND_PLAIN:
		return rest.n && word.n > 2 ? 65 : 20;
	default:
		return 0;
	}
}

static int64_t take_command(struct talk *t, struct str s)
{
	struct str rest = s, line, word, left;
	struct message m = { 0 };
	uint64_t data = 0;
	int r = take_line(&rest, &line);

	if (r <= 0)
		return r ? PROTO_LOST : PROTO_MORE;
	left = line;
	/* a word that is not known is answered by ERROR; what is no word is not of this protocol */
	if (!str_take_word(&left, &word) ||
	    (kind_of(word) == KIND_NONE && !isalpha((unsigned char)word.p[0])))
		return PROTO_LOST;
	if ((kind_of(word) == KIND_DATA && !nth_number(line, 4, &data)) ||
	    (kind_of(word) == KIND_META_SET && !nth_number(line, 2, &data)))
		return PROTO_LOST;
	m.title = word;
	m.text = line;
	m.bytes = s.n - rest.n;
	if (kind_of(word) == KIND_DATA || kind_of(word) == KIND_META_SET)
		m.bytes += data + 2;
	m.match = str_eq(word, STR("mn"));
	if (kind_of(word) == KIND_QUIT || str_ends(line, STR(" noreply")) || is_quiet(word, left))
		talk_sent(t, &m);
	else
		talk_call(t, &m);
	return (int64_t)m.bytes;
}

/* Values and statistics go on until END; everything else is one line. */
static int64_t take_answer(struct talk *t, struct str s)
{
	struct str rest = s, line, word, left;
	struct message m = { 0 };
	uint64_t data = 0;
	int r = take_line(&rest, &line);

	if (r <= 0)
		return r ? PROTO_LOST : PROTO_MORE;
	left = line;
	if (!str_take_word(&left, &word))
		return PROTO_LOST;
	if (str_eq(word, STR("STAT")))
		return (int64_t)(s.n - rest.n);
	if (str_eq(word, STR("VALUE")))
		return nth_number(line, 3, &data) ? (int64_t)(s.n - rest.n + data + 2) : PROTO_LOST;
	if (str_eq(word, STR("VA"))) {
		if (!nth_number(line, 1, &data))
			return PROTO_LOST;
		data += 2;
	} else if (!isupper((unsigned char)word.p[0]) && !isdigit((unsigned char)word.p[0])) {
		return PROTO_LOST;
	}
	m.is_error = str_ends(word, STR("ERROR"));
	m.bytes = s.n - rest.n + data;
	m.match = str_eq(word, STR("MN"));
	m.title = word;
	if (talk_is_next(t, m.match) || !talk_has_call(t, !m.match))
		talk_return(t, &m);
	else
		talk_sent(t, &m);
	return (int64_t)m.bytes;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	return talk_is_client(t, side) ? take_command(t, s) : take_answer(t, s);
}

const struct proto proto_memcached = {
	.name = "memcached",
	.ports = { 11211 },
	.looks = looks,
	.parse = parse,
};

#define BINARY_HEAD 24

enum { MAGIC_REQUEST = 0x80, MAGIC_RESPONSE = 0x81 };

static const char *const opcodes[] = {
	"get",       "set",     "add",      "replace",   "delete",  "incr",  "decr",   "quit",
	"flush_all", "getq",    "noop",     "version",   "getk",    "getkq", "append", "prepend",
	"stat",      "setq",    "addq",     "replaceq",  "deleteq", "incrq", "decrq",  "quitq",
	"flushq",    "appendq", "prependq", "verbosity", "touch",   "gat",   "gatq",
};

static bool is_binary(struct str s, unsigned magic)
{
	uint64_t key, extras, body;

	if (s.n < BINARY_HEAD || byte_at(s, 0) != magic)
		return false;
	key = bytes_be(s.p + 2, 2);
	extras = byte_at(s, 4);
	body = bytes_be(s.p + 8, 4);
	return key <= 250 && extras <= 32 && key + extras <= body && body < 128 << 20 &&
	       byte_at(s, 5) == 0;
}

static int binary_looks(struct str s, bool from_client)
{
	return is_binary(s, from_client ? MAGIC_REQUEST : MAGIC_RESPONSE) ? 75 : 0;
}

static int64_t binary_parse(struct talk *t, unsigned side, struct str s)
{
	bool is_client = talk_is_client(t, side);
	struct message m = { 0 };
	unsigned opcode = byte_at(s, 1);
	struct str title = opcode < sizeof(opcodes) / sizeof(*opcodes) ? str_of(opcodes[opcode])
								       : STR("other");

	if (s.n < BINARY_HEAD)
		return PROTO_MORE;
	if (!is_binary(s, is_client ? MAGIC_REQUEST : MAGIC_RESPONSE))
		return PROTO_LOST;
	m.match = ((uint64_t)opcode << 32 | bytes_be(s.p + 12, 4)) + 1;
	m.bytes = BINARY_HEAD + bytes_be(s.p + 8, 4);
	m.title = title;
	if (is_client) {
		/* quiet ones are answered only when there is something to say */
		if (str_ends(title, STR("q")))
			talk_sent(t, &m);
		else
			talk_call(t, &m);
	} else {
		m.has_status = true;
		m.status = (int64_t)bytes_be(s.p + 6, 2);
		m.is_error = m.status >= 0x81;
		if (talk_has_call(t, m.match))
			talk_return(t, &m);
		else
			talk_sent(t, &m);
	}
	return (int64_t)m.bytes;
}

const struct proto proto_memcached_binary = {
	.name = "memcached",
	.ports = { 11211 },
	.looks = binary_looks,
	.parse = binary_parse,
};
