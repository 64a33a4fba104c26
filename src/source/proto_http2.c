/*
 * HTTP/2 (RFC 9113), and gRPC on it. A stream is a call and its return: the headers of the client
 * begin it, the last frame of the server ends it. Its id is the match. A status of gRPC, which
 * comes behind the data, goes before that of HTTP.
 */
#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_hpack.h"
#include "source/proto_talk.h"

#define FRAME_HEAD 9
#define FRAME_BYTES_MAX ((uint64_t)1 << 20)
#define BLOCK_BYTES_MAX ((size_t)128 << 10)
#define NR_STREAMS 128 /* whose status is remembered until they end */
#define PREFACE STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

enum frame {
	FRAME_DATA,
	FRAME_HEADERS,
	FRAME_PRIORITY,
	FRAME_RESET,
	FRAME_SETTINGS,
	FRAME_PUSH,
	FRAME_PING,
	FRAME_GOAWAY,
	FRAME_WINDOW,
	FRAME_CONTINUATION,
	FRAME_LAST = FRAME_CONTINUATION,
};

enum flag { END_STREAM = 1, END_HEADERS = 4, PADDED = 8, HAS_PRIORITY = 32 };

struct stream {
	uint64_t id;
	int64_t status, grpc; /* -1: not seen */
	uint64_t bytes;
};

struct http2 {
	struct hpack hpack[2];
	struct stream streams[NR_STREAMS];
};

struct frame_head {
	uint64_t bytes, type, flags, stream;
};

/* What the headers of one block say. */
struct headers {
	struct buf method, path, text;
	int64_t status, grpc;
	bool may_trace;
	struct trace trace;
};

static bool take_frame(struct str *s, struct frame_head *f)
{
	if (!take_be(s, 3, &f->bytes) || !take_be(s, 1, &f->type) || !take_be(s, 1, &f->flags) ||
	    !take_be(s, 4, &f->stream))
		return false;
	return f->stream < (uint64_t)1 << 31;
}

/* Whether a frame can be: its kind, and what its kind asks of stream and length. */
static bool is_possible(const struct frame_head *f)
{
	if (f->type > FRAME_LAST || f->bytes > FRAME_BYTES_MAX)
		return false;
	switch (f->type) {
	case FRAME_SETTINGS:
		return !f->stream && f->bytes % 6 == 0 && f->flags <= 1;
	case FRAME_PING:
		return !f->stream && f->bytes == 8;
	case FRAME_GOAWAY:
		return !f->stream && f->bytes >= 8;
	case FRAME_WINDOW:
	case FRAME_RESET:
		return f->bytes == 4;
	case FRAME_PRIORITY:
		return f->stream && f->bytes == 5;
	default:
		return f->stream != 0;
	}
}

static int looks(struct str s, bool from_client)
{
	struct frame_head f, first = { 0 };
	unsigned nr = 0;

	if (from_client && s.n >= 14 && str_starts(s, str_head(PREFACE, s.n)))
		return 100;
	while (take_frame(&s, &f)) {
		if (!is_possible(&f) || f.bytes > 1 << 14)
			return 0;
		first = nr++ ? first : f;
		if (f.bytes > s.n)
			return nr > 1 ? 70 : first.type == FRAME_HEADERS ? 40 : 20;
		s = str_skip(s, (size_t)f.bytes);
	}
	if (!nr || s.n)
		return 0;
	/* settings begin a connection */
	return first.type == FRAME_SETTINGS ? 90 : nr > 1 ? 75 : 62;
}

static void take_header(void *to, struct str name, struct str value)
{
	struct headers *h = to;
	uint64_t n;

	if (str_eq(name, STR(":method"))) {
		buf_clear(&h->method);
		buf_add(&h->method, str_head(value, 16));
	} else if (str_eq(name, STR(":path"))) {
		buf_clear(&h->path);
		buf_add(&h->path, str_head(value, 1024));
	} else if (str_eq(name, STR(":status")) && str_take_uint(&value, &n) && n < 1000) {
		h->status = (int64_t)n;
	} else if (str_eq(name, STR("grpc-status")) && str_take_uint(&value, &n) && n < 1000) {
		h->grpc = (int64_t)n;
	} else if (h->may_trace) {
		trace_take_header(&h->trace, name, value);
	}
}

static struct stream *stream_of(struct http2 *h, uint64_t id)
{
	struct stream *s = &h->streams[id / 2 % NR_STREAMS];

	if (s->id != id)
		*s = (struct stream){ id, -1, -1, 0 };
	return s;
}

static void call(struct talk *t, const struct frame_head *f, struct headers *h)
{
	struct message m = { .match = f->stream, .bytes = f->bytes + FRAME_HEAD };
	struct str path = buf_str(&h->path);

	if (!h->method.n && !path.n) /* trailers of a request */
		return;
	buf_add(&h->text, h->method.n ? buf_str(&h->method) : STR("POST"));
	buf_char(&h->text, ' ');
	m.trace = h->trace;
	buf_add(&h->text, str_head(path, str_find_char(path, '?')));
	m.title = buf_str(&h->text);
	talk_call(t, &m);
}

/* What the server sends unasked, on streams of even number, answers nothing. */
static void end_stream(struct talk *t, uint64_t id, bool is_reset)
{
	struct http2 *h = talk_state(t);
	struct stream *s = stream_of(h, id);
	struct message m = { .match = id, .bytes = s->bytes };

	m.has_status = s->status >= 0 || s->grpc >= 0;
	m.status = s->grpc >= 0 ? s->grpc : s->status;
	m.is_error = is_reset || s->grpc > 0 || s->status >= 500;
	s->id = 0;
	if (id % 2 || talk_has_call(t, id))
		talk_return(t, &m);
}

