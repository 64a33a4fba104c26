/*
 * Packets -> connections -> bytes in order -> messages. Everything is done in one pass, and what is
 * kept is bounded: the number of connections, what each holds back, and the fragments.
 *
 * Several captures of the same traffic give their messages the same ids (proto_talk_calls.c), and
 * packets that one capture has twice are noticed by TCP's numbers, or, for datagrams, by their
 * content and time.
 */
#include "source/capture_packets.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/attr.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/capture_names.h"
#include "source/packet_flows.h"
#include "source/packet_fragments.h"
#include "source/packet_order.h"
#include "source/pcap.h"
#include "source/proto_talk.h"
#include "source/source.h"
#include "source/title.h"

#define FLOWS_MAX ((size_t)128 << 10)
#define HELD_BYTES_MAX ((size_t)256 << 20) /* of all connections together */
#define BATCH 512
#define TWICE_NS (500 * NS_MS) /* a copy of a datagram comes sooner, a second try later */
#define TEXT_BYTES_MAX 256

struct capture_packets {
	struct sink *sink;
	struct talk_sink talks;
	struct capture_names *names;
	struct capture_parties parties; /* find may be NULL */
	struct flows *flows;
	struct packet_fragments *fragments;
	struct packet_order *order;
	size_t held; /* bytes that all connections hold back */
	uint32_t file;
	uint64_t packet;
	struct flow *flow; /* of the packet at hand … */
	unsigned side;     /* … and who sends it */
	VEC(struct event) events;
	struct arena arena; /* of the strings in events */
	struct buf attrs;
	int failure;
	struct error *err;
};

static void deliver(struct capture_packets *c)
{
	if (c->events.nr && !c->failure)
		c->failure = c->sink->events(c->sink->to, c->events.v, c->events.nr, c->err);
	vec_clear(&c->events);
	arena_reset(&c->arena);
}

static struct str node_of(struct capture_packets *c, const struct talk *t, unsigned side)
{
	uint32_t *note = &talk_notes((struct talk *)t)[side];

	if (!*note)
		*note = capture_names_sym(c->names, talk_end(t, side), side != talk_client(t));
	return capture_names_str(c->names, *note);
}

/* The party at one end; empty where nobody knows. */
static struct capture_party party_of(struct capture_packets *c, const struct talk *t, unsigned side)
{
	const struct endpoint *end = talk_end(t, side);
	bool is_server = side != talk_client(t);
	struct capture_party p;
	sym_t rule;

	if (!c->parties.find ||
	    !c->parties.find(c->parties.to, end, talk_end(t, !side), is_server, &p))
		return (struct capture_party){ .node = node_of(c, t, side) };
	rule = capture_names_rule(c->names, end, is_server);
	p.node = rule ? capture_names_str(c->names, rule) : arena_str(&c->arena, p.node);
	return p;
}

static struct str thread_of(struct capture_packets *c, const struct capture_party *p)
{
	char text[16];

	if (!p->tid)
		return (struct str){ 0 };
	snprintf(text, sizeof(text), "%u", p->tid);
	return arena_str(&c->arena, str_of(text));
}

static struct str attrs_of(struct capture_packets *c, const struct talk *t, const struct message *m,
			   const struct capture_party *from)
{
	buf_clear(&c->attrs);
	attr_add_str(&c->attrs, STR("protocol"), str_of(talk_protocol(t)));
	if (m->has_status)
		attr_add_int(&c->attrs, STR("status"), m->status);
	if (m->bytes)
		attr_add_int(&c->attrs, STR("bytes"), (int64_t)m->bytes);
	if (from->pid) {
		attr_add_str(&c->attrs, STR("process"), from->process);
		attr_add_int(&c->attrs, STR("pid"), from->pid);
	}
	return arena_str(&c->arena, buf_str(&c->attrs));
}

/* Sixteen hexadecimal digits; printf is most of the work of a small message. */
static struct str id_text(struct arena *a, uint64_t uid)
{
	char text[16];

