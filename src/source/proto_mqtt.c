/* MQTT 3.1, 3.1.1 and 5: packets with an id are answered by it, publishing at level 0 never is. */
#include "base/buf.h"
#include "source/packet_bytes.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define LOOK_BYTES 1024

enum packet_type {
	MQTT_CONNECT = 1,
	MQTT_CONNACK,
	MQTT_PUBLISH,
	MQTT_PUBACK,
	MQTT_PUBREC,
	MQTT_PUBREL,
	MQTT_PUBCOMP,
	MQTT_SUBSCRIBE,
	MQTT_SUBACK,
	MQTT_UNSUBSCRIBE,
	MQTT_UNSUBACK,
	MQTT_PINGREQ,
	MQTT_PINGRESP,
	MQTT_DISCONNECT,
	MQTT_AUTH,
};

struct mqtt_packet {
	enum packet_type type;
	unsigned flags;
	uint64_t bytes; /* of all */
	struct str body;
};

static const char *const names[] = { "",          "CONNECT",  "CONNACK",     "PUBLISH",
				     "PUBACK",    "PUBREC",   "PUBREL",      "PUBCOMP",
				     "SUBSCRIBE", "SUBACK",   "UNSUBSCRIBE", "UNSUBACK",
				     "PINGREQ",   "PINGRESP", "DISCONNECT",  "AUTH" };

/* The first byte and the length, seven bits a byte, of at most four; 1, 0 for more, -1 for none. */
static int take_packet(struct str s, struct mqtt_packet *p)
{
	struct str rest = str_skip(s, 1);
	uint64_t n = 0, byte = 0x80;

	p->type = byte_at(s, 0) >> 4;
	p->flags = byte_at(s, 0) & 15;
	if (!s.n)
		return 0;
	if (!p->type || (p->type != MQTT_PUBLISH &&
			 p->flags != (p->type == MQTT_PUBREL || p->type == MQTT_SUBSCRIBE ||
						      p->type == MQTT_UNSUBSCRIBE
					      ? 2u
					      : 0u)))
		return -1;
	if (p->type == MQTT_PUBLISH && (p->flags & 6) == 6)
		return -1;
	for (unsigned i = 0; i < 4 && byte & 0x80; i++) {
		if (!take_be(&rest, 1, &byte))
			return 0;
		n |= (byte & 0x7f) << 7 * i;
	}
	if (byte & 0x80)
		return -1;
	p->bytes = s.n - rest.n + n;
	p->body = str_head(rest, (size_t)n);
	return 1;
}

static bool is_connect(struct str body)
{
	return str_starts(body, (struct str){ "\0\4MQTT", 6 }) ||
	       str_starts(body, (struct str){ "\0\6MQIsdp", 8 });
}

static bool is_from_client(enum packet_type type)
{
	return type == MQTT_CONNECT || type == MQTT_SUBSCRIBE || type == MQTT_UNSUBSCRIBE ||
	       type == MQTT_PINGREQ;
}

static bool is_from_server(enum packet_type type)
{
	return type == MQTT_CONNACK || type == MQTT_SUBACK || type == MQTT_UNSUBACK ||
	       type == MQTT_PINGRESP;
}

/* Flags and a code, and from version 5 on properties with their length in front. */
static bool looks_like_welcome(struct str body)
{
	if (byte_at(body, 0) > 1 || body.n < 2)
		return false;
	return body.n == 2 ? byte_at(body, 1) <= 5
			   : byte_at(body, 2) >= 0x80 || byte_at(body, 2) == body.n - 3;
}

static bool has_topic(struct str body, uint64_t bytes)
{
	uint64_t n;

	if (!take_be(&body, 2, &n) || !n || n + 2 > bytes)
		return false;
	for (size_t i = 0; i < n && i < body.n; i++)
		if ((unsigned char)body.p[i] < ' ')
			return false;
	return true;
}

static int looks(struct str s, bool from_client)
{
	struct mqtt_packet p;

	if (take_packet(s, &p) != 1 || (from_client ? is_from_server : is_from_client)(p.type))
		return 0;
	if (p.type == MQTT_CONNECT)
		return is_connect(p.body) ? 97 : 0;
	if (p.type == MQTT_CONNACK)
		return looks_like_welcome(p.body) && p.bytes == s.n ? 65 : 0;
	if (p.type == MQTT_PUBLISH && has_topic(p.body, p.bytes))
		return 20;
	return p.bytes == s.n ? 20 : 0;
}

static uint64_t id_of(const struct mqtt_packet *p)
{
	return p->body.n >= 2 ? bytes_be(p->body.p, 2) : 0;
}

static void publish(struct talk *t, const struct mqtt_packet *p, struct message *m)
{
	struct str body = p->body, topic = { 0 };
	struct buf title = { 0 };
	uint64_t n, id = 0;

	if (!take_be(&body, 2, &n) || !take_part(&body, n, &topic))
		topic = (struct str){ 0 };
	buf_add(&title, STR("PUBLISH "));
	buf_add(&title, str_head(topic, 64));
	m->title = buf_str(&title);
	if (talk_may_trace(t))
		trace_scan(&m->trace, body);
	if (p->flags & 6 && take_be(&body, 2, &id)) {
		m->match = (uint64_t)MQTT_PUBLISH << 16 | id;
		talk_call(t, m);
	} else {
		talk_sent(t, m);
	}
	buf_done(&title);
}

static void answer(struct talk *t, struct message *m, enum packet_type what, uint64_t id)
{
	m->match = (uint64_t)what << 16 | id;
	talk_return(t, m);
}

static void ask(struct talk *t, struct message *m, enum packet_type what, uint64_t id)
{
	m->match = (uint64_t)what << 16 | id;
	talk_call(t, m);
}

static void take(struct talk *t, const struct mqtt_packet *p)
{
	struct message m = { .title = str_of(names[p->type]), .bytes = p->bytes };

	switch (p->type) {
	case MQTT_PUBLISH:
		publish(t, p, &m);
		break;
	case MQTT_CONNECT:
	case MQTT_PINGREQ:
		ask(t, &m, p->type, 0);
		break;
	case MQTT_SUBSCRIBE:
	case MQTT_UNSUBSCRIBE:
	case MQTT_PUBREL:
		ask(t, &m, p->type, id_of(p));
		break;
	case MQTT_CONNACK:
		m.has_status = true;
		m.status = byte_at(p->body, 1);
		m.is_error = m.status != 0;
		answer(t, &m, MQTT_CONNECT, 0);
		break;
	case MQTT_PINGRESP:
		answer(t, &m, MQTT_PINGREQ, 0);
		break;
	case MQTT_PUBACK:
	case MQTT_PUBREC:
		answer(t, &m, MQTT_PUBLISH, id_of(p));
		break;
	case MQTT_PUBCOMP:
	case MQTT_SUBACK:
	case MQTT_UNSUBACK:
		answer(t, &m, p->type - 1, id_of(p));
		break;
	default:
		talk_sent(t, &m);
		break;
	}
}

static int64_t parse(struct talk *t, unsigned side, struct str s)
{
	struct mqtt_packet p;
	int r = take_packet(s, &p);

	(void)side;
	if (r <= 0)
		return r ? PROTO_LOST : PROTO_MORE;
	if (s.n < p.bytes && s.n < LOOK_BYTES && !talk_is_cut(t))
		return PROTO_MORE;
	take(t, &p);
	return (int64_t)p.bytes;
}

const struct proto proto_mqtt = {
	.name = "mqtt",
	.ports = { 1883 },
	.looks = looks,
	.parse = parse,
};
