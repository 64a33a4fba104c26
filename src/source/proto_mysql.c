/*
 * MySQL and MariaDB, plain and compressed. The client asks and waits, so that an answer, of however
 * many rows and results, ends where the client speaks again; commands that have no answer are told
 * as sent. What an answer is made of depends on what was agreed when the connection began, which a
 * capture that joins midway has not seen: this way it is not needed.
 */
#include <ctype.h>
#include <zlib.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_sql.h"
#include "source/proto_talk.h"

#define HEAD 4
#define COMPRESSED_HEAD 7
#define LOOK_BYTES 2048
#define NR_PREPARED 64
#define TITLE_MAX 80

enum command {
	COM_QUIT = 0x01,
	COM_QUERY = 0x03,
	COM_PREPARE = 0x16,
	COM_EXECUTE = 0x17,
	COM_LONG_DATA = 0x18,
	COM_CLOSE = 0x19,
	COM_LAST = 0x1f,
};

enum capability { CAPABILITY_TLS = 0x800 };

static const char *const commands[COM_LAST + 1] = {
	"SLEEP",          "QUIT",           "INIT DB",      "QUERY",
	"FIELD LIST",     "CREATE DB",      "DROP DB",      "REFRESH",
	"SHUTDOWN",       "STATISTICS",     "PROCESS INFO", "CONNECT",
	"PROCESS KILL",   "DEBUG",          "PING",         "TIME",
	"DELAYED INSERT", "CHANGE USER",    "BINLOG DUMP",  "TABLE DUMP",
	"CONNECT OUT",    "REGISTER SLAVE", "PREPARE",      "EXECUTE",
	"LONG DATA",      "CLOSE",          "RESET",        "SET OPTION",
	"FETCH",          "DAEMON",         "BINLOG DUMP",  "RESET CONNECTION",
};

struct prepared {
	uint32_t id;
	uint8_t n;
	char title[TITLE_MAX];
};

struct mysql {
	bool is_compressed, is_login, is_greeted;
	bool is_upload; /* the server has asked for a file, and answers when it has come */
	unsigned nr_asked;
	enum command last;     /* what was asked last … */
	struct prepared title; /* … and how it is called */
	unsigned next;
	struct prepared prepared[NR_PREPARED];
};

static bool is_greeting(struct str s)
{
	return s.n >= 10 && byte_at(s, 3) == 0 && byte_at(s, 4) == 10 &&
	       isdigit((unsigned char)byte_at(s, 5)) && bytes_le(s.p, 3) >= 20 &&
	       bytes_le(s.p, 3) < 512;
}

/* A packet of commands inside of one that may be compressed. */
static bool is_compressed(struct str s)
{
	uint64_t n, whole;

	if (s.n < COMPRESSED_HEAD + 5 || byte_at(s, 3) != 0)
		return false;
	n = bytes_le(s.p, 3);
	whole = bytes_le(s.p + 4, 3);
	if (!whole)
		return n >= 5 && bytes_le(s.p + 7, 3) + 4 == n && byte_at(s, 10) == 0 &&
		       byte_at(s, 11) <= COM_LAST;
	return byte_at(s, 7) == 0x78 && (bytes_be(s.p + 7, 2) % 31) == 0;
}

static int looks_like_command(struct str s)
{
	uint64_t n = bytes_le(s.p, 3);
	unsigned command = byte_at(s, 4);
	bool is_exact = n + HEAD == s.n;

	if (byte_at(s, 3) != 0 || command > COM_LAST || !n)
		return 0;
	if (command == COM_QUERY || command == COM_PREPARE)
		return sql_looks(str_skip(s, 5)) ? 80 : 20;
	if (command == COM_EXECUTE)
		return is_exact && n >= 10 ? 40 : 0;
	if (command == COM_CLOSE)
		return n == 5 ? 45 : 0;
	return is_exact && n == 1 ? 35 : 10;
}

