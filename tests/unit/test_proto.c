#include "unit.h"

#include "dialogue.h"
#include "source/proto_hpack.h"
#include "source/proto_sql.h"

static void http_bodies_end_where_they_say(void **state)
{
	static const struct line lines[] = {
		{ 0,
		  S("POST /a?x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n") },
		{ 0, S("HEAD http://h/c/9 HTTP/1.1\r\n\r\nGET /d HTTP/1.1\r\n\r\n") },
		{ 1, S("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
		       "chunked\r\n\r\n"
		       "5;x=1\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n") },
		{ 1, S("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n") },
		{ 1, S("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n") },
		{ 1, S("HTTP/1.0 503 Busy\r\n\r\nuntil the end of the connection") },
	};

	(void)state;
	DIALOGUE(lines, "http",
		 ">POST /a|>GET /b|>HEAD /c/9|>GET /d|<1 200|<2 304|<3 200|<4 503!|");
}

static void http2_streams_end_in_any_order(void **state)
{
	/* GET /one on stream 1 with a literal that enters the table, on stream 3 by its index */
	static const struct line lines[] = {
		{ 0, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0") },
		{ 1, S("\0\0\0\4\0\0\0\0\0") },
		{ 0, S("\0\0\7\1\5\0\0\0\1\x82\x44\4/one") },
		{ 0, S("\0\0\2\1\5\0\0\0\3\x83\xbe") },
		{ 1, S("\0\0\1\1\4\0\0\0\3\x88\0\0\5\0\1\0\0\0\3hello") },
		{ 1, S("\0\0\1\1\4\0\0\0\1\x88\0\0\3\0\0\0\0\0\1abc") },
		{ 1, S("\0\0\x10\1\5\0\0\0\1\0\x0bgrpc-status\2\x31\x33") },
	};

	(void)state;
	DIALOGUE(lines, "http2", ">GET /one|>POST /one|<2 200|<1 13!|");
}

static void huffman_texts_of_the_standard_are_read(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_true(hpack_huffman(&b, S("\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff")));
	assert_str_equal(buf_str(&b), "www.example.com");
	buf_clear(&b);
	assert_true(
		hpack_huffman(&b, S("\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81"
				    "\x66\xe0\x82\xa6\x2d\x1b\xff")));
	assert_str_equal(buf_str(&b), "Mon, 21 Oct 2013 20:13:21 GMT");
	assert_false(hpack_huffman(&b, S("\xff\xff\xff\xff")));
	assert_false(hpack_huffman(&b, S("\xf1\xe3\x00")));
	buf_done(&b);
}

static void postgresql_calls_end_with_ready(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\0\0\0\x10\0\3\0\0user\0a\0\0") },
		{ 1, S("R\0\0\0\10\0\0\0\0Z\0\0\0\5I") },
		{ 0, S("Q\0\0\0\x1aselect * from orders\0\0") },
		{ 1, S("T\0\0\0\4D\0\0\0\4D\0\0\0\4C\0\0\0\4Z\0\0\0\5I") },
		/* two groups, pipelined: the first prepares what the second executes */
		{ 0,
		  S("P\0\0\0\x21s1\0insert into log values(1)\0B\0\0\0\6\0\0E\0\0\0\4S\0\0\0\4") },
		{ 0, S("B\0\0\0\10\0s1\0E\0\0\0\4S\0\0\0\4") },
		{ 1, S("1\0\0\0\4"
		       "2\0\0\0\4C\0\0\0\4Z\0\0\0\5I") },
		{ 1, S("E\0\0\0\x0dSERROR\0\0\0Z\0\0\0\5I") },
	};

	(void)state;
	DIALOGUE(lines, "postgresql",
		 ">CONNECT|<1|>SELECT orders|<2|>INSERT log|>INSERT log|<3|<4!|");
}

