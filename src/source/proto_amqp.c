/*
 * AMQP 0-9-1. A method that the standard answers with another is a call, from whichever side it
 * comes; publishing, delivering and acknowledging are told without an answer.
 */
#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define FRAME_BYTES_MAX ((uint64_t)128 << 20)
#define FRAME_END 0xce

enum frame { FRAME_METHOD = 1, FRAME_HEADER = 2, FRAME_BODY = 3, FRAME_HEARTBEAT = 8 };
enum part { PART_CALL, PART_RETURN, PART_SENT, PART_CONTENT };

/* A method; the answer of a call is the returns of its class that name it. */
struct method {
	uint16_t class, id, answers; /* the call that a return answers */
	enum part part;
	const char *name;
};

static const struct method methods[] = {
	{ 10, 10, 0, PART_CALL, "Connection.Start" },
	{ 10, 11, 10, PART_RETURN, "Connection.StartOk" },
	{ 10, 20, 0, PART_CALL, "Connection.Secure" },
	{ 10, 21, 20, PART_RETURN, "Connection.SecureOk" },
	{ 10, 30, 0, PART_CALL, "Connection.Tune" },
	{ 10, 31, 30, PART_RETURN, "Connection.TuneOk" },
	{ 10, 40, 0, PART_CALL, "Connection.Open" },
	{ 10, 41, 40, PART_RETURN, "Connection.OpenOk" },
	{ 10, 50, 0, PART_CALL, "Connection.Close" },
	{ 10, 51, 50, PART_RETURN, "Connection.CloseOk" },
	{ 10, 60, 0, PART_SENT, "Connection.Blocked" },
	{ 10, 61, 0, PART_SENT, "Connection.Unblocked" },
	{ 20, 10, 0, PART_CALL, "Channel.Open" },
	{ 20, 11, 10, PART_RETURN, "Channel.OpenOk" },
	{ 20, 20, 0, PART_CALL, "Channel.Flow" },
	{ 20, 21, 20, PART_RETURN, "Channel.FlowOk" },
	{ 20, 40, 0, PART_CALL, "Channel.Close" },
	{ 20, 41, 40, PART_RETURN, "Channel.CloseOk" },
	{ 40, 10, 0, PART_CALL, "Exchange.Declare" },
	{ 40, 11, 10, PART_RETURN, "Exchange.DeclareOk" },
	{ 40, 20, 0, PART_CALL, "Exchange.Delete" },
	{ 40, 21, 20, PART_RETURN, "Exchange.DeleteOk" },
	{ 40, 30, 0, PART_CALL, "Exchange.Bind" },
	{ 40, 31, 30, PART_RETURN, "Exchange.BindOk" },
	{ 40, 40, 0, PART_CALL, "Exchange.Unbind" },
	{ 40, 51, 40, PART_RETURN, "Exchange.UnbindOk" },
	{ 50, 10, 0, PART_CALL, "Queue.Declare" },
	{ 50, 11, 10, PART_RETURN, "Queue.DeclareOk" },
	{ 50, 20, 0, PART_CALL, "Queue.Bind" },
	{ 50, 21, 20, PART_RETURN, "Queue.BindOk" },
	{ 50, 30, 0, PART_CALL, "Queue.Purge" },
	{ 50, 31, 30, PART_RETURN, "Queue.PurgeOk" },
	{ 50, 40, 0, PART_CALL, "Queue.Delete" },
	{ 50, 41, 40, PART_RETURN, "Queue.DeleteOk" },
	{ 50, 50, 0, PART_CALL, "Queue.Unbind" },
	{ 50, 51, 50, PART_RETURN, "Queue.UnbindOk" },
	{ 60, 10, 0, PART_CALL, "Basic.Qos" },
	{ 60, 11, 10, PART_RETURN, "Basic.QosOk" },
	{ 60, 20, 0, PART_CALL, "Basic.Consume" },
	{ 60, 21, 20, PART_RETURN, "Basic.ConsumeOk" },
	{ 60, 30, 0, PART_CALL, "Basic.Cancel" },
	{ 60, 31, 30, PART_RETURN, "Basic.CancelOk" },
	{ 60, 40, 0, PART_CONTENT, "Basic.Publish" },
	{ 60, 50, 0, PART_CONTENT, "Basic.Return" },
	{ 60, 60, 0, PART_CONTENT, "Basic.Deliver" },
	{ 60, 70, 0, PART_CALL, "Basic.Get" },
	{ 60, 71, 70, PART_RETURN, "Basic.GetOk" },
	{ 60, 72, 70, PART_RETURN, "Basic.GetEmpty" },
	{ 60, 80, 0, PART_SENT, "Basic.Ack" },
	{ 60, 90, 0, PART_SENT, "Basic.Reject" },
	{ 60, 100, 0, PART_SENT, "Basic.RecoverAsync" },
	{ 60, 110, 0, PART_CALL, "Basic.Recover" },
	{ 60, 111, 110, PART_RETURN, "Basic.RecoverOk" },
	{ 60, 120, 0, PART_SENT, "Basic.Nack" },
	{ 85, 10, 0, PART_CALL, "Confirm.Select" },
	{ 85, 11, 10, PART_RETURN, "Confirm.SelectOk" },
	{ 90, 10, 0, PART_CALL, "Tx.Select" },
	{ 90, 11, 10, PART_RETURN, "Tx.SelectOk" },
	{ 90, 20, 0, PART_CALL, "Tx.Commit" },
	{ 90, 21, 20, PART_RETURN, "Tx.CommitOk" },
	{ 90, 30, 0, PART_CALL, "Tx.Rollback" },
	{ 90, 31, 30, PART_RETURN, "Tx.RollbackOk" },
};

