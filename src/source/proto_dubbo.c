/* Dubbo: a fixed head with an id, and a body in Hessian or JSON of which the names are read. */
#include <ctype.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define HEAD 16
#define LOOK_BYTES 4096
#define BODY_BYTES_MAX ((uint64_t)64 << 20)

enum { FLAG_REQUEST = 0x80, FLAG_TWO_WAY = 0x40, FLAG_EVENT = 0x20, STATUS_OK = 20, JSON = 6 };

static bool is_head(struct str s)
{
	return s.n >= HEAD && bytes_be(s.p, 2) == 0xdabb && bytes_be(s.p + 12, 4) <= BODY_BYTES_MAX;
}

static int looks(struct str s, bool from_client)
{
	if (!is_head(s))
		return 0;
	return !!(byte_at(s, 2) & FLAG_REQUEST) == from_client ? 95 : 40;
}

/* A text as Hessian 2 writes it: short ones have their length in the first byte. */
static bool take_hessian(struct str *s, struct str *text)
{
	uint64_t tag, n = 0, low;

	if (!take_be(s, 1, &tag))
		return false;
	if (tag < 0x20) {
		n = tag;
	} else if (tag >= 0x30 && tag <= 0x33) {
		if (!take_be(s, 1, &low))
			return false;
		n = (tag - 0x30) << 8 | low;
	} else if (tag == 'S') {
		if (!take_be(s, 2, &n))
			return false;
	} else {
		return false;
	}
	return take_part(s, n, text);
}

static bool take_json(struct str *s, struct str *text)
{
	struct str line;

	if (!str_take_until(s, '\n', &line) || !str_take_char(&line, '"') ||
	    !str_take_until(&line, '"', text))
		return false;
	return true;
}

/* Version of Dubbo, service, its version, method. */
static void name_body(struct buf *title, unsigned serial, struct str body)
{
	bool (*take)(struct str *, struct str *) = serial == JSON ? take_json : take_hessian;
	struct str text[4];

	for (unsigned i = 0; i < 4; i++)
		if (!take(&body, &text[i]))
			return;
	for (size_t i = 0; i < text[1].n; i++)
		if (!isgraph((unsigned char)text[1].p[i]))
			return;
	buf_add(title, str_head(text[1], 128));
	buf_char(title, '.');
	buf_add(title, str_head(text[3], 64));
}

static void ask(struct talk *t, struct message *m, unsigned flags, struct str body)
{
	struct buf title = { 0 };

	if (flags & FLAG_EVENT)
		buf_add(&title, STR("heartbeat"));
	else
		name_body(&title, flags & 31, body);
	m->title = buf_str(&title);
	if (talk_may_trace(t))
		trace_scan(&m->trace, body);
	if (flags & FLAG_TWO_WAY)
		talk_call(t, m);
	else
		talk_sent(t, m);
	buf_done(&title);
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct message m = { 0 };
	unsigned flags = byte_at(s, 2);

	(void)side; /* either may ask: both send heartbeats */
	if (s.n < HEAD)
		return PROTO_MORE;
	if (!is_head(s))
		return PROTO_LOST;
	m.bytes = HEAD + bytes_be(s.p + 12, 4);
	m.match = bytes_be(s.p + 4, 8) + 1;
	if (s.n < m.bytes && s.n < LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	if (flags & FLAG_REQUEST) {
		ask(t, &m, flags, str_skip(str_head(s, (size_t)m.bytes), HEAD));
	} else {
		m.has_status = true;
		m.status = byte_at(s, 3);
		m.is_error = m.status != STATUS_OK;
		talk_return(t, &m);
	}
	return (int64_t)m.bytes;
}

const struct proto proto_dubbo = {
	.name = "dubbo",
	.ports = { 20880 },
	.looks = looks,
	.parse = parse,
};