static void mysql_answers_end_where_the_client_speaks(void **state)
{
	static const struct line lines[] = {
		{ 1, S("\x19\0\0\0\x0a"
		       "8.0.1\0\1\0\0\0abcdefgh\0\xff\xff\x21\2\0") },
		{ 0, S("\x0a\0\0\1\5\xa2\0\0ab\0cde") },
		{ 1, S("\7\0\0\2\0\0\0\2\0\0\0") },
		{ 0, S("\x13\0\0\0\3select * from cart") },
		{ 1, S("\1\0\0\1\1\3\0\0\2def\3\0\0\3row\5\0\0\4\xfe\0\0\2\0") },
		{ 0, S("\x15\0\0\0\x16update cart set a=?1") },
		{ 1, S("\x0c\0\0\1\0\7\0\0\0\0\0\1\0\0\0\0") },
		{ 0, S("\x0a\0\0\0\x17\7\0\0\0\0\1\0\0\0") },
		{ 1, S("\x0c\0\0\1\xff\x28\4#42000bad") },
		{ 0, S("\5\0\0\0\x19\7\0\0\0\1\0\0\0\1") },
	};

	(void)state;
	DIALOGUE(lines, "mysql",
		 ">LOGIN|<1|>SELECT cart|<2|>PREPARE UPDATE cart|<3|>UPDATE cart|<4 "
		 "1064!|~CLOSE|~QUIT|");
}

static void redis_values_nest(void **state)
{
	static const struct line lines[] = {
		{ 0, S("*2\r\n$3\r\nget\r\n$1\r\nk\r\n*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$1\r\n*"
		       "\r\n") },
		{ 0, S("*1\r\n$4\r\nEXEC\r\n") },
		{ 1, S("$5\r\nhello\r\n*2\r\n$1\r\na\r\n*1\r\n$-1\r\n") },
		{ 1, S("-ERR no\r\n>2\r\n+a\r\n+b\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "redis", ">GET|>CONFIG GET|>EXEC|<1|<2|<3!|~PUSH|");
}

static void memcached_values_end_with_end(void **state)
{
	static const struct line lines[] = {
		{ 0, S("set k 0 0 5\r\nEND\r\n\r\nget k j\r\nset k 0 0 1 noreply\r\nx\r\n") },
		{ 1, S("STORED\r\nVALUE k 0 5\r\nEND\r\n\r\nVALUE j 0 0\r\n\r\nEND\r\n") },
		{ 0, S("incr n 1\r\n") },
		{ 1, S("SERVER_ERROR out of memory\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "memcached", ">set|>get|~set|<1|<2|>incr|<3!|");
}

static void mongo_answers_name_their_question(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\x2a\0\0\0\5\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0\x15\0\0\0\2find\0\6\0\0\0use"
		       "rs\0\0") },
		{ 0, S("\x24\0\0\0\6\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0\x0f\0\0\0\x10ping\0\1\0\0\0"
		       "\0") },
		{ 1, S("\x26\0\0\0\x50\0\0\0\6\0\0\0\xdd\7\0\0\0\0\0\0\0\x11\0\0\0\1ok\0\0\0\0\0\0"
		       "\0\0\0\0") },
		{ 1, S("\x26\0\0\0\x51\0\0\0\5\0\0\0\xdd\7\0\0\0\0\0\0\0\x11\0\0\0\1ok\0\0\0\0\0\0"
		       "\0\xf0\x3f\0") },
	};

	(void)state;
	DIALOGUE(lines, "mongodb", ">find users|>ping|<2!|<1|");
}

static void kafka_answers_name_their_question(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\0\0\0\x22\0\0\0\2\0\0\0\7\0\2me\0\1\0\0\0\0\0\0\0\1\0\4logs\0\0\0\0\0\0"
		       "\0\0\0\x0c\0\x12\0\0\0\0\0\x08\0\2me") },
		{ 1, S("\0\0\0\5\0\0\0\x08x\0\0\0\4\0\0\0\7") },
	};

	(void)state;
	DIALOGUE(lines, "kafka", ">Produce logs|>ApiVersions|<2|<1|");
}

