/*
 * HTTP/1.0 and 1.1 (RFC 9112). Requests are answered in order, whether they were pipelined or not.
 * The end of a body is told by its length, by its chunks, or by the end of the connection; answers
 * to HEAD, and 204 and 304, have none whatever their headers say. Behind CONNECT, and where both
 * agree to upgrade, another protocol goes on.
 */
#include <ctype.h>

#include "base/buf.h"

#include "source/proto.h"
#include "source/proto_talk.h"

#define OPEN_MAX 64

enum body { BODY_NONE, BODY_CHUNKS, BODY_TRAILER };

struct http1 {
	enum body body[2];
	uint64_t bytes[2]; /* of the message so far */
	int64_t status;    /* of the answer whose chunks are read */
	uint64_t heads;    /* a bit for each open request: is it HEAD … */
	uint64_t connects; /* … is it CONNECT */
	unsigned nr_open;
};

/* What the headers of a message say. */
struct head {
	struct str first, rest; /* the first line, and the lines behind it */
	size_t bytes;           /* all of it, with the empty line */
	bool is_chunked, has_length, is_upgrade, is_to_http2;
	uint64_t length;
	struct trace trace;
};

static const struct str methods[] = {
	{ "GET", 3 },   { "POST", 4 },    { "PUT", 3 },     { "HEAD", 4 },      { "DELETE", 6 },
	{ "PATCH", 5 }, { "OPTIONS", 7 }, { "CONNECT", 7 }, { "TRACE", 5 },     { "PROPFIND", 8 },
	{ "MKCOL", 5 }, { "COPY", 4 },    { "MOVE", 4 },    { "PROPPATCH", 9 }, { "REPORT", 6 },
	{ "LOCK", 4 },  { "UNLOCK", 6 },  { "SEARCH", 6 },  { "PURGE", 5 },
};

static bool take_method(struct str *s, struct str *method)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		struct str rest = str_skip(*s, methods[i].n);

		if (!str_starts(*s, methods[i]) || !str_take_char(&rest, ' '))
			continue;
		*method = methods[i];
		*s = rest;
		return true;
	}
	return false;
}

static int looks(struct str s, bool from_client)
{
	struct str line, method;

	if (!from_client)
		return str_starts(s, STR("HTTP/1.")) ? 98 : 0;
	if (!take_method(&s, &method))
		return 0;
	if (str_take_until(&s, '\n', &line))
		return str_find(line, STR(" HTTP/1.")) < line.n ? 98 : 0;
	return s.n && (s.p[0] == '/' || s.p[0] == '*' || isalpha((unsigned char)s.p[0])) ? 70 : 0;
}

static void take_header(struct talk *t, struct head *h, struct str name, struct str value)
{
	uint64_t n;

	value = str_trim(value);
	if (str_eq_nocase(name, STR("content-length"))) {
		h->has_length = str_take_uint(&value, &n) && n < (uint64_t)1 << 62;
		h->length = h->has_length ? n : 0;
	} else if (str_eq_nocase(name, STR("transfer-encoding"))) {
		h->is_chunked =
			value.n >= 7 && str_eq_nocase(str_skip(value, value.n - 7), STR("chunked"));
	} else if (str_eq_nocase(name, STR("upgrade"))) {
		h->is_upgrade = true;
		h->is_to_http2 = str_eq_nocase(value, STR("h2c"));
	} else if (talk_may_trace(t)) {
		trace_take_header(&h->trace, name, value);
	}
}

/* 1 = *h filled, 0 = the empty line is not there yet. */
static int take_head(struct talk *t, struct str s, struct head *h)
{
	struct str all = s, line, name;
	bool is_whole = false;

	*h = (struct head){ 0 };
	if (!str_take_until(&s, '\n', &h->first)) {
		if (!talk_is_cut(t))
			return 0;
		h->first = s;
		s = str_skip(s, s.n);
	}
	h->first = str_trim(h->first);
	h->rest = s;
	while (!is_whole && str_take_until(&s, '\n', &line)) {
		if (str_ends(line, STR("\r")))
			line.n--;
		is_whole = !line.n;
		if (str_take_until(&line, ':', &name))
			take_header(t, h, name, line);
	}
	h->bytes = (size_t)(s.p - all.p);
	return is_whole || talk_is_cut(t);
}

