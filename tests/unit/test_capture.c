#include "unit.h"

#include "base/time.h"
#include "collected.h"
#include "packets.h"
#include "source/capture_names.h"
#include "source/formats.h"

#define GET STR("GET /cart/7?u=1 HTTP/1.1\r\nHost: a\r\n\r\n")
#define OK STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

static struct collected read_packets(struct packets *p)
{
	struct collected c = collect(&source_capture, buf_str(&p->file));

	buf_done(&p->file);
	return c;
}

static unsigned count(const struct collected *c, enum message_op op)
{
	unsigned nr = 0;

	vec_each (&c->events, e)
		nr += e->op == op;
	return nr;
}

static void a_request_and_its_answer_are_a_call_and_a_return(void **state)
{
	struct packets p = packets_begin(8080);
	struct collected c;
	struct event *e;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, GET);
	packets_say(&p, 1, str_head(OK, 30));
	packets_say(&p, 1, str_skip(OK, 30));
	packets_close(&p);
	c = read_packets(&p);
	e = c.events.v;
	assert_int_equal(c.events.nr, 2);
	assert_true(e[0].kind == EVENT_MESSAGE && e[0].op == MESSAGE_CALL);
	assert_str_equal(e[0].node, "10.0.0.1");
	assert_str_equal(e[0].peer, "10.0.0.2:8080");
	assert_str_equal(e[0].title, "GET /cart/<*>");
	assert_str_equal(e[0].point, "http");
	assert_true(e[1].op == MESSAGE_RETURN && e[0].key_kind == KEY_CALL);
	assert_true(str_eq(e[0].key, e[1].key) && str_eq(e[0].id, e[1].id));
	/* a call is as old as its first byte, a return as its last */
	assert_int_equal(e[0].ns, PACKETS_T0 * NS_S + 2 * NS_MS);
	assert_int_equal(e[1].ns, PACKETS_T0 * NS_S + 4 * NS_MS);
	assert_int_equal(collected_attr(e[1].attrs, "status").i, 200);
	collected_done(&c);
}

static void packets_seen_at_both_ends_count_once(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	packets_open(&p);
	for (unsigned i = 0; i < 10; i++) {
		packets_tcp_at(&p, 0, p.seq[0], 0x18, GET);
		packets_say(&p, 0, GET);
		packets_tcp_at(&p, 1, p.seq[1], 0x18, OK);
		packets_say(&p, 1, OK);
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 10);
	assert_int_equal(count(&c, MESSAGE_RETURN), 10);
	assert_int_equal(c.losses.count[LOSS_PACKETS_TWICE], 20);
	collected_done(&c);
}

static void the_same_message_has_the_same_id_in_every_capture(void **state)
{
	struct packets p = packets_begin(80), late;
	struct collected a, b;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, GET);
	packets_say(&p, 1, OK);
	late = packets_begin(80); /* began after the handshake and the first request */
	late.seq[0] = p.seq[0];
	late.seq[1] = p.seq[1];
	packets_say(&p, 0, GET);
	packets_say(&p, 1, OK);
	packets_say(&late, 0, GET);
	packets_say(&late, 1, OK);
	a = read_packets(&p);
	b = read_packets(&late);
	assert_int_equal(a.events.nr, 4);
	assert_int_equal(b.events.nr, 2);
	assert_true(str_eq(a.events.v[2].id, b.events.v[0].id));
	assert_false(str_eq(a.events.v[0].id, b.events.v[0].id));
	assert_int_equal(b.losses.count[LOSS_STREAMS_MIDWAY], 1);
	collected_done(&a);
	collected_done(&b);
}

static void a_lost_packet_costs_no_more_than_its_message(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	packets_open(&p);
	for (unsigned i = 0; i < 20; i++) {
		if (i == 5)
			p.seq[0] += (uint32_t)GET.n; /* never captured */
		else
			packets_say(&p, 0, GET);
		packets_say(&p, 1, OK);
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 19);
	assert_int_equal(count(&c, MESSAGE_RETURN), 20);
	assert_int_equal(c.losses.count[LOSS_STREAM_GAPS], 1);
	collected_done(&c);
}