static int looks(struct str s, bool from_client)
{
	if (!from_client) {
		if (is_greeting(s))
			return 92;
		if (s.n < 7 || byte_at(s, 3) != 1)
			return 0;
		if (byte_at(s, 4) == 0xff)
			return byte_at(s, 7) == '#' ? 75 : 0;
		return bytes_le(s.p, 3) <= s.n && bytes_le(s.p, 3) ? 20 : 0;
	}
	if (s.n < 5)
		return 0;
	return is_compressed(s) ? 75 : looks_like_command(s);
}

static void keep_title(struct prepared *p, uint32_t id, struct str title)
{
	p->id = id;
	p->n = (uint8_t)(title.n < TITLE_MAX ? title.n : TITLE_MAX);
	memcpy(p->title, title.p, p->n);
}

static const struct prepared *find_prepared(const struct mysql *my, uint64_t id)
{
	for (unsigned i = 0; i < NR_PREPARED; i++)
		if (my->prepared[i].n && my->prepared[i].id == id)
			return &my->prepared[i];
	return NULL;
}

static void name_command(struct mysql *my, struct str body, struct buf *title)
{
	enum command command = byte_at(body, 0);
	const struct prepared *p = NULL;

	if (command == COM_QUERY || command == COM_PREPARE) {
		if (command == COM_PREPARE)
			buf_add(title, STR("PREPARE "));
		sql_title(title, str_skip(body, 1));
		return;
	}
	if (command == COM_EXECUTE && body.n >= 5)
		p = find_prepared(my, bytes_le(body.p + 1, 4));
	if (p)
		buf_add(title, (struct str){ p->title, p->n });
	else
		buf_add(title, str_of(commands[command]));
}

static void ask(struct talk *t, struct str body, uint64_t bytes)
{
	struct mysql *my = talk_state(t);
	enum command command = byte_at(body, 0);
	struct message m = { .bytes = bytes };
	struct buf title = { 0 };

	name_command(my, body, &title);
	m.title = buf_str(&title);
	if (command == COM_QUERY || command == COM_PREPARE)
		m.text = str_skip(body, 1);
	if (talk_may_trace(t))
		trace_scan(&m.trace, m.text);
	my->last = command;
	if (command == COM_QUIT || command == COM_LONG_DATA || command == COM_CLOSE) {
		talk_sent(t, &m);
	} else {
		keep_title(&my->title, 0, command == COM_PREPARE ? str_skip(m.title, 8) : m.title);
		talk_call(t, &m);
		my->nr_asked++;
	}
	buf_done(&title);
}

/* Unpacks as much as the name of a command needs. */
static bool unpack(struct str s, char *out, size_t room, struct str *body)
{
	z_stream z = { .next_in = (Bytef *)s.p, .avail_in = (uInt)s.n };
	int r;

	if (inflateInit(&z) != Z_OK)
		return false;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)room;
	r = inflate(&z, Z_SYNC_FLUSH);
	*body = (struct str){ out, room - z.avail_out };
	inflateEnd(&z);
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR;
}

