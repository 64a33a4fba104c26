/*
 * DNS (RFC 1035) in datagrams and over TCP; also multicast DNS, whose answers repeat no question,
 * go to everyone, and so are told as sent.
 */
#include <ctype.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define HEAD 12
#define LABELS_MAX 128

enum { FLAG_ANSWER = 0x8000, SERVER_FAILURE = 2, REFUSED = 5 };

static const char *type_name(uint64_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} types[] = { { 1, "A" },      { 2, "NS" },     { 5, "CNAME" }, { 6, "SOA" },
		      { 12, "PTR" },   { 15, "MX" },    { 16, "TXT" },  { 28, "AAAA" },
		      { 33, "SRV" },   { 35, "NAPTR" }, { 43, "DS" },   { 64, "SVCB" },
		      { 65, "HTTPS" }, { 255, "ANY" },  { 257, "CAA" } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == type)
			return types[i].name;
	return NULL;
}

/* A name of labels, which in a question are never pointers. */
static bool take_name(struct str *s, struct buf *name)
{
	for (unsigned i = 0; i < LABELS_MAX; i++) {
		uint64_t n;
		struct str label;

		if (!take_be(s, 1, &n) || n > 63)
			return false;
		if (!n)
			return true;
		if (!take_part(s, n, &label))
			return false;
		if (name->n)
			buf_char(name, '.');
		for (size_t k = 0; k < label.n; k++)
			buf_char(name, isgraph((unsigned char)label.p[k]) ? label.p[k] : '?');
	}
	return false;
}

/* The question of a message, or else its first answer: "AAAA example.org". */
static bool take_question(struct str s, struct buf *title)
{
	struct buf name = { 0 };
	uint64_t type, class;
	bool good;

	s = str_skip(s, HEAD);
	good = take_name(&s, &name) && take_be(&s, 2, &type) && take_be(&s, 2, &class) &&
	       ((class & 0x7fff) <= 4 || class == 255);
	if (good && type_name(type))
		buf_fmt(title, "%s " STR_FMT, type_name(type), STR_ARG(buf_str(&name)));
	else if (good)
		buf_fmt(title, "TYPE%u " STR_FMT, (unsigned)type, STR_ARG(buf_str(&name)));
	buf_done(&name);
	return good;
}

static bool is_message(struct str s)
{
	unsigned flags;

	if (s.n < HEAD + 5)
		return false;
	flags = (unsigned)bytes_be(s.p + 2, 2);
	return (flags >> 11 & 15) <= 5 &&
	       (bytes_be(s.p + 4, 2) == 1 ||
		(!bytes_be(s.p + 4, 2) && flags & FLAG_ANSWER && bytes_be(s.p + 6, 2))) &&
	       bytes_be(s.p + 6, 2) < 1000 && bytes_be(s.p + 8, 2) < 1000 &&
	       bytes_be(s.p + 10, 2) < 1000;
}

static int looks(struct str s, bool from_client)
{
	struct buf title = { 0 };
	int sure = 0;

	if (is_message(s) && !(bytes_be(s.p + 2, 2) & FLAG_ANSWER) == from_client)
		sure = take_question(s, &title) ? 70 : 0;
	buf_done(&title);
	return sure;
}

static int64_t take_message(struct talk *t, struct str s, uint64_t bytes)
{
	struct buf title = { 0 };
	struct message m = { .bytes = bytes };
	unsigned flags;

	if (s.n < HEAD)
		return PROTO_LOST;
	flags = (unsigned)bytes_be(s.p + 2, 2);
	m.match = bytes_be(s.p, 2) + 1;
	take_question(s, &title);
	m.title = buf_str(&title);
	if (flags & FLAG_ANSWER) {
		m.has_status = true;
		m.status = flags & 15;
		m.is_error = m.status == SERVER_FAILURE || m.status == REFUSED;
		if (bytes_be(s.p + 4, 2) || talk_has_call(t, m.match))
			talk_return(t, &m);
		else
			talk_sent(t, &m);
	} else {
		talk_call(t, &m);
	}
	buf_done(&title);
	return (int64_t)bytes;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	(void)side;
	return take_message(t, s, s.n);
}

const struct proto proto_dns = {
	.name = "dns",
	.ports = { 53, 5353 },
	.looks = looks,
	.parse = parse,
};

/* Over TCP each message has its length in front. */
static int tcp_looks(struct str s, bool from_client)
{
	uint64_t n;

	if (!take_be(&s, 2, &n) || n < HEAD + 5)
		return 0;
	return looks(str_head(s, (size_t)n), from_client);
}

static int64_t tcp_parse(struct talk *t, unsigned side, struct str s)
{
	struct str rest = s;
	uint64_t n;

	(void)side;
	if (!take_be(&rest, 2, &n) || (rest.n < n && !talk_is_cut(t)))
		return PROTO_MORE;
	return take_message(t, str_head(rest, (size_t)n), n + 2);
}

const struct proto proto_dns_tcp = {
	.name = "dns",
	.ports = { 53 },
	.looks = tcp_looks,
	.parse = tcp_parse,
};
