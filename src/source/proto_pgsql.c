/*
 * PostgreSQL, protocol 3. A simple query, or all messages up to Sync, are one call; ReadyForQuery
 * is its return. So pipelined calls are told apart, and however many parts an answer has, it is
 * one.
 */
#include <ctype.h>

#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_sql.h"
#include "source/proto_talk.h"

#define MESSAGE_BYTES_MAX ((uint64_t)1 << 30)
#define SQL_BYTES 2048 /* of a statement, as much as its name needs */
#define NR_PREPARED 64
#define TITLE_MAX 80

enum { MAJOR = 3, CODE_CANCEL = 80877102, CODE_TLS = 80877103, CODE_GSS = 80877104 };

/* A statement that was prepared: what it was called, and what it does. */
struct prepared {
	uint64_t name;
	uint8_t n;
	char title[TITLE_MAX];
};

struct pgsql {
	bool is_started, waits_for_tls;
	bool is_in_group; /* a call was told, Sync has not come */
	bool is_error;
	unsigned next;
	struct prepared prepared[NR_PREPARED];
};

static const char client_types[] = "QPBDECHSFpXdcf";
static const char server_types[] = "RSKZTDC12n3EINtsAGHWVvcd";

static bool is_startup(struct str s)
{
	uint64_t n = s.n >= 8 ? bytes_be(s.p, 4) : 0, code = n ? bytes_be(s.p + 4, 4) : 0;

	if (code == CODE_TLS || code == CODE_GSS)
		return n == 8;
	return n >= 8 && n < 10000 && (code >> 16 == MAJOR || (code == CODE_CANCEL && n == 16));
}

/* A chain of whole messages, the last of which may be cut; their number, 0 when it is none. */
static unsigned chain(struct str s, const char *types, bool *is_exact, char *last)
{
	unsigned nr = 0;

	while (s.n >= 5) {
		uint64_t n = bytes_be(s.p + 1, 4);

		if (!s.p[0] || !strchr(types, s.p[0]) || n < 4 || n > MESSAGE_BYTES_MAX ||
		    (n > 1 << 20 && s.p[0] != 'D' && s.p[0] != 'd'))
			return 0;
		*last = s.p[0];
		nr++;
		if (n + 1 > s.n) {
			*is_exact = false;
			return nr;
		}
		s = str_skip(s, (size_t)n + 1);
	}
	*is_exact = !s.n;
	return nr;
}

static int looks(struct str s, bool from_client)
{
	bool is_exact = false;
	char last = 0;
	unsigned nr;

	if (from_client && is_startup(s))
		return 95;
	nr = chain(s, from_client ? client_types : server_types, &is_exact, &last);
	if (!nr)
		return 0;
	if (from_client && (s.p[0] == 'Q' || s.p[0] == 'P')) {
		struct str sql = str_skip(s, 5);

		if (s.p[0] == 'P')
			sql = str_skip(sql, str_find_char(sql, 0) + 1);
		return sql_looks(sql) ? 85 : 20;
	}
	if (is_exact && (last == 'Z' || (last == 'S' && nr > 1)))
		return 85;
	return is_exact && nr > 1 ? 62 : 20;
}

static struct prepared *find_prepared(struct pgsql *pg, struct str name)
{
	uint64_t hash = str_hash(name) | 1;

	for (unsigned i = 0; i < NR_PREPARED; i++)
		if (pg->prepared[i].name == hash)
			return &pg->prepared[i];
	return NULL;
}

static void prepare(struct pgsql *pg, struct str name, struct str title)
{
	struct prepared *p = find_prepared(pg, name);

	if (!p)
		p = &pg->prepared[pg->next++ % NR_PREPARED];
	p->name = str_hash(name) | 1;
	p->n = (uint8_t)(title.n < TITLE_MAX ? title.n : TITLE_MAX);
	memcpy(p->title, title.p, p->n);
}

static struct str take_cstring(struct str *s)
{
	struct str v = str_head(*s, str_find_char(*s, 0));

	*s = str_skip(*s, v.n + 1);
	return v;
}

/* Names the call after the message that begins it. */
static void name_call(struct pgsql *pg, char type, struct str body, struct buf *title,
		      struct str *text)
{
	struct str name = { 0 };
	const struct prepared *p;

	switch (type) {
	case 'Q':
		*text = take_cstring(&body);
		sql_title(title, *text);
		return;
	case 'P':
		name = take_cstring(&body);
		*text = take_cstring(&body);
		sql_title(title, *text);
		prepare(pg, name, buf_str(title));
		return;
	case 'B':
		take_cstring(&body);
		name = take_cstring(&body);
		break;
	case 'D':
	case 'C':
		body = str_skip(body, 1);
		name = take_cstring(&body);
		break;
	case 'F':
		buf_add(title, STR("FUNCTION"));
		return;
	default:
		break;
	}
	p = find_prepared(pg, name);
	if (p)
		buf_add(title, (struct str){ p->title, p->n });
	else
		buf_add(title, type == 'D'   ? STR("DESCRIBE")
			       : type == 'C' ? STR("CLOSE")
					     : STR("EXECUTE"));
}

