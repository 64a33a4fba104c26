#include "unit.h"

#include "socket_records.h"

#define ASK "GET /cart HTTP/1.1\r\nHost: shop\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct program curl = { "curl", 100, 0, 0, "127.0.0.1", 40000, 1000 };
static struct program web = { "web", 200, 201, 0, "127.0.0.1", 8080, 5000 };

static void assert_message(const struct recording *r, size_t i, enum message_op op,
			   const char *node, const char *peer)
{
	assert_true(i < r->seen.events.nr);
	assert_int_equal(r->seen.events.v[i].op, op);
	assert_str_equal(r->seen.events.v[i].node, node);
	assert_str_equal(r->seen.events.v[i].peer, peer);
}

static void a_message_between_two_programs_is_told_once_with_the_time_of_its_sender(void **state)
{
	struct program c = curl, s = web;
	struct recording r;
	struct attr a;

	(void)state;
	recording_begin(&r);
	put_opened(&r, &c, &s);
	put_send(&r, &c, &s, ASK);
	put_receive(&r, &s, &c, ASK);
	put_send(&r, &s, &c, ANSWER);
	put_receive(&r, &c, &s, ANSWER);
	put_state(&r, &c, &s, SOCKET_CLOSED);
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 2);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "web:8080");
	assert_message(&r, 1, MESSAGE_RETURN, "web:8080", "curl");
	assert_int_equal(r.seen.events.v[0].ns, CLOCK_NS + 3000);
	assert_int_equal(r.seen.events.v[1].ns, CLOCK_NS + 5000);
	assert_str_equal(r.seen.events.v[0].title, "GET /cart");
	assert_true(str_eq(r.seen.events.v[0].id, r.seen.events.v[1].id));
	assert_str_equal(r.seen.events.v[1].thread, "201");
	assert_true(attr_find(r.seen.events.v[1].attrs, STR("pid"), &a));
	assert_int_equal(a.i, 200);
	assert_int_equal(r.seen.losses.count[LOSS_PACKETS_TWICE], 0);
	assert_int_equal(r.seen.losses.count[LOSS_STREAMS_MIDWAY], 0);
	collected_done(&r.seen);
}

static uint16_t port_8080_of_web(void *to, uint32_t tgid)
{
	(void)to;
	return tgid == 200 ? 8080 : 0;
}

static uint32_t postgres_at_5432(void *to, uint32_t netns, uint16_t port, char name[16])
{
	(void)to;
	if (netns != OWN_NETNS || port != 5432)
		return 0;
	memcpy(name, "postgres\0\0\0\0\0\0\0", 16);
	return 300;
}

static void what_a_process_asks_and_is_asked_meets_in_one_node(void **state)
{
	const struct sockets_listeners l = { NULL, port_8080_of_web, NULL };
	struct program out = { "web", 200, 202, 0, "10.0.0.1", 41000, 77 };
	struct program db = { NULL, 0, 0, 0, "10.0.0.9", 5432, 99 };
	struct recording r;

	(void)state;
	recording_begin_with(&r, &l);
	put_state(&r, &out, &db, SOCKET_CONNECTED);
	put_send(&r, &out, &db, "ask");
	db.seq += 6;
	put_receive(&r, &out, &db, "answer");
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 2);
	assert_message(&r, 0, MESSAGE_CALL, "web:8080", "10.0.0.9:5432");
	assert_message(&r, 1, MESSAGE_RETURN, "10.0.0.9:5432", "web:8080");
	collected_done(&r.seen);
}

static void a_server_that_has_not_read_yet_is_named_by_who_listens(void **state)
{
	const struct sockets_listeners l = { NULL, NULL, postgres_at_5432 };
	struct program c = curl, db = { NULL, 0, 0, 0, "127.0.0.1", 5432, 99 };
	struct recording r;

	(void)state;
	recording_begin_with(&r, &l);
	put_opened(&r, &c, &db);
	put_send(&r, &c, &db, "ask");
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 1);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "postgres:5432");
	collected_done(&r.seen);
}

static void children_that_serve_one_connection_each_are_one_service(void **state)
{
	struct program c = curl, first = { "pg", 301, 0, 0, "127.0.0.1", 5432, 1 };
	struct program c2 = { "app", 101, 0, 0, "127.0.0.1", 40001, 1 };
	struct program second = { "pg", 302, 0, 0, "127.0.0.1", 5432, 1 };
	struct recording r;

	(void)state;
	recording_begin(&r);
	put_opened(&r, &c, &first);
	put_opened(&r, &c2, &second);
	put_send(&r, &c, &first, "ask");
	put_receive(&r, &first, &c, "ask");
	put_send(&r, &c2, &second, "ask");
	put_receive(&r, &second, &c2, "ask");
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 2);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "pg:5432");
	assert_message(&r, 1, MESSAGE_CALL, "app", "pg:5432");
	collected_done(&r.seen);
}

