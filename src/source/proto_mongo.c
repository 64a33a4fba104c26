/* MongoDB's wire protocol: every message has an id, and every answer the id that it answers. */
#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define HEAD 16
#define LOOK_BYTES 512 /* of a message: enough for the name of its command */
#define MESSAGE_BYTES_MAX ((uint64_t)64 << 20)
#define NAME_MAX 64

enum opcode {
	OP_REPLY = 1,
	OP_UPDATE = 2001,
	OP_INSERT = 2002,
	OP_QUERY = 2004,
	OP_GET_MORE = 2005,
	OP_DELETE = 2006,
	OP_KILL_CURSORS = 2007,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
};

enum flag { FLAG_MORE_TO_COME = 2 };

static const char *opcode_name(uint64_t op)
{
	switch (op) {
	case OP_REPLY:
		return "reply";
	case OP_UPDATE:
		return "update";
	case OP_INSERT:
		return "insert";
	case OP_QUERY:
		return "query";
	case OP_GET_MORE:
		return "getMore";
	case OP_DELETE:
		return "delete";
	case OP_KILL_CURSORS:
		return "killCursors";
	case OP_COMPRESSED:
		return "compressed";
	case OP_MSG:
		return "msg";
	default:
		return NULL;
	}
}

static bool is_head(struct str s)
{
	uint64_t n = s.n >= HEAD ? bytes_le(s.p, 4) : 0;

	return n > HEAD && n <= MESSAGE_BYTES_MAX && opcode_name(bytes_le(s.p + 12, 4));
}

static int looks(struct str s, bool from_client)
{
	bool is_answer;

	if (!is_head(s))
		return 0;
	is_answer = bytes_le(s.p + 8, 4) || bytes_le(s.p + 12, 4) == OP_REPLY;
	return is_answer != from_client ? 85 : 0;
}

static void add_text(struct buf *b, struct str text)
{
	buf_add(b, str_head(text, NAME_MAX));
}

/* The first member of a document is the command, and its value often the collection. */
static void name_document(struct buf *title, struct str doc)
{
	struct str key;
	uint64_t n, type;

	if (!take_le(&doc, 4, &n) || !take_le(&doc, 1, &type) || !str_take_until(&doc, 0, &key))
		return;
	add_text(title, key);
	if (type != 2 || !take_le(&doc, 4, &n) || n < 2)
		return;
	buf_char(title, ' ');
	add_text(title, str_head(doc, str_find_char(doc, 0)));
}

static void name_message(struct buf *title, uint64_t op, struct str body)
{
	struct str collection;
	uint64_t kind;

	if (op == OP_MSG) {
		body = str_skip(body, 4);
		if (take_le(&body, 1, &kind) && kind == 0)
			name_document(title, body);
	} else if (op == OP_QUERY) {
		body = str_skip(body, 4);
		if (str_take_until(&body, 0, &collection) && !str_ends(collection, STR(".$cmd")))
			add_text(title, collection);
		else
			name_document(title, str_skip(body, 8));
	}
	if (!title->n)
		buf_add(title, str_of(opcode_name(op)));
}

/* "ok" as a double that is zero. */
static bool is_refused(struct str body)
{
	static const char no[] = "\1ok\0\0\0\0\0\0\0\0";

	return str_find(body, (struct str){ no, sizeof(no) - 1 }) < body.n;
}

struct mongo {
	bool has_asked; /* the client was seen to ask: what answers nothing is sent unasked */
};

static void ask(struct talk *t, struct message *m, uint64_t op, struct str body)
{
	struct buf title = { 0 };
	bool is_one_way =
		(op >= OP_UPDATE && op <= OP_INSERT) || op == OP_DELETE || op == OP_KILL_CURSORS;

	name_message(&title, op, body);
	m->title = buf_str(&title);
	if (op == OP_MSG && body.n >= 4 && bytes_le(body.p, 4) & FLAG_MORE_TO_COME)
		is_one_way = true;
	if (talk_may_trace(t))
		trace_scan(&m->trace, body);
	if (is_one_way)
		talk_sent(t, m);
	else
		talk_call(t, m);
	buf_done(&title);
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct mongo *mongo = talk_state(t);
	struct message m = { 0 };
	struct str body;
	uint64_t op;

	if (s.n < HEAD)
		return PROTO_MORE;
	if (!is_head(s))
		return PROTO_LOST;
	m.bytes = bytes_le(s.p, 4);
	op = bytes_le(s.p + 12, 4);
	if (s.n < m.bytes && s.n < LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	body = str_skip(str_head(s, (size_t)m.bytes), HEAD);
	if (talk_is_client(t, side)) {
		m.match = bytes_le(s.p + 4, 4) + 1;
		mongo->has_asked = true;
		ask(t, &m, op, body);
		return (int64_t)m.bytes;
	}
	m.match = bytes_le(s.p + 8, 4) + 1;
	m.is_error = is_refused(str_head(body, LOOK_BYTES));
	m.title = STR("more");
	if (talk_has_call(t, m.match) || (bytes_le(s.p + 8, 4) && !mongo->has_asked))
		talk_return(t, &m);
	else
		talk_sent(t, &m);
	return (int64_t)m.bytes;
}

const struct proto proto_mongo = {
	.name = "mongodb",
	.ports = { 27017, 27018, 27019 },
	.state_bytes = sizeof(struct mongo),
	.looks = looks,
	.parse = parse,
};