struct frame_head {
	uint64_t type, channel, bytes;
};

static bool take_frame(struct str *s, struct frame_head *f)
{
	return take_be(s, 1, &f->type) && take_be(s, 2, &f->channel) && take_be(s, 4, &f->bytes) &&
	       f->bytes <= FRAME_BYTES_MAX &&
	       (f->type == FRAME_HEARTBEAT || (f->type >= FRAME_METHOD && f->type <= FRAME_BODY));
}

static const struct method *method_of(struct str body)
{
	uint64_t class, id;

	if (!take_be(&body, 2, &class) || !take_be(&body, 2, &id))
		return NULL;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (methods[i].class == class && methods[i].id == id)
			return &methods[i];
	return NULL;
}

static bool ends_well(struct str s, uint64_t at)
{
	return at >= s.n || byte_at(s, (size_t)at) == FRAME_END;
}

static int looks(struct str s, bool from_client)
{
	struct frame_head f;
	struct str rest = s;

	if (str_starts(s, (struct str){ "AMQP\0\0\11\1", 8 }))
		return from_client ? 99 : 0;
	if (!take_frame(&rest, &f) || !ends_well(s, 7 + f.bytes))
		return 0;
	if (f.type == FRAME_METHOD && method_of(rest) && f.bytes < 65536)
		return 7 + f.bytes < s.n ? 80 : 30;
	return f.type == FRAME_HEARTBEAT && !f.bytes && s.n >= 8 ? 70 : 0;
}

static struct str take_short(struct str *s)
{
	struct str v = { 0 };
	uint64_t n;

	if (take_be(s, 1, &n))
		take_part(s, n, &v);
	return v;
}

/* What it is about: the queue or exchange that the arguments name. */
static struct str object_of(const struct method *m, struct str body)
{
	struct str s = str_skip(body, 4);
	bool is_named = m->class == 40 || m->class == 50 ||
			(m->class == 60 && (m->id == 20 || m->id == 40 || m->id == 70));

	if (!is_named || m->part == PART_RETURN)
		return (struct str){ 0 };
	s = str_skip(s, 2); /* a field that is no longer used */
	return str_head(take_short(&s), 64);
}

/* Behind a method with content comes a frame with its headers: where names of requests are. */
static int take_content(struct talk *t, struct str s, struct message *m)
{
	struct frame_head f;
	struct str rest = s;

	if (!s.n || s.n < 8)
		return 0;
	if (!take_frame(&rest, &f) || f.type != FRAME_HEADER || f.bytes > 65536)
		return 1;
	if (rest.n < f.bytes)
		return 0;
	if (talk_may_trace(t))
		trace_scan(&m->trace, str_head(rest, (size_t)f.bytes));
	return 1;
}

static bool take_method(struct talk *t, const struct method *method, const struct frame_head *f,
			struct str frame)
{
	struct str body = str_head(str_skip(frame, 7), (size_t)f->bytes), object;
	struct message m = { .bytes = f->bytes + 8 };
	struct buf title = { 0 };

	object = object_of(method, body);
	buf_add(&title, str_of(method->name));
	if (object.n)
		buf_char(&title, ' ');
	buf_add(&title, object);
	m.title = buf_str(&title);
	m.match = f->channel << 32 | (uint64_t)method->class << 16 |
		  (method->part == PART_RETURN ? method->answers : method->id);
	if (method->part == PART_CONTENT &&
	    !take_content(t, str_skip(frame, (size_t)f->bytes + 8), &m) && !talk_is_cut(t)) {
		buf_done(&title);
		return false;
	}
	if (method->part == PART_CALL)
		talk_call(t, &m);
	else if (method->part == PART_RETURN)
		talk_return(t, &m);
	else
		talk_sent(t, &m);
	buf_done(&title);
	return true;
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct str rest = s;
	struct frame_head f;
	const struct method *m;

	(void)side;
	if (s.n < 8)
		return PROTO_MORE;
	if (str_starts(s, STR("AMQP")))
		return 8;
	if (!take_frame(&rest, &f) || !ends_well(s, 7 + f.bytes))
		return PROTO_LOST;
	if (f.type != FRAME_METHOD)
		return (int64_t)f.bytes + 8;
	if (f.bytes > 1 << 20)
		return PROTO_LOST;
	if (rest.n < f.bytes + 1 && !talk_is_cut(t))
		return PROTO_MORE;
	m = method_of(rest);
	if (m && !take_method(t, m, &f, s))
		return PROTO_MORE;
	return (int64_t)f.bytes + 8;
}

const struct proto proto_amqp = {
	.name = "amqp",
	.ports = { 5672 },
	.looks = looks,
	.parse = parse,
};