static void a_send_that_is_told_after_its_answer_stands_before_it(void **state)
{
	struct program c = curl, s = web;
	struct socket_record late;
	struct recording r;

	(void)state;
	recording_begin(&r);
	put_opened(&r, &c, &s);
	late = record_of(&c, &s, SOCKET_SEND);
	late.seq = c.seq;
	late.ack = s.seq;
	late.ns = r.ns;
	r.ns += 5000;
	c.seq += sizeof(ASK) - 1;
	put_send(&r, &s, &c, ANSWER);
	put_record(&r, late, ASK, sizeof(ASK) - 1);
	sockets_decode_until(r.decode, r.ns);
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 2);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "web:8080");
	assert_int_equal(r.seen.events.v[0].ns, CLOCK_NS + 3000);
	assert_message(&r, 1, MESSAGE_RETURN, "web:8080", "curl");
	collected_done(&r.seen);
}

static void of_a_long_message_the_front_is_enough(void **state)
{
	struct program c = curl, s = web;
	struct recording r;

	(void)state;
	recording_begin(&r);
	put_opened(&r, &c, &s);
	for (unsigned i = 0; i < 3; i++) {
		put_send(&r, &c, &s, ASK);
		put_send_of(&r, &s, &c, "HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\nxxxx",
			    40000);
		put_send_of(&r, &s, &c, "yyyy", 90000 + 42 - 40000);
	}
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 6);
	assert_int_equal(r.seen.losses.count[LOSS_PROTOCOL_LOST], 0);
	assert_int_equal(r.seen.losses.count[LOSS_STREAM_GAPS], 0);
	assert_int_equal(r.seen.events.v[5].ns, CLOCK_NS + 11000);
	collected_done(&r.seen);
}

static void records_that_were_dropped_leave_a_gap_and_no_standstill(void **state)
{
	struct program c = curl, s = web;
	struct recording r;

	(void)state;
	recording_begin(&r);
	put_opened(&r, &c, &s);
	put_send(&r, &c, &s, ASK);
	put_send(&r, &s, &c, ANSWER);
	c.seq += 500; /* asked and answered without us */
	s.seq += 700;
	for (unsigned i = 0; i < 20; i++) {
		r.ns += 100 * NS_MS;
		put_send(&r, &c, &s, ASK);
		put_send(&r, &s, &c, ANSWER);
	}
	recording_end(&r);
	assert_true(r.seen.losses.count[LOSS_STREAM_GAPS] > 0);
	assert_true(r.seen.events.nr >= 40);
	collected_done(&r.seen);
}

static void a_connection_from_before_has_the_server_that_listens(void **state)
{
	const struct sockets_listeners l = { NULL, NULL, postgres_at_5432 };
	struct program c = { "app", 100, 0, 0, "10.0.0.2", 5433, 1000 };
	struct program s = { "postgres", 300, 0, 0, "10.0.0.1", 5432, 50 };
	struct recording r;

	(void)state;
	recording_begin_with(&r, &l);
	put_send(&r, &s, &c, "\x01odd words");
	put_send(&r, &c, &s, "\x01more of them");
	put_send(&r, &s, &c, "\x01the end");
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 3);
	assert_message(&r, 0, MESSAGE_SENT, "postgres:5432", "app");
	assert_message(&r, 1, MESSAGE_CALL, "app", "postgres:5432");
	assert_message(&r, 2, MESSAGE_RETURN, "postgres:5432", "app");
	assert_int_equal(r.seen.losses.count[LOSS_STREAMS_MIDWAY], 1);
	collected_done(&r.seen);
}

static void put_unix(struct recording *r, const char *name, uint32_t tgid, uint64_t local,
		     uint64_t remote, unsigned flags)
{
	struct socket_record rec = { .kind = SOCKET_UNIX,
				     .act = SOCKET_SEND,
				     .tgid = tgid,
				     .tid = tgid,
				     .netns = OWN_NETNS,
				     .flags = (uint8_t)flags };

	memcpy(rec.local + 8, &local, sizeof(local));
	memcpy(rec.remote + 8, &remote, sizeof(remote));
	strncpy((char *)rec.process, name, sizeof(rec.process) - 1);
	put_record(r, rec, "some words", 10);
}

static void on_a_unix_socket_the_end_with_a_name_is_the_server(void **state)
{
	struct recording r;

	(void)state;
	recording_begin(&r);
	put_unix(&r, "php", 9, 0x20, 0x10, SOCKET_LISTENS);
	for (unsigned i = 0; i < 3; i++) {
		put_unix(&r, "nginx", 8, 0x10, 0x20, 0);
		put_unix(&r, "php", 9, 0x20, 0x10, SOCKET_LISTENS);
	}
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 7);
	assert_message(&r, 0, MESSAGE_SENT, "php", "nginx");
	for (size_t i = 0; i < 3; i++) {
		assert_message(&r, 1 + 2 * i, MESSAGE_CALL, "nginx", "php");
		assert_message(&r, 2 + 2 * i, MESSAGE_RETURN, "php", "nginx");
	}
	collected_done(&r.seen);
}