static void a_lost_part_of_a_body_costs_nothing(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, GET);
	packets_say(&p, 1, STR("HTTP/1.1 200 OK\r\nContent-Length: 1100\r\n\r\n"));
	p.seq[1] += 1000;
	for (unsigned i = 0; i < 10; i++)
		packets_say(&p, 1, STR("0123456789"));
	packets_say(&p, 0, GET);
	packets_say(&p, 1, OK);
	packets_close(&p);
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 2);
	assert_int_equal(count(&c, MESSAGE_RETURN), 2);
	assert_int_equal(c.losses.count[LOSS_PROTOCOL_LOST], 0);
	collected_done(&c);
}

static void a_short_snap_length_still_gives_calls_and_returns(void **state)
{
	static const uint32_t snaps[] = { 54, 64, 80 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct packets p = packets_begin(80);
		struct collected c;

		p.snap = snaps[i];
		packets_open(&p);
		for (unsigned k = 0; k < 20; k++) {
			packets_say(&p, 0, GET);
			packets_say(&p, 1, OK);
		}
		packets_close(&p);
		c = read_packets(&p);
		assert_int_equal(count(&c, MESSAGE_CALL), 20);
		assert_int_equal(count(&c, MESSAGE_RETURN), 20);
		assert_int_equal(c.losses.count[LOSS_PACKETS_CUT], 40);
		collected_done(&c);
	}
}

static void packets_out_of_order_in_the_file_are_put_in_order(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	packets_open(&p);
	for (unsigned i = 0; i < 20; i++) {
		int64_t now = p.us;
		uint32_t seq = p.seq[0];

		p.us = now + 1000; /* the answer stands in front of what it answers */
		p.seq[0] += (uint32_t)GET.n;
		packets_say(&p, 1, OK);
		p.us = now;
		packets_tcp_at(&p, 0, seq, 0x18, GET);
		p.us = now + 2000;
	}
	c = read_packets(&p);
	assert_int_equal(c.events.nr, 40);
	for (unsigned i = 0; i < 40; i += 2) {
		assert_true(c.events.v[i].op == MESSAGE_CALL &&
			    c.events.v[i + 1].op == MESSAGE_RETURN);
		assert_true(str_eq(c.events.v[i].id, c.events.v[i + 1].id));
	}
	collected_done(&c);
}

static void an_unknown_protocol_goes_by_turns(void **state)
{
	struct packets p = packets_begin(7777);
	struct collected c;

	(void)state;
	packets_open(&p);
	for (unsigned i = 0; i < 3; i++) {
		packets_say(&p, 0, STR("\x7fzz"));
		packets_say(&p, 0, STR("\x7fzz"));
		packets_say(&p, 1, STR("\x7fyy"));
		packets_say(&p, 1, STR("\x7fyy"));
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 3);
	assert_int_equal(count(&c, MESSAGE_RETURN), 3);
	assert_int_equal(c.events.v[0].ns, PACKETS_T0 * NS_S + 2 * NS_MS);
	assert_int_equal(c.events.v[1].ns, PACKETS_T0 * NS_S + 5 * NS_MS);
	assert_int_equal(c.losses.count[LOSS_MESSAGES_BY_TURN], 6);
	collected_done(&c);
}

static void datagrams_are_paired_and_copies_dropped(void **state)
{
	static const struct str ask = { "\x12\x34\1\0\0\1\0\0\0\0\0\0\2db\5local\0\0\1\0\1", 26 };
	static const struct str say = { "\x12\x34\x81\x83\0\1\0\0\0\0\0\0\2db\5local\0\0\1\0\1",
					26 };
	struct packets p = packets_begin(53);
	struct collected c;

	(void)state;
	packets_udp(&p, 0, 1, ask);
	packets_udp(&p, 0, 1, ask);
	packets_udp(&p, 1, 1, say);
	packets_udp(&p, 1, 1, say);
	c = read_packets(&p);
	assert_int_equal(c.events.nr, 2);
	assert_str_equal(c.events.v[0].title, "A db.local");
	assert_int_equal(collected_attr(c.events.v[1].attrs, "status").i, 3);
	assert_true(str_eq(c.events.v[0].id, c.events.v[1].id));
	assert_int_equal(c.losses.count[LOSS_PACKETS_TWICE], 2);
	collected_done(&c);
}