	for (unsigned i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[uid >> (60 - 4 * i) & 15];
	return arena_str(a, (struct str){ text, sizeof(text) });
}

static void take_message(void *to, const struct talk *t, const struct message *m)
{
	struct capture_packets *c = to;
	struct event ev = { .ns = m->ns,
			    .kind = EVENT_MESSAGE,
			    .file = c->file,
			    .nr_lines = 1,
			    .line = c->packet,
			    .duration = -1,
			    .op = m->op };
	struct capture_party from = party_of(c, t, m->from);

	ev.node = from.node;
	ev.thread = thread_of(c, &from);
	ev.attrs = attrs_of(c, t, m, &from);
	ev.peer = party_of(c, t, !m->from).node;
	ev.point = str_of(talk_protocol(t));
	ev.title = m->title.n ? title_mask(&c->arena, m->title) : (struct str){ 0 };
	ev.text = arena_str(&c->arena, str_head(m->text.n ? m->text : m->title, TEXT_BYTES_MAX));
	ev.id = id_text(&c->arena, m->uid);
	ev.key_kind = m->op == MESSAGE_SENT ? KEY_NONE : KEY_CALL;
	ev.key = ev.key_kind ? ev.id : (struct str){ 0 };
	if (m->trace.kind && !c->talks.is_blind) {
		ev.key_kind = m->trace.kind;
		ev.key = arena_str(&c->arena, trace_key(&m->trace));
		ev.span = arena_str(&c->arena, trace_span(&m->trace));
	}
	ev.level = m->is_error ? LEVEL_ERROR : LEVEL_NONE;
	c->sink->losses->count[LOSS_MESSAGES_NO_ID] += ev.key_kind == KEY_NONE;
	vec_push(&c->events, ev);
	if (c->events.nr >= BATCH)
		deliver(c);
}

/* Made when there is something to say: most connections that are only tried say nothing. */
static struct talk *talk_of(struct capture_packets *c)
{
	struct flow *f = c->flow;

	if (!f->talk)
		f->talk = talk_new(&c->talks, f->end, f->client, f->proto == PACKET_UDP);
	return f->talk;
}

static void take_bytes(void *to, uint32_t seq, struct str bytes, int64_t ns)
{
	struct capture_packets *c = to;

	talk_bytes(talk_of(c), c->side, seq, bytes, ns);
}

static void take_gap(void *to, uint32_t seq, uint32_t nr, int64_t ns, bool is_cut)
{
	struct capture_packets *c = to;

	talk_gap(talk_of(c), c->side, &(struct talk_missing){ seq, nr, ns, is_cut });
}

static void flush_side(struct capture_packets *c, struct flow *f, unsigned side)
{
	const struct tcp_reader reader = { c, take_bytes, take_gap };

	c->flow = f;
	c->side = side;
	tcp_flush(&f->tcp[side], &reader, c->sink->losses);
}

static void end_talk(struct capture_packets *c, struct flow *f)
{
	if (f->state != FLOW_OPEN)
		return;
	flush_side(c, f, 0);
	flush_side(c, f, 1);
	talk_free(f->talk);
	f->talk = NULL;
}

static void close_flow(struct capture_packets *c, struct flow *f)
{
	end_talk(c, f);
	flows_close(c->flows, f);
}

static size_t weight(const struct flow *f)
{
	return f->tcp[0].held_bytes + f->tcp[1].held_bytes + (f->talk ? talk_held(f->talk) : 0);
}

/* Too many connections: one that still talks is a loss, but for those at the end of the file. */
static void forget_flow(void *to, struct flow *f)
{
	struct capture_packets *c = to;

	c->sink->losses->count[LOSS_STREAMS_FORGOTTEN] +=
		c->fragments && f->talk && f->state == FLOW_OPEN && f->proto == PACKET_TCP;
	c->held -= weight(f);
	end_talk(c, f);
}

static void start_flow(struct capture_packets *c, struct flow *f, const struct packet *p,
		       unsigned side)
{
	bool is_opened = p->flags & PACKET_SYN;
	int client = is_opened ? (int)(p->flags & PACKET_ACK ? !side : side) : -1;

	c->sink->losses->count[LOSS_STREAMS_MIDWAY] += !is_opened;
	flows_reopen(c->flows, f);
	f->ends = 0;
	f->client = (int8_t)client;
	for (unsigned i = 0; i < 2; i++) {
		tcp_done(&f->tcp[i]);
		f->tcp[i] = (struct tcp_side){ 0 };
	}
	/* a packet that only keeps the connection alive is one number behind */
	if (is_opened || p->payload.n || p->missing)
		tcp_start(&f->tcp[side], p->seq + is_opened);
	if (p->flags & PACKET_ACK)
		tcp_start(&f->tcp[!side], p->ack);
}

/* Does the packet begin a new connection between the same two ends. */
static bool is_new_connection(const struct flow *f, const struct packet *p, unsigned side)
{
	if (f->state == FLOW_NEW)
		return !(p->flags & PACKET_RST);
	if (p->flags & PACKET_SYN && !(p->flags & PACKET_ACK))
		return tcp_is_new(&f->tcp[side], p->seq + 1);
	return p->payload.n && tcp_is_foreign(&f->tcp[side], p->seq);
}

static void take_tcp(struct capture_packets *c, struct flow *f, const struct packet *p,
		     unsigned side)
{
	const struct tcp_reader reader = { c, take_bytes, take_gap };
	const struct tcp_segment seg = { p->seq + !!(p->flags & PACKET_SYN), p->payload, p->missing,
					 p->ns };
	const struct tcp_receipt receipt = { p->ack, p->payload.n || p->missing, p->ns };

	if (is_new_connection(f, p, side)) {
		end_talk(c, f);
		start_flow(c, f, p, side);
	}
	if (f->state != FLOW_OPEN) {
		c->sink->losses->count[LOSS_PACKETS_TWICE] +=
			f->state == FLOW_CLOSED && p->payload.n;
		return;
	}
	c->flow = f;
	if (p->flags & PACKET_SYN && !f->tcp[side].is_started)
		tcp_start(&f->tcp[side], p->seq + 1);
	if (p->flags & PACKET_ACK) {
		c->side = !side;
		tcp_ack(&f->tcp[!side], &receipt, &reader, c->sink->losses);
	}
	c->side = side;
	tcp_add(&f->tcp[side], &seg, &reader, c->sink->losses);
	if (p->flags & PACKET_FIN)
		f->ends |= (uint8_t)(1u << side);
	if (p->flags & PACKET_RST || (f->ends == 3 && !f->tcp[0].held && !f->tcp[1].held))
		close_flow(c, f);
}

static void take_udp(struct capture_packets *c, struct flow *f, const struct packet *p,
		     unsigned side)
{
	uint64_t hash = str_hash(p->payload) ^ (uint64_t)p->ip_id << 32;
	int64_t since = p->ns - f->last_ns[side];

	if (hash == f->last_hash[side] && since >= 0 && since < TWICE_NS) {
		c->sink->losses->count[LOSS_PACKETS_TWICE]++;
		return;
	}
	f->last_hash[side] = hash;
	f->last_ns[side] = p->ns;
	if (!p->payload.n)
		return;
	c->flow = f;
	f->state = FLOW_OPEN;
	f->client = -1;
	talk_datagram(talk_of(c), side, p->payload, p->ns);
}

static void take_packet(struct capture_packets *c, const struct packet *p)
{
	unsigned side;
	struct flow *f = flows_get(c->flows, p, &side);

	c->held -= weight(f);
	if (p->proto == PACKET_TCP)
		take_tcp(c, f, p, side);
	else
		take_udp(c, f, p, side);
	c->held += weight(f);
	while (c->held > HELD_BYTES_MAX && flows_drop(c->flows))
		;
}

static void take_frame(void *to, const struct pcap_frame *frame)
{
	struct capture_packets *c = to;
	struct packet p;

	c->packet = frame->number;
	if (packet_of_frame(c->fragments, frame, &p, c->sink->losses))
		take_packet(c, &p);
}

int capture_packets_new(struct capture_packets **out, const struct source_options *o, uint32_t file,
			struct sink *sink, struct error *err)
{
	struct capture_packets *c = mem_zalloc(sizeof(*c));
	int r;

