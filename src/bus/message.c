#include "bus/message.h"

#include <assert.h>

#define VERSION 1

enum { OF_AGENT = 1, OF_OPERATOR = 2, OF_HUB = 4, OF_ALL = 7, OF_AGENTS = OF_AGENT | OF_HUB };

static const struct {
	const char *name;
	uint8_t nr_numbers, nr_texts; /* at least */
	uint8_t from;                 /* who may send it to a hub */
} kinds[MESSAGE_NR] = {
	[MESSAGE_HELLO] = { "hello", 3, 1, OF_ALL },
	[MESSAGE_BYE] = { "bye", 1, 0, OF_ALL },
	[MESSAGE_PING] = { "ping", 7, 1, OF_AGENTS },
	[MESSAGE_REPORT] = { "report", 5, 1, OF_AGENTS },
	[MESSAGE_TELL] = { "tell", 1, 2, OF_AGENTS },
	[MESSAGE_ROUTE] = { "route", 1, 1, OF_HUB },
	[MESSAGE_PASS] = { "pass", 1, 3, OF_AGENTS },
	[MESSAGE_INSTALL] = { "install", 3, 2, OF_OPERATOR },
	[MESSAGE_REMOVE] = { "remove", 2, 0, OF_OPERATOR },
	[MESSAGE_LIST] = { "list", 1, 0, OF_OPERATOR },
	[MESSAGE_PEERS] = { "peers", 2, 0, OF_OPERATOR },
	[MESSAGE_COUNTS] = { "counts", 1, 0, OF_OPERATOR },
	[MESSAGE_WATCH] = { "watch", 2, 0, OF_OPERATOR },
	[MESSAGE_READ] = { "read", 2, 0, OF_OPERATOR },
	[MESSAGE_ALIVE] = { "alive", 0, 0, OF_OPERATOR },
	[MESSAGE_WHO] = { "who", 0, 0, 0 },
	[MESSAGE_WELCOME] = { "welcome", 1, 1, 0 },
	[MESSAGE_ACK] = { "ack", 2, 0, 0 },
	[MESSAGE_QUERY] = { "query", 2, 3, 0 },
	[MESSAGE_STANDING] = { "standing", 0, 1, 0 },
	[MESSAGE_GONE] = { "gone", 1, 1, 0 },
	[MESSAGE_REPLY] = { "reply", 3, 1, 0 },
	[MESSAGE_ITEM] = { "item", 7, 5, 0 },
	[MESSAGE_PEER] = { "peer", 16, 3, 0 },
	[MESSAGE_COUNT] = { "count", 2, 1, 0 },
	[MESSAGE_RESULT] = { "result", 10, 1, 0 },
	[MESSAGE_TOLD] = { "told", 1, 2, 0 },
	[MESSAGE_ENDED] = { "ended", 1, 0, OF_AGENTS },
};

const char *message_name(enum message_kind kind)
{
	return kinds[kind].name;
}

bool message_is_allowed(enum message_kind kind, enum bus_role role)
{
	return kinds[kind].from & 1 << role;
}

void message_numbers(struct message *m, const int64_t *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		assert(m->nr_numbers < MESSAGE_NUMBERS);
		m->n[m->nr_numbers++] = v[i];
	}
}

void message_text(struct message *m, struct str text)
{
	assert(m->nr_texts < MESSAGE_TEXTS);
	m->t[m->nr_texts++] = text;
}

void message_pack(struct buf *b, const struct message *m)
{
	buf_char(b, VERSION);
	buf_char(b, (char)m->kind);
	buf_char(b, (char)m->nr_numbers);
	buf_char(b, (char)m->nr_texts);
	for (size_t i = 0; i < m->nr_numbers; i++)
		buf_svarint(b, m->n[i]);
	for (size_t i = 0; i < m->nr_texts; i++)
		buf_bytes(b, m->t[i]);
}

bool message_unpack(struct message *m, struct str s)
{
	unsigned kind;

	if (s.n < 4 || s.p[0] != VERSION)
		return false;
	kind = (unsigned char)s.p[1];
	if (!kind || kind >= MESSAGE_NR)
		return false;
	*m = (struct message){ .kind = (enum message_kind)kind,
			       .nr_numbers = (uint8_t)s.p[2],
			       .nr_texts = (uint8_t)s.p[3] };
	s = str_skip(s, 4);
	if (m->nr_numbers < kinds[kind].nr_numbers || m->nr_numbers > MESSAGE_NUMBERS ||
	    m->nr_texts < kinds[kind].nr_texts || m->nr_texts > MESSAGE_TEXTS)
		return false;
	for (size_t i = 0; i < m->nr_numbers; i++)
		if (!str_take_svarint(&s, &m->n[i]))
			return false;
	for (size_t i = 0; i < m->nr_texts; i++)
		if (!str_take_bytes(&s, &m->t[i]))
			return false;
	return !s.n;
}