/* Without host and query: what is asked for, not with what. */
static struct str path_of(struct str target)
{
	size_t at = target.n && target.p[0] != '/' ? str_find(target, STR("://")) : target.n;

	if (at < target.n) {
		target = str_skip(target, at + 3);
		target = str_skip(target, str_find_char(target, '/'));
	}
	target = str_head(target, str_find_char(target, '?'));
	return target.n ? target : STR("/");
}

enum asked { ASKED_PLAIN, ASKED_HEAD, ASKED_CONNECT };

static enum asked close_request(struct http1 *http)
{
	enum asked asked = http->heads & 1      ? ASKED_HEAD
			   : http->connects & 1 ? ASKED_CONNECT
						: ASKED_PLAIN;

	http->heads >>= 1;
	http->connects >>= 1;
	if (!http->nr_open)
		return ASKED_PLAIN;
	http->nr_open--;
	return asked;
}

static void open_request(struct http1 *http, struct str method)
{
	uint64_t bit;

	if (http->nr_open == OPEN_MAX)
		close_request(http);
	bit = (uint64_t)1 << http->nr_open++;
	http->heads = (http->heads & ~bit) | (str_eq(method, STR("HEAD")) ? bit : 0);
	http->connects = (http->connects & ~bit) | (str_eq(method, STR("CONNECT")) ? bit : 0);
}

static int64_t take_request(struct talk *t, unsigned side, struct str s)
{
	struct http1 *http = talk_state(t);
	struct str line, method, target;
	struct buf title = { 0 };
	struct message m = { 0 };
	struct head h;

	line = s;
	if (!take_method(&line, &method))
		return s.n < 10 && !memchr(s.p, ' ', s.n) && isupper((unsigned char)s.p[0])
			       ? PROTO_MORE
			       : PROTO_LOST;
	if (!take_head(t, s, &h))
		return PROTO_MORE;
	line = str_skip(h.first, method.n + 1);
	target = str_head(line, str_find_char(line, ' '));
	buf_room(&title, method.n + 1 + target.n + 1); /* once for all */
	buf_add(&title, method);
	buf_char(&title, ' ');
	buf_add(&title, path_of(target));
	m.title = buf_str(&title);
	m.text = h.first;
	m.bytes = h.bytes + h.length;
	m.trace = h.trace;
	talk_call(t, &m);
	buf_done(&title);
	open_request(http, method);
	if (h.is_chunked) {
		http->body[side] = BODY_CHUNKS;
		return (int64_t)h.bytes;
	}
	return (int64_t)(h.bytes + h.length);
}

static void answer(struct talk *t, int64_t status, uint64_t bytes)
{
	struct message m = { .has_status = true, .status = status, .bytes = bytes };

	m.is_error = status >= 500;
	talk_return(t, &m);
}

/* 101: both speak something else from here on; HTTP/2 answers the request as its stream 1. */
static int64_t switch_protocol(struct talk *t, const struct head *h)
{
	if (h->is_to_http2)
		talk_rematch(t, 1);
	else
		answer(t, 101, h->bytes);
	talk_become(t, h->is_to_http2 ? &proto_http2 : &proto_plain);
	return (int64_t)h->bytes;
}

/* What is said through a tunnel is found out anew. */
static int64_t open_tunnel(struct talk *t, uint64_t status, const struct head *h)
{
	answer(t, (int64_t)status, h->bytes);
	talk_become(t, &proto_plain);
	return (int64_t)h->bytes;
}