	c->sink = sink;
	c->err = err;
	c->file = file;
	c->names = capture_names_new();
	r = o->names ? capture_names_read(c->names, o->names, err) : 0;
	if (r < 0) {
		capture_names_free(c->names);
		free(c);
		return r;
	}
	c->talks = (struct talk_sink){ c, take_message, sink->losses, o->is_blind };
	c->flows = flows_new(FLOWS_MAX, forget_flow, c);
	c->fragments = packet_fragments_new();
	c->order = packet_order_new(take_frame, c);
	*out = c;
	return 0;
}

void capture_packets_name(struct capture_packets *c, struct str address, struct str name)
{
	const struct address a = address_of(address);

	capture_names_add(c->names, &a, name);
}

int capture_packets_add(struct capture_packets *c, const struct pcap_frame *frame)
{
	packet_order_add(c->order, frame);
	return c->failure;
}

void capture_packets_know(struct capture_packets *c, const struct capture_parties *parties)
{
	c->parties = *parties;
}

int capture_packets_take(struct capture_packets *c, const struct packet *p, uint64_t number)
{
	c->packet = number;
	take_packet(c, p);
	return c->failure;
}

int capture_packets_end(struct capture_packets *c)
{
	int failure;

	packet_order_free(c->order);
	packet_fragments_free(c->fragments, c->sink->losses);
	c->fragments = NULL;
	flows_free(c->flows);
	deliver(c);
	failure = c->failure;
	vec_done(&c->events);
	arena_done(&c->arena);
	buf_done(&c->attrs);
	capture_names_free(c->names);
	free(c);
	return failure;
}