static void a_trace_header_names_the_request_unless_blind(void **state)
{
	const struct str ask =
		STR("GET / HTTP/1.1\r\ntraceparent: "
		    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n");
	struct packets p = packets_begin(80);
	struct collected c, blind = { 0 };
	struct source_options options = { .is_blind = true };
	struct sink sink = { &blind, collected_file, collected_events, NULL, NULL, &blind.losses };
	struct input *in;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, ask);
	packets_say(&p, 1, OK);
	assert_int_equal(input_of_bytes(&in, "x", buf_str(&p.file), &blind.err), 0);
	assert_int_equal(source_capture.read(in, &options, &sink, &blind.err), 0);
	input_close(in);
	c = read_packets(&p);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(c.events.v[i].key_kind, KEY_TRACE);
		assert_str_equal(c.events.v[i].key, "0af7651916cd43dd8448eb211c80319c");
		assert_str_equal(c.events.v[i].span, "b7ad6b7169203331");
		assert_int_equal(blind.events.v[i].key_kind, KEY_CALL);
	}
	collected_done(&c);
	collected_done(&blind);
}

static void a_million_bytes_of_handshakes_stay_bounded(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		p.port[0] = (uint16_t)(10000 + i);
		p.seq[0] = i * 7;
		packets_open(&p);
	}
	c = read_packets(&p);
	assert_int_equal(c.events.nr, 0);
	collected_done(&c);
}

static void names_are_taken_from_the_file(void **state)
{
	struct capture_names *n = capture_names_new();
	struct endpoint e = { .port = 5432 };
	struct error err = { 0 };
	struct input *in;

	(void)state;
	assert_int_equal(input_of_bytes(&in, "names",
					STR("# who is who\n"
					    "10.0.0.5:5432 orders-db\n10.0.0.5 host-5 alias\n"
					    "*:6379 cache\n[::1]:80 local\n"),
					&err),
			 0);
	assert_int_equal(capture_names_parse(n, in, &err), 0);
	input_close(in);
	assert_true(address_parse(STR("10.0.0.5"), &e.address));
	assert_str_equal(capture_names_server(n, &e), "orders-db");
	e.port = 9;
	assert_str_equal(capture_names_server(n, &e), "host-5");
	assert_str_equal(capture_names_client(n, &e), "host-5");
	assert_true(address_parse(STR("10.0.0.6"), &e.address));
	assert_str_equal(capture_names_server(n, &e), "10.0.0.6:9");
	assert_str_equal(capture_names_client(n, &e), "10.0.0.6");
	e.port = 6379;
	assert_str_equal(capture_names_server(n, &e), "cache");
	assert_true(address_parse(STR("::1"), &e.address));
	e.port = 80;
	assert_str_equal(capture_names_server(n, &e), "local");
	e.port = 81;
	assert_str_equal(capture_names_server(n, &e), "[::1]:81");
	assert_int_equal(input_of_bytes(&in, "names", STR("10.0.0.5\n"), &err), 0);
	assert_true(capture_names_parse(n, in, &err) < 0);
	assert_non_null(strstr(err.msg, "line 1"));
	input_close(in);
	capture_names_free(n);
}

static void times_that_go_back_lose_nothing(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	p.us = 10000000;
	packets_open(&p);
	for (unsigned i = 0; i < 30; i++) {
		if (i == 10)
			p.us -= 5000000 - 1; /* the clock was set */
		packets_say(&p, 0, GET);
		packets_say(&p, 1, OK);
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 30);
	assert_int_equal(count(&c, MESSAGE_RETURN), 30);
	collected_done(&c);
}

/* Ethernet, IPv6 and TCP with the times that are usually there: 86 bytes in front of the payload.
 */
static void say_ipv6(struct packets *p, unsigned from, struct str data)
{
	struct buf b = { 0 };

	buf_add(&b, (struct str){ "\0\0\0\0\0\0\0\0\0\0\0\0\x86\xdd", 14 });
	put_be(&b, 0x60000000, 4);
	put_be(&b, 32 + data.n, 2);
	put_be(&b, 0x0640, 2);
	for (unsigned i = 0; i < 2; i++) {
		put_be(&b, 0x20010db800000000, 8);
		put_be(&b, 1 + (from ^ i), 8);
	}
	put_be(&b, p->port[from], 2);
	put_be(&b, p->port[!from], 2);
	put_be(&b, p->seq[from], 4);
	put_be(&b, p->seq[!from], 4);
	put_be(&b, 0x8018ffff, 4);
	put_be(&b, 0, 4);
	put_be(&b, 0x0101080a, 4);
	put_be(&b, 0, 8);
	buf_add(&b, data);
	p->seq[from] += (uint32_t)data.n;
	packets_frame(p, buf_str(&b));
	buf_done(&b);
}