static bool take_status(struct str line, uint64_t *status)
{
	struct str version;

	return str_take_word(&line, &version) && str_take_spaces(&line) &&
	       str_take_uint(&line, status) && *status >= 100 && *status <= 999;
}

static int64_t take_response(struct talk *t, unsigned side, struct str s)
{
	struct http1 *http = talk_state(t);
	struct head h;
	enum asked asked;
	uint64_t status;
	bool has_body;

	if (!str_starts(s, str_head(STR("HTTP/1."), s.n)))
		return PROTO_LOST;
	if (!take_head(t, s, &h))
		return PROTO_MORE;
	if (!take_status(h.first, &status)) {
		if (!talk_is_cut(t))
			return PROTO_LOST;
		talk_return(t, &(struct message){ 0 });
		return (int64_t)h.bytes;
	}
	if (status == 101)
		return switch_protocol(t, &h);
	if (status < 200)
		return (int64_t)h.bytes;
	asked = close_request(http);
	if (asked == ASKED_CONNECT && status < 300)
		return open_tunnel(t, status, &h);
	has_body = asked != ASKED_HEAD && status != 204 && status != 304;
	if (has_body && h.is_chunked) {
		http->body[side] = BODY_CHUNKS;
		http->status = (int64_t)status;
		http->bytes[side] = h.bytes;
		return (int64_t)h.bytes;
	}
	answer(t, (int64_t)status, h.bytes + (has_body ? h.length : 0));
	if (has_body && !h.has_length)
		return PROTO_ALL;
	return (int64_t)(h.bytes + (has_body ? h.length : 0));
}

/* "<hexadecimal length>[;…]", the bytes, an empty line; the last one has the length 0. */
static int64_t take_chunk(struct http1 *http, unsigned side, struct str s)
{
	struct str line, rest = s;
	uint64_t n;

	if (!str_take_until(&rest, '\n', &line))
		return s.n < 4096 ? PROTO_MORE : PROTO_LOST;
	if (!str_take_hex(&line, &n) || n >= (uint64_t)1 << 40)
		return PROTO_LOST;
	if (!n)
		http->body[side] = BODY_TRAILER;
	http->bytes[side] += n;
	return (int64_t)(s.n - rest.n + (n ? n + 2 : 0));
}

static int64_t take_trailer(struct talk *t, unsigned side, struct str s)
{
	struct http1 *http = talk_state(t);
	struct str line, rest = s;

	if (!str_take_until(&rest, '\n', &line))
		return s.n < 65536 ? PROTO_MORE : PROTO_LOST;
	if (!str_trim(line).n) {
		http->body[side] = BODY_NONE;
		if (!talk_is_client(t, side))
			answer(t, http->status, http->bytes[side]);
	}
	return (int64_t)(s.n - rest.n);
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct http1 *http = talk_state(t);

	if (http->body[side] == BODY_CHUNKS)
		return take_chunk(http, side, s);
	if (http->body[side] == BODY_TRAILER)
		return take_trailer(t, side, s);
	if (s.p[0] == '\r' || s.p[0] == '\n')
		return 1;
	return talk_is_client(t, side) ? take_request(t, side, s) : take_response(t, side, s);
}

/* An answer whose last chunk will not be seen has come all the same. */
static void end(struct talk *t, unsigned side)
{
	struct http1 *http = talk_state(t);

	if (http->body[side] != BODY_NONE && !talk_is_client(t, side))
		answer(t, http->status, http->bytes[side]);
	http->body[side] = BODY_NONE;
}

static void lose(struct talk *t, unsigned side)
{
	struct http1 *http = talk_state(t);

	end(t, side);
	if (!talk_is_client(t, side))
		http->nr_open = 0;
}

const struct proto proto_http1 = {
	.name = "http",
	.ports = { 80, 8080, 8000, 3000 },
	.state_bytes = sizeof(struct http1),
	.looks = looks,
	.parse = parse,
	.lose = lose,
	.end = end,
};