static void amqp_pairs_methods_of_either_side(void **state)
{
	static const struct line lines[] = {
		{ 0, S("AMQP\0\0\11\1") },
		{ 1, S("\1\0\0\0\0\0\4\0\x0a\0\x0a\xce") },
		{ 0, S("\1\0\0\0\0\0\4\0\x0a\0\x0b\xce") },
		{ 0, S("\1\0\1\0\0\0\x0b\0\x32\0\x0a\0\0\4mail\xce") },
		{ 1, S("\1\0\1\0\0\0\4\0\x32\0\x0b\xce") },
		{ 0, S("\1\0\1\0\0\0\x0b\0\x3c\0\x28\0\0\4mail\xce\2\0\1\0\0\0\4abcd\xce\3\0\1\0\0"
		       "\0\1x\xce") },
	};

	(void)state;
	DIALOGUE(lines, "amqp", ">Connection.Start|<1|>Queue.Declare mail|<2|~Basic.Publish mail|");
}

static void mqtt_answers_by_packet_id(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\x10\x0e\0\4MQTT\4\2\0\x3c\0\2me") },
		{ 1, S("\x20\2\0\0") },
		{ 0, S("\x32\7\0\2tt\0\1x\x32\7\0\2uu\0\2x\x30\5\0\2vvx") },
		{ 1, S("\x40\2\0\2\x40\2\0\1") },
		{ 0, S("\xc0\0") },
		{ 1, S("\xd0\0") },
	};

	(void)state;
	DIALOGUE(lines, "mqtt",
		 ">CONNECT|<1 0|>PUBLISH tt|>PUBLISH uu|~PUBLISH vv|<3|<2|>PINGREQ|<4|");
}

static void nats_answers_come_on_the_reply_subject(void **state)
{
	static const struct line lines[] = {
		{ 1, S("INFO {\"a\":1}\r\n") },
		{ 0, S("CONNECT {}\r\nPUB svc _INBOX.1 2\r\nhi\r\nPUB log 1\r\nx\r\n") },
		{ 1, S("MSG _INBOX.1 9 2\r\nok\r\nPING\r\n") },
		{ 0, S("PONG\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "nats", ">INFO|<1|>svc|~log|<2|>PING|<3|");
}

static void dubbo_names_service_and_method(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\xda\xbb\xc2\0\0\0\0\0\0\0\0\5\0\0\0\x10"
		       "\5"
		       "2.0.2\3svc\1v\3run") },
		{ 1, S("\xda\xbb\2\x14\0\0\0\0\0\0\0\5\0\0\0\1x") },
	};

	(void)state;
	DIALOGUE(lines, "dubbo", ">svc.run|<1 20|");
}

static void dns_over_tcp_pairs_by_id(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\0\x14\0\1\1\0\0\1\0\0\0\0\0\0\2db\0\0\1\0\1"
		       "\0\x14\0\2\1\0\0\1\0\0\0\0\0\0\2db\0\0\x1c\0\1") },
		{ 1, S("\0\x14\0\2\x81\0\0\1\0\0\0\0\0\0\2db\0\0\x1c\0\1\0\x14\0\1\x81\2\0\1\0\0\0"
		       "\0\0\0\2db\0\0\1\0\1") },
	};

	(void)state;
	DIALOGUE(lines, "dns", ">A db|>AAAA db|<2 0|<1 2!|");
}

static void tls_goes_by_turns_of_its_data(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\x16\3\1\0\5\1\0\0\1x") },
		{ 1, S("\x16\3\3\0\5\2\0\0\1x") },
		{ 0, S("\x17\3\3\0\3abc\x17\3\3\0\3abc") },
		{ 1, S("\x17\3\3\0\3abc") },
		{ 0, S("\x17\3\3\0\3abc") },
		{ 1, S("\x17\3\3\0\3abc\x17\3\3\0\3abc") },
	};

	(void)state;
	DIALOGUE(lines, "tls", ">|<1|>|<2|");
}