static int64_t ask_compressed(struct talk *t, struct str s)
{
	uint64_t bytes = COMPRESSED_HEAD + bytes_le(s.p, 3);
	struct str body = str_skip(str_head(s, (size_t)bytes), COMPRESSED_HEAD);
	char room[LOOK_BYTES];

	if (s.n < bytes && s.n < 2 * LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	if (bytes_le(s.p + 4, 3) && !unpack(body, room, sizeof(room), &body))
		return PROTO_LOST;
	if (body.n > HEAD && byte_at(body, 3) == 0 && byte_at(body, 4) <= COM_LAST)
		ask(t, str_skip(body, HEAD), bytes);
	return (int64_t)bytes;
}

/* The client's answer to the greeting: 32 bytes of what it can, and who it is. */
static void login(struct talk *t, struct str body, uint64_t bytes)
{
	struct mysql *my = talk_state(t);
	struct message m = { .title = STR("LOGIN"), .bytes = bytes };
	uint64_t can = body.n >= 4 ? bytes_le(body.p, 4) : 0;

	if (body.n == 32 && can & CAPABILITY_TLS) {
		talk_become(t, &proto_tls);
		return;
	}
	my->is_login = true;
	talk_call(t, &m);
	my->nr_asked++;
}

static int64_t take_client(struct talk *t, struct str s)
{
	struct mysql *my = talk_state(t);
	uint64_t n;
	struct str body;

	if (s.n < 5)
		return PROTO_MORE;
	if (byte_at(s, 3) == 0 && s.n >= COMPRESSED_HEAD + 5)
		my->is_compressed = is_compressed(s);
	if (my->is_compressed)
		return byte_at(s, 3) == 0 ? ask_compressed(t, s)
					  : (int64_t)(COMPRESSED_HEAD + bytes_le(s.p, 3));
	n = bytes_le(s.p, 3);
	if (s.n < n + HEAD && s.n < LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	body = str_head(str_skip(s, HEAD), (size_t)n);
	if (byte_at(s, 3) == 0) {
		if (!n || byte_at(body, 0) > COM_LAST)
			return PROTO_LOST;
		my->is_login = false;
		ask(t, body, n + HEAD);
	} else if (my->is_greeted) {
		my->is_greeted = false;
		login(t, body, n + HEAD);
	}
	return (int64_t)n + HEAD;
}

static void answer(struct talk *t, struct str body)
{
	struct mysql *my = talk_state(t);
	struct message m = { 0 };
	unsigned first = byte_at(body, 0);

	/* while logging in, the server may ask for more */
	if (my->is_login && (first == 0xfe || first == 0x01))
		return;
	my->is_upload = first == 0xfb && my->last == COM_QUERY;
	if (my->is_upload)
		return;
	my->nr_asked--;
	m.is_error = first == 0xff;
	if (m.is_error && body.n >= 3) {
		m.has_status = true;
		m.status = (int64_t)bytes_le(body.p + 1, 2);
	}
	if (my->last == COM_PREPARE && first == 0 && body.n >= 5)
		keep_title(&my->prepared[my->next++ % NR_PREPARED],
			   (uint32_t)bytes_le(body.p + 1, 4),
			   (struct str){ my->title.title, my->title.n });
	talk_return_by_turn(t, &m);
}

static int64_t take_server(struct talk *t, struct str s)
{
	struct mysql *my = talk_state(t);
	size_t head = my->is_compressed ? COMPRESSED_HEAD : HEAD;
	uint64_t n;
	bool is_first;
	struct str body;

	if (s.n < head + 1)
		return PROTO_MORE;
	n = bytes_le(s.p, 3);
	if (is_greeting(s) && !my->nr_asked) {
		my->is_greeted = true;
		return (int64_t)n + HEAD;
	}
	body = str_head(str_skip(s, head), (size_t)n);
	if (my->is_compressed && bytes_le(s.p + 4, 3))
		body = (struct str){ 0 };
	else if (my->is_compressed)
		body = str_skip(body, HEAD);
	if (body.n < n && body.n < 5 && s.n < head + n)
		return PROTO_MORE;
	/* each answer begins its count of packets anew */
	is_first = my->is_compressed || my->is_login || my->is_upload || byte_at(s, 3) == 1;
	if (is_first && my->nr_asked)
		answer(t, body);
	return (int64_t)(n + head);
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	return talk_is_client(t, side) ? take_client(t, s) : take_server(t, s);
}

static void lose(struct talk *t, unsigned side)
{
	struct mysql *my = talk_state(t);

	my->is_login = my->is_greeted = my->is_upload = false;
	if (!talk_is_client(t, side))
		my->nr_asked = 0;
}

const struct proto proto_mysql = {
	.name = "mysql",
	.ports = { 3306, 3307, 4000 },
	.state_bytes = sizeof(struct mysql),
	.looks = looks,
	.parse = parse,
	.lose = lose,
};