static void call(struct talk *t, char type, struct str body, uint64_t bytes)
{
	struct pgsql *pg = talk_state(t);
	struct buf title = { 0 };
	struct message m = { .bytes = bytes };

	name_call(pg, type, body, &title, &m.text);
	m.title = buf_str(&title);
	if (talk_may_trace(t))
		trace_scan(&m.trace, m.text); /* in a comment, as some libraries put it */
	talk_call(t, &m);
	buf_done(&title);
}

static int64_t take_startup(struct talk *t, struct str s)
{
	struct pgsql *pg = talk_state(t);
	struct message m = { .title = STR("CONNECT") };
	uint64_t code;

	if (s.n < 8)
		return PROTO_MORE;
	if (!is_startup(s))
		return PROTO_LOST;
	code = bytes_be(s.p + 4, 4);
	m.bytes = bytes_be(s.p, 4);
	if (code == CODE_TLS || code == CODE_GSS) {
		pg->waits_for_tls = true;
	} else if (code == CODE_CANCEL) {
		m.title = STR("CANCEL");
		talk_sent(t, &m);
	} else {
		pg->is_started = true;
		talk_call(t, &m);
	}
	return (int64_t)m.bytes;
}

/* A statement of a group that has its call: only what it was prepared as is noted. */
static void note_prepared(struct pgsql *pg, char type, struct str body)
{
	struct buf title = { 0 };
	struct str text;

	if (type == 'P')
		name_call(pg, type, body, &title, &text);
	buf_done(&title);
}

static void take_typed(struct talk *t, char type, struct str body, uint64_t bytes)
{
	struct pgsql *pg = talk_state(t);

	switch (type) {
	case 'Q':
	case 'F':
		call(t, type, body, bytes);
		break;
	case 'P':
	case 'B':
	case 'E':
	case 'D':
	case 'C':
		if (pg->is_in_group)
			note_prepared(pg, type, body);
		else
			call(t, type, body, bytes);
		pg->is_in_group = true;
		break;
	case 'S':
		if (!pg->is_in_group)
			talk_call(t, &(struct message){ .title = STR("SYNC"), .bytes = bytes });
		pg->is_in_group = false;
		break;
	default:
		break;
	}
}

static int64_t take_query(struct talk *t, struct str s)
{
	struct pgsql *pg = talk_state(t);
	uint64_t n;

	if (!pg->is_started && !s.p[0])
		return take_startup(t, s);
	if (s.n < 5)
		return PROTO_MORE;
	n = bytes_be(s.p + 1, 4);
	if (!strchr(client_types, s.p[0]) || !s.p[0] || n < 4 || n > MESSAGE_BYTES_MAX)
		return PROTO_LOST;
	if (s.n < n + 1 && s.n < SQL_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	pg->is_started = true;
	take_typed(t, s.p[0], str_head(str_skip(s, 5), (size_t)n - 4), n + 1);
	return (int64_t)n + 1;
}

static int64_t take_answer(struct talk *t, struct str s)
{
	struct pgsql *pg = talk_state(t);
	struct message m = { 0 };
	uint64_t n;

	if (pg->waits_for_tls && (s.p[0] == 'S' || s.p[0] == 'N' || s.p[0] == 'G') &&
	    (s.n == 1 || byte_at(s, 1))) {
		pg->waits_for_tls = false;
		if (s.p[0] == 'S')
			talk_become(t, &proto_tls);
		return 1;
	}
	if (s.n < 5)
		return PROTO_MORE;
	n = bytes_be(s.p + 1, 4);
	if (!s.p[0] || !strchr(server_types, s.p[0]) || n < 4 || n > MESSAGE_BYTES_MAX)
		return PROTO_LOST;
	if (s.p[0] == 'E')
		pg->is_error = true;
	if (s.p[0] == 'Z') {
		m.is_error = pg->is_error;
		pg->is_error = false;
		talk_return(t, &m);
	}
	return (int64_t)n + 1;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	return talk_is_client(t, side) ? take_query(t, s) : take_answer(t, s);
}

/* A fatal error is the last that a server says: there is no ReadyForQuery behind it. */
static void end(struct talk *t, unsigned side)
{
	struct pgsql *pg = talk_state(t);

	if (!talk_is_client(t, side) && pg->is_error && talk_has_call(t, 0))
		talk_return(t, &(struct message){ .is_error = true });
}

static void lose(struct talk *t, unsigned side)
{
	struct pgsql *pg = talk_state(t);

	pg->is_started = true;
	if (talk_is_client(t, side))
		pg->is_in_group = false;
}

const struct proto proto_pgsql = {
	.name = "postgresql",
	.ports = { 5432, 6432, 5433, 26257 },
	.state_bytes = sizeof(struct pgsql),
	.looks = looks,
	.parse = parse,
	.lose = lose,
	.end = end,
};