/* The block without padding, priority, and the stream that is promised. */
static bool strip(const struct frame_head *f, struct str *body)
{
	uint64_t pad = 0, weight, promised;

	if (f->flags & PADDED && !take_be(body, 1, &pad))
		return false;
	if (f->type == FRAME_HEADERS && f->flags & HAS_PRIORITY && !take_be(body, 5, &weight))
		return false;
	if (f->type == FRAME_PUSH && !take_be(body, 4, &promised))
		return false;
	if (pad > body->n)
		return false;
	body->n -= (size_t)pad;
	return true;
}

/* Headers may go on in further frames, which then follow at once: they are read as one. */
static int64_t gather(struct str s, const struct frame_head *f, bool is_cut, struct buf *block)
{
	struct str rest = str_skip(s, FRAME_HEAD), body = str_head(rest, (size_t)f->bytes);
	struct frame_head next = *f;

	if (rest.n < f->bytes && !is_cut)
		return PROTO_MORE;
	if (!strip(f, &body))
		return PROTO_LOST;
	buf_add(block, body);
	if (rest.n < f->bytes)
		return (int64_t)f->bytes + FRAME_HEAD;
	rest = str_skip(rest, (size_t)f->bytes);
	while (!(next.flags & END_HEADERS) && !is_cut) {
		if (block->n > BLOCK_BYTES_MAX)
			return PROTO_LOST;
		if (rest.n < FRAME_HEAD)
			return PROTO_MORE;
		if (!take_frame(&rest, &next) || next.type != FRAME_CONTINUATION ||
		    next.stream != f->stream)
			return PROTO_LOST;
		if (rest.n < next.bytes)
			return PROTO_MORE;
		buf_add(block, str_head(rest, (size_t)next.bytes));
		rest = str_skip(rest, (size_t)next.bytes);
	}
	return (int64_t)(s.n - rest.n);
}

static void take_block(struct talk *t, unsigned side, const struct frame_head *f, struct headers *h)
{
	struct stream *s;

	if (f->type == FRAME_PUSH) /* read only because later blocks build on it */
		return;
	if (talk_is_client(t, side)) {
		call(t, f, h);
		return;
	}
	s = stream_of(talk_state(t), f->stream);
	if (h->status >= 0)
		s->status = h->status;
	if (h->grpc >= 0)
		s->grpc = h->grpc;
	s->bytes += f->bytes + FRAME_HEAD;
	if (f->flags & END_STREAM)
		end_stream(t, f->stream, false);
}

/* Names that were told in what is missing cannot be known; those told from now on can. */
static void lose(struct talk *t, unsigned side)
{
	struct http2 *h = talk_state(t);

	hpack_done(&h->hpack[side]);
	h->hpack[side] = (struct hpack){ .max = h->hpack[side].max };
}

static int64_t take_headers(struct talk *t, unsigned side, const struct frame_head *f, struct str s)
{
	struct http2 *state = talk_state(t);
	struct headers h = { .status = -1, .grpc = -1 };
	struct buf block = { 0 };
	int64_t n = gather(s, f, talk_is_cut(t), &block);

	if (n > 0) {
		h.may_trace = talk_may_trace(t) && talk_is_client(t, side);
		if (hpack_decode(&state->hpack[side], buf_str(&block), take_header, &h) ||
		    talk_is_cut(t))
			take_block(t, side, f, &h);
		else
			n = PROTO_LOST;
		if (talk_is_cut(t))
			lose(t, side);
	}
	buf_done(&block);
	buf_done(&h.method);
	buf_done(&h.path);
	buf_done(&h.text);
	return n;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct str rest = s;
	struct frame_head f;
	bool is_client = talk_is_client(t, side);

	if (is_client && str_starts(s, str_head(PREFACE, s.n)))
		return s.n < PREFACE.n ? PROTO_MORE : (int64_t)PREFACE.n;
	if (s.n < FRAME_HEAD)
		return PROTO_MORE;
	if (!take_frame(&rest, &f) || (f.type <= FRAME_LAST && !is_possible(&f)))
		return PROTO_LOST;
	if (f.type == FRAME_HEADERS || f.type == FRAME_PUSH)
		return take_headers(t, side, &f, s);
	if (!is_client && f.type == FRAME_DATA) {
		stream_of(talk_state(t), f.stream)->bytes += f.bytes + FRAME_HEAD;
		if (f.flags & END_STREAM)
			end_stream(t, f.stream, false);
	}
	if (!is_client && f.type == FRAME_RESET && talk_has_call(t, f.stream))
		end_stream(t, f.stream, true);
	return (int64_t)f.bytes + FRAME_HEAD;
}

/* Answers that had begun when the capture ended. */
static void end(struct talk *t, unsigned side)
{
	struct http2 *h = talk_state(t);

	for (size_t i = 0; i < NR_STREAMS && !talk_is_client(t, side); i++)
		if (h->streams[i].id && talk_has_call(t, h->streams[i].id))
			end_stream(t, h->streams[i].id, false);
}

static void done(void *state)
{
	struct http2 *h = state;

	hpack_done(&h->hpack[0]);
	hpack_done(&h->hpack[1]);
}

const struct proto proto_http2 = {
	.name = "http2",
	.ports = { 50051, 9000 },
	.state_bytes = sizeof(struct http2),
	.looks = looks,
	.parse = parse,
	.lose = lose,
	.end = end,
	.done = done,
};