static void ipv6_cut_within_the_head_still_tells_who_speaks(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	p.snap = 64;
	for (unsigned i = 0; i < 10; i++) {
		say_ipv6(&p, 0, GET);
		say_ipv6(&p, 1, STR(""));
		say_ipv6(&p, 1, OK);
		say_ipv6(&p, 0, STR(""));
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 10);
	assert_int_equal(count(&c, MESSAGE_RETURN), 10);
	assert_str_equal(c.events.v[0].peer, "[2001:db8::2]:80");
	assert_int_equal(c.losses.count[LOSS_MESSAGES_BY_TURN], 20);
	collected_done(&c);
}

static void a_cut_message_that_told_its_length_loses_nothing_else(void **state)
{
	/* MQTT: connect, and messages of 200 bytes of which 20 are there */
	const struct str hello = { "\x10\x0e\0\4MQTT\4\2\0\x3c\0\2me", 16 };
	struct packets p = packets_begin(1883);
	char publish[200] = { 0x32, (char)0xc5, 1, 0, 2, 't', 't', 0 };
	struct collected c;

	(void)state;
	p.snap = 74;
	packets_open(&p);
	packets_say(&p, 0, hello);
	packets_say(&p, 1, (struct str){ "\x20\2\0\0", 4 });
	for (char i = 1; i < 10; i++) {
		const char answer[] = { 0x40, 2, 0, i };

		publish[8] = i;
		packets_say(&p, 0, (struct str){ publish, sizeof(publish) });
		packets_say(&p, 1, (struct str){ answer, sizeof(answer) });
	}
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 10);
	assert_int_equal(count(&c, MESSAGE_RETURN), 10);
	assert_str_equal(c.events.v[18].title, "PUBLISH tt");
	assert_true(str_eq(c.events.v[18].id, c.events.v[19].id));
	assert_int_equal(c.losses.count[LOSS_PROTOCOL_LOST], 0);
	assert_int_equal(c.losses.count[LOSS_PACKETS_CUT], 9);
	collected_done(&c);
}

static void a_host_may_talk_to_itself(void **state)
{
	struct packets p = packets_begin(80);
	struct collected c;

	(void)state;
	p.is_self = true;
	packets_open(&p);
	for (unsigned i = 0; i < 5; i++) {
		packets_say(&p, 0, GET);
		packets_say(&p, 1, OK);
	}
	packets_close(&p);
	c = read_packets(&p);
	assert_int_equal(c.events.nr, 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_str_equal(c.events.v[i].node, i % 2 ? "10.0.0.1:80" : "10.0.0.1");
		assert_str_equal(c.events.v[i].peer, i % 2 ? "10.0.0.1" : "10.0.0.1:80");
	}
	collected_done(&c);
}

static void many_connections_are_closed_without_a_loss(void **state)
{
	struct packets p = packets_begin(80), old;
	struct collected c;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, GET); /* waits for its answer while all the others come and go */
	old = p;
	for (unsigned i = 0; i < 20000; i++) {
		p.port[0] = (uint16_t)(10000 + i);
		p.seq[0] = i * 7919;
		p.seq[1] = i * 104729;
		packets_open(&p);
		packets_say(&p, 0, GET);
		packets_say(&p, 1, OK);
		packets_close(&p);
	}
	p.port[0] = old.port[0];
	p.seq[0] = old.seq[0];
	p.seq[1] = old.seq[1];
	packets_say(&p, 1, OK);
	c = read_packets(&p);
	assert_int_equal(count(&c, MESSAGE_CALL), 20001);
	assert_int_equal(count(&c, MESSAGE_RETURN), 20001);
	assert_true(str_eq(c.events.v[0].id, c.events.v[c.events.nr - 1].id));
	assert_int_equal(c.losses.count[LOSS_STREAMS_FORGOTTEN], 0);
	collected_done(&c);
}

static struct str server_at(struct capture_names *n, const char *address, uint16_t port)
{
	struct endpoint e = { .port = port };

	assert_true(address_parse(str_of(address), &e.address));
	return capture_names_server(n, &e);
}

static struct str client_at(struct capture_names *n, const char *address)
{
	struct endpoint e = { .port = 45678 };

	assert_true(address_parse(str_of(address), &e.address));
	return capture_names_client(n, &e);
}

static struct capture_names *names_of(struct str text)
{
	struct capture_names *n = capture_names_new();
	struct error err = { 0 };
	struct input *in;

	assert_int_equal(input_of_bytes(&in, "names", text, &err), 0);
	if (capture_names_parse(n, in, &err) < 0)
		fail_msg("%s", err.msg);
	input_close(in);
	return n;
}