static void equal_datagrams_are_each_one_message(void **state)
{
	struct program c = curl, s = { "dns", 53, 0, 0, "0.0.0.0", 5300, 0 };
	struct program there = { "dns", 53, 0, 0, "127.0.0.1", 5300, 0 };
	struct socket_record rec;
	struct recording r;

	(void)state;
	recording_begin(&r);
	for (unsigned i = 0; i < 3; i++) {
		rec = record_of(&c, &there, SOCKET_SEND);
		rec.kind = SOCKET_UDP;
		put_record(&r, rec, "name?", 5);
		rec = record_of(&s, &c, SOCKET_RECEIVE);
		rec.kind = SOCKET_UDP;
		put_record(&r, rec, "name?", 5);
		rec = record_of(&s, &c, SOCKET_SEND);
		rec.kind = SOCKET_UDP;
		put_record(&r, rec, "4", 1);
	}
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 6);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "dns:5300");
	for (size_t i = 0, calls = 0; i < 6; i++) {
		calls += r.seen.events.v[i].op == MESSAGE_CALL;
		if (i == 5)
			assert_int_equal(calls, 3);
	}
	collected_done(&r.seen);
}

static void loopbacks_of_two_containers_are_two_places(void **state)
{
	struct program c = curl, s = web, c2 = curl, s2 = web;
	struct recording r;

	(void)state;
	c2.netns = s2.netns = 8;
	c2.tgid = 900;
	s2.tgid = 901;
	recording_begin(&r);
	put_opened(&r, &c, &s);
	put_opened(&r, &c2, &s2);
	put_send(&r, &c, &s, ASK);
	put_receive(&r, &s, &c, ASK);
	put_send(&r, &c2, &s2, ASK);
	put_receive(&r, &s2, &c2, ASK);
	put_send(&r, &s2, &c2, ANSWER);
	put_send(&r, &s, &c, ANSWER);
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 4);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "web:8080");
	assert_message(&r, 1, MESSAGE_CALL, "curl", "web:8080@net8");
	collected_done(&r.seen);
}

static void what_is_no_record_is_counted(void **state)
{
	struct socket_record rec = record_of(&curl, &web, SOCKET_SEND);
	struct recording r;

	(void)state;
	recording_begin(&r);
	sockets_decode_add(r.decode, STR("short"));
	put_record(&r, rec, "more than it says", 3);
	rec.act = 17;
	put_record(&r, rec, "x", 1);
	rec.act = SOCKET_SEND;
	rec.kind = 0;
	put_record(&r, rec, "x", 1);
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 0);
	assert_int_equal(r.seen.losses.count[LOSS_PACKETS_BROKEN], 4);
	collected_done(&r.seen);
}

static void more_connections_than_are_kept_are_forgotten(void **state)
{
	struct program c = curl, s = web;
	struct recording r;

	(void)state;
	recording_begin(&r);
	for (unsigned i = 0; i < 200000; i++) {
		char address[16];

		snprintf(address, sizeof(address), "10.%u.%u.%u", i >> 16 & 255, i >> 8 & 255,
			 i & 255);
		c.address = address;
		put_opened(&r, &c, &s);
		sockets_decode_until(r.decode, r.ns);
	}
	c = curl;
	put_opened(&r, &c, &s);
	put_send(&r, &c, &s, ASK);
	put_receive(&r, &s, &c, ASK);
	recording_end(&r);
	assert_int_equal(r.seen.events.nr, 1);
	assert_message(&r, 0, MESSAGE_CALL, "curl", "web:8080");
	collected_done(&r.seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_message_between_two_programs_is_told_once_with_the_time_of_its_sender),
		cmocka_unit_test(what_a_process_asks_and_is_asked_meets_in_one_node),
		cmocka_unit_test(a_server_that_has_not_read_yet_is_named_by_who_listens),
		cmocka_unit_test(children_that_serve_one_connection_each_are_one_service),
		cmocka_unit_test(a_send_that_is_told_after_its_answer_stands_before_it),
		cmocka_unit_test(of_a_long_message_the_front_is_enough),
		cmocka_unit_test(records_that_were_dropped_leave_a_gap_and_no_standstill),
		cmocka_unit_test(a_connection_from_before_has_the_server_that_listens),
		cmocka_unit_test(on_a_unix_socket_the_end_with_a_name_is_the_server),
		cmocka_unit_test(equal_datagrams_are_each_one_message),
		cmocka_unit_test(loopbacks_of_two_containers_are_two_places),
		cmocka_unit_test(what_is_no_record_is_counted),
		cmocka_unit_test(more_connections_than_are_kept_are_forgotten),
	};

	return RUN(tests);
}