static void a_protocol_is_known_from_the_middle_on(void **state)
{
	struct endpoint end[2] = { { .port = 40000 }, { .port = 41000 } };
	struct told t = { .sink = { &t, take, &t.losses, false } };

	(void)state;
	t.talk = talk_new(&t.sink, end, -1, false);
	say(&t, 1, S("the rest of a body that began before"));
	say(&t, 0, S("GET / HTTP/1.1\r\n\r\n"));
	say(&t, 1, S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
	talk_free(t.talk);
	assert_string_equal(t.protocol, "http");
	assert_true(str_ends(buf_str(&t.text), STR(">GET /|<1 200|")));
	buf_done(&t.text);
}

static void statements_are_named_by_verb_and_table(void **state)
{
	static const char *const cases[][2] = {
		{ "SELECT * FROM `orders` WHERE id = 1", "SELECT orders" },
		{ " /* app:x */ select a from (select b from \"s\".\"t\") u", "SELECT s.t" },
		{ "INSERT INTO log VALUES ('from x')", "INSERT log" },
		{ "update cart set a = 1", "UPDATE cart" },
		{ "delete from only cart", "DELETE cart" },
		{ "create table if not exists a.b (c int)", "CREATE a.b" },
		{ "BEGIN", "BEGIN" },
		{ "set x = 'update y'", "SET" },
		{ "", "(empty)" },
		{ "'", "'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf b = { 0 };

		sql_title(&b, str_of(cases[i][0]));
		assert_str_equal(buf_str(&b), cases[i][1]);
		buf_done(&b);
	}
}

static void names_of_requests_are_found_in_headers_and_bytes(void **state)
{
	struct trace t = { 0 };

	(void)state;
	trace_take_header(&t, STR("X-Request-Id"), STR(" abc-1 "));
	assert_true(t.kind == KEY_REQUEST);
	assert_str_equal(trace_key(&t), "abc-1");
	trace_take_header(&t, STR("b3"),
			  STR("80F198EE56343BA864FE8B2A57D3EFF7-e457b5a2e4d86bd1-1"));
	assert_true(t.kind == KEY_TRACE);
	assert_str_equal(trace_key(&t), "80f198ee56343ba864fe8b2a57d3eff7");
	assert_str_equal(trace_span(&t), "e457b5a2e4d86bd1");
	t = (struct trace){ 0 };
	trace_scan(&t, S("x\0\3sw8\0\x30"
			 "1-dHJhY2UtMQ==-c2Vn-3-x"));
	assert_str_equal(trace_key(&t), "trace-1");
	t = (struct trace){ 0 };
	trace_scan(&t, S("traceparent is a word; traceparent\x37"
			 "00-0af7651916cd43dd8448eb211c80319c-"
			 "b7ad6b7169203331-01"));
	assert_str_equal(trace_key(&t), "0af7651916cd43dd8448eb211c80319c");
	t = (struct trace){ 0 };
	trace_take_header(&t, STR("traceparent"),
			  STR("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
	assert_int_equal(t.kind, KEY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(http_bodies_end_where_they_say),
		cmocka_unit_test(http2_streams_end_in_any_order),
		cmocka_unit_test(huffman_texts_of_the_standard_are_read),
		cmocka_unit_test(postgresql_calls_end_with_ready),
		cmocka_unit_test(mysql_answers_end_where_the_client_speaks),
		cmocka_unit_test(redis_values_nest),
		cmocka_unit_test(memcached_values_end_with_end),
		cmocka_unit_test(mongo_answers_name_their_question),
		cmocka_unit_test(kafka_answers_name_their_question),
		cmocka_unit_test(amqp_pairs_methods_of_either_side),
		cmocka_unit_test(mqtt_answers_by_packet_id),
		cmocka_unit_test(nats_answers_come_on_the_reply_subject),
		cmocka_unit_test(dubbo_names_service_and_method),
		cmocka_unit_test(dns_over_tcp_pairs_by_id),
		cmocka_unit_test(tls_goes_by_turns_of_its_data),
		cmocka_unit_test(a_protocol_is_known_from_the_middle_on),
		cmocka_unit_test(statements_are_named_by_verb_and_table),
		cmocka_unit_test(names_of_requests_are_found_in_headers_and_bytes),
	};

	return RUN(tests);
}