static void names_are_given_to_networks_and_services(void **state)
{
	struct capture_names *n = names_of(STR("10.1.0.0/16 web\n10.1.2.0/24 canary\n"
					       "10.1.0.0/16:9090 metrics\n10.1.2.3 one\n"
					       "2001:db8::/33 six\n[2001:db8::/32]:53 dns\n"
					       "postgresql 5432/tcp # a database\n"
					       "10.1.2.128/25 late\n"));

	(void)state;
	assert_str_equal(server_at(n, "10.1.9.9", 80), "web");
	assert_str_equal(server_at(n, "10.1.9.9", 9090), "metrics");
	assert_str_equal(server_at(n, "10.1.2.7", 9090), "canary");
	assert_str_equal(server_at(n, "10.1.2.3", 80), "one");
	assert_str_equal(server_at(n, "10.1.2.200", 80), "late");
	assert_str_equal(server_at(n, "2001:db8:1::1", 80), "six");
	assert_str_equal(server_at(n, "2001:db8:8000::1", 80), "[2001:db8:8000::1]:80");
	assert_str_equal(server_at(n, "2001:db8:8000::1", 53), "dns");
	assert_str_equal(server_at(n, "10.2.0.1", 5432), "postgresql");
	assert_str_equal(client_at(n, "2001:db8:8000::1"), "dns");
	assert_str_equal(client_at(n, "10.2.0.1"), "10.2.0.1");
	capture_names_free(n);
}

static void a_service_has_many_addresses_and_a_process_many_ports(void **state)
{
	struct capture_names *n = names_of(STR("10.9.0.1:80 cart\n10.9.0.1:81 cart\n"
					       "10.9.0.2 cart\n"
					       "10.8.0.1:80 shop\n10.8.0.1:81 mail\n"));

	(void)state;
	assert_str_equal(server_at(n, "10.9.0.1", 80), "cart");
	assert_str_equal(server_at(n, "10.9.0.1", 81), "cart");
	assert_str_equal(server_at(n, "10.9.0.2", 443), "cart");
	assert_str_equal(server_at(n, "10.9.0.1", 82), "10.9.0.1:82");
	assert_str_equal(client_at(n, "10.9.0.1"), "cart");
	assert_str_equal(client_at(n, "10.8.0.1"), "10.8.0.1"); /* two listen there */
	capture_names_free(n);
}

static void a_network_that_cannot_be_is_told(void **state)
{
	struct capture_names *n = capture_names_new();
	struct error err = { 0 };
	struct input *in;

	(void)state;
	assert_int_equal(input_of_bytes(&in, "names", STR("\n10.1.0.0/33 x\n"), &err), 0);
	assert_true(capture_names_parse(n, in, &err) < 0);
	assert_non_null(strstr(err.msg, "line 2"));
	input_close(in);
	capture_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_and_its_answer_are_a_call_and_a_return),
		cmocka_unit_test(packets_seen_at_both_ends_count_once),
		cmocka_unit_test(the_same_message_has_the_same_id_in_every_capture),
		cmocka_unit_test(a_lost_packet_costs_no_more_than_its_message),
		cmocka_unit_test(a_lost_part_of_a_body_costs_nothing),
		cmocka_unit_test(a_short_snap_length_still_gives_calls_and_returns),
		cmocka_unit_test(packets_out_of_order_in_the_file_are_put_in_order),
		cmocka_unit_test(an_unknown_protocol_goes_by_turns),
		cmocka_unit_test(datagrams_are_paired_and_copies_dropped),
		cmocka_unit_test(a_trace_header_names_the_request_unless_blind),
		cmocka_unit_test(a_million_bytes_of_handshakes_stay_bounded),
		cmocka_unit_test(times_that_go_back_lose_nothing),
		cmocka_unit_test(ipv6_cut_within_the_head_still_tells_who_speaks),
		cmocka_unit_test(a_cut_message_that_told_its_length_loses_nothing_else),
		cmocka_unit_test(a_host_may_talk_to_itself),
		cmocka_unit_test(many_connections_are_closed_without_a_loss),
		cmocka_unit_test(names_are_taken_from_the_file),
		cmocka_unit_test(names_are_given_to_networks_and_services),
		cmocka_unit_test(a_service_has_many_addresses_and_a_process_many_ports),
		cmocka_unit_test(a_network_that_cannot_be_is_told),
	};

	return RUN(tests);
}
