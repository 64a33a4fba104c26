/*
 * NATS. A message that names a subject for the answer is a call; a message on that subject, on the
 * same connection and from the other side, is its return. So are the greeting of the server, which
 * the client answers by what it connects as, and a ping of either. Everything else is sent without
 * answer.
 */
#include "base/buf.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define LINE_MAX 65536
#define WORDS_MAX 6
#define INBOX STR("_INBOX")

enum verb {
	NATS_NONE,
	NATS_INFO,
	NATS_CONNECT,
	NATS_PUB,
	NATS_HPUB,
	NATS_SUB,
	NATS_UNSUB,
	NATS_MSG,
	NATS_HMSG,
	NATS_PING,
	NATS_PONG,
	NATS_OK,
	NATS_ERR,
};

static enum verb verb_of(struct str word)
{
	static const char *const words[] = { "INFO", "CONNECT", "PUB",  "HPUB", "SUB", "UNSUB",
					     "MSG",  "HMSG",    "PING", "PONG", "+OK", "-ERR" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq_nocase(word, str_of(words[i])))
			return NATS_INFO + (enum verb)i;
	return NATS_NONE;
}

struct nats {
	bool is_greeted; /* later news of the server are not answered */
};

/* Matches of calls that name no subject: those are odd. */
enum { MATCH_PING = 2, MATCH_GREETING = 4 };

static int looks(struct str s, bool from_client)
{
	struct str line = str_head(s, str_find_char(s, '\r')), word;

	if (!str_take_word(&line, &word))
		return 0;
	switch (verb_of(word)) {
	case NATS_INFO:
		return !from_client && str_starts(str_trim(line), STR("{")) ? 95 : 0;
	case NATS_CONNECT:
		return from_client && str_starts(str_trim(line), STR("{")) ? 95 : 0;
	case NATS_PUB:
	case NATS_HPUB:
	case NATS_SUB:
		return from_client && line.n ? 65 : 0;
	case NATS_MSG:
	case NATS_HMSG:
		return !from_client && line.n ? 65 : 0;
	case NATS_PING:
	case NATS_PONG:
		return !line.n ? 25 : 0;
	default:
		return 0;
	}
}

/* A line with data behind it: verb subject [sid] [reply] [header bytes] bytes. */
struct data_line {
	struct str subject, reply;
	uint64_t head_bytes, bytes;
};

static bool take_data_line(enum verb verb, struct str line, struct data_line *d)
{
	bool has_sid = verb == NATS_MSG || verb == NATS_HMSG;
	bool has_head = verb == NATS_HPUB || verb == NATS_HMSG;
	size_t least = 2 + (size_t)has_sid + (size_t)has_head, nr = 0;
	struct str words[WORDS_MAX];

	while (nr < WORDS_MAX && str_take_word(&line, &words[nr]))
		nr++;
	*d = (struct data_line){ 0 };
	if (nr < least || nr > least + 1)
		return false;
	d->subject = words[0];
	if (nr > least)
		d->reply = words[1 + has_sid];
	return str_take_uint(&words[nr - 1], &d->bytes) && d->bytes < 1 << 30 &&
	       (!has_head ||
		(str_take_uint(&words[nr - 2], &d->head_bytes) && d->head_bytes <= d->bytes));
}

/* Subjects for answers are made up anew for each: they are no name for a kind of message. */
static void add_subject(struct buf *title, struct str subject)
{
	if (str_starts(subject, INBOX))
		subject = INBOX;
	buf_add(title, str_head(subject, 64));
}

static uint64_t match_of(struct str subject)
{
	return str_hash(subject) | 1;
}

static int64_t take_data(struct talk *t, enum verb verb, struct str line, struct str rest,
			 size_t head)
{
	struct buf title = { 0 };
	struct message m = { 0 };
	struct data_line d;

	if (!take_data_line(verb, line, &d))
		return PROTO_LOST;
	if (rest.n < d.head_bytes && d.head_bytes < LINE_MAX && !talk_is_cut(t))
		return PROTO_MORE;
	add_subject(&title, d.subject);
	m.title = buf_str(&title);
	m.bytes = head + d.bytes + 2;
	if (talk_may_trace(t) && d.head_bytes)
		trace_scan(&m.trace, str_head(rest, (size_t)d.head_bytes));
	if (talk_has_call(t, match_of(d.subject))) {
		m.match = match_of(d.subject);
		talk_return(t, &m);
	} else if (d.reply.n) {
		m.match = match_of(d.reply);
		talk_call(t, &m);
	} else {
		talk_sent(t, &m);
	}
	buf_done(&title);
	return (int64_t)m.bytes;
}

static void take_line(struct talk *t, enum verb verb, struct str word, struct str line)
{
	struct nats *nats = talk_state(t);
	struct message m = { .bytes = word.n + line.n + 2 };
	struct buf title = { 0 };
	struct str subject;

	buf_add(&title, word);
	if (verb == NATS_SUB && str_take_word(&line, &subject)) {
		buf_char(&title, ' ');
		add_subject(&title, subject);
	}
	m.title = buf_str(&title);
	m.is_error = verb == NATS_ERR;
	m.match = verb == NATS_PING || verb == NATS_PONG ? MATCH_PING : MATCH_GREETING;
	if (verb == NATS_PING || (verb == NATS_INFO && !nats->is_greeted))
		talk_call(t, &m);
	else if (verb == NATS_PONG || (verb == NATS_CONNECT && talk_has_call(t, m.match)))
		talk_return(t, &m);
	else if (verb != NATS_OK)
		talk_sent(t, &m);
	nats->is_greeted = true;
	buf_done(&title);
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct str rest = s, line, word, left;
	enum verb verb;

	(void)side;
	if (!str_take_until(&rest, '\n', &line))
		return s.n < LINE_MAX ? PROTO_MORE : PROTO_LOST;
	line = str_trim(line);
	left = line;
	if (!str_take_word(&left, &word))
		return (int64_t)(s.n - rest.n);
	verb = verb_of(word);
	if (verb == NATS_NONE)
		return PROTO_LOST;
	if (verb == NATS_PUB || verb == NATS_HPUB || verb == NATS_MSG || verb == NATS_HMSG)
		return take_data(t, verb, left, rest, s.n - rest.n);
	take_line(t, verb, word, left);
	return (int64_t)(s.n - rest.n);
}

const struct proto proto_nats = {
	.name = "nats",
	.ports = { 4222 },
	.state_bytes = sizeof(struct nats),
	.looks = looks,
	.parse = parse,
};
