/* What protocols do beside the ordinary question and answer. */
#include "unit.h"

#include "dialogue.h"

static void a_tunnel_is_found_out_anew(void **state)
{
	static const struct line lines[] = {
		{ 0, S("CONNECT db.example:443 HTTP/1.1\r\nHost: db\r\n\r\n") },
		{ 1, S("HTTP/1.1 200 Connection established\r\n\r\n") },
	};
	struct told t;

	(void)state;
	begin(&t, 3128);
	say(&t, 0, lines[0].bytes);
	say(&t, 1, lines[1].bytes);
	say(&t, 0, S("GET /inside HTTP/1.1\r\n\r\n"));
	say(&t, 1, S("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"));
	finish(&t, "http", ">CONNECT db.example:443|<1 200|>GET /inside|<2 404|");
}

static void a_tunnel_that_is_refused_is_none(void **state)
{
	static const struct line lines[] = {
		{ 0, S("CONNECT db.example:443 HTTP/1.1\r\n\r\n") },
		{ 1, S("HTTP/1.1 407 Who?\r\nContent-Length: 2\r\n\r\nno") },
		{ 0, S("GET / HTTP/1.1\r\n\r\n") },
		{ 1, S("HTTP/1.1 204 Nothing\r\n\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "http", ">CONNECT db.example:443|<1 407|>GET /|<2 204|");
}

static void an_upgrade_to_http2_is_answered_on_its_first_stream(void **state)
{
	static const struct line lines[] = {
		{ 0, S("GET /up HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n") },
		{ 1, S("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n") },
		{ 1, S("\0\0\0\4\0\0\0\0\0\0\0\1\1\5\0\0\0\1\x88") },
		{ 0, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0") },
		{ 0, S("\0\0\7\1\5\0\0\0\3\x82\x44\4/two") },
		{ 1, S("\0\0\1\1\5\0\0\0\3\x8e") },
	};

	(void)state;
	DIALOGUE(lines, "http2", ">GET /up|<1 200|>GET /two|<2 500!|");
}

static void a_websocket_goes_by_turns(void **state)
{
	struct told t;

	(void)state;
	begin(&t, 8080);
	say(&t, 0, S("GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"));
	say(&t, 1, S("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"));
	say(&t, 0, S("\x81\x82\1\2\3\4ab"));
	say(&t, 1, S("\x81\2ok"));
	say(&t, 0, S("\x81\x82\1\2\3\4cd"));
	finish(&t, "unknown", ">GET /chat|<1 101|>|<2|>|");
}

static void what_a_server_pushes_keeps_the_table_right(void **state)
{
	/* the promise enters x-a into the table of the server, the answer names it by its number */
	static const struct line lines[] = {
		{ 0, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0") },
		{ 1, S("\0\0\0\4\0\0\0\0\0") },
		{ 0, S("\0\0\2\1\5\0\0\0\1\x82\x84") },
		{ 1, S("\0\0\x15\5\4\0\0\0\1\0\0\0\2\x82\x40\x0bgrpc-status\2\x31\x34") },
		{ 1, S("\0\0\1\1\5\0\0\0\2\x88") },
		{ 1, S("\0\0\2\1\5\0\0\0\1\x88\xbe") },
	};

	(void)state;
	DIALOGUE(lines, "http2", ">GET /|<1 14!|");
}

static void padding_priority_and_continuations_are_no_headers(void **state)
{
	static const struct line lines[] = {
		{ 0, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0") },
		{ 1, S("\0\0\0\4\0\0\0\0\0") },
		{ 0, S("\0\0\x09\1\x29\0\0\0\1\2\0\0\0\0\x10\x82\0\0") },
		{ 0, S("\0\0\6\x09\4\0\0\0\1\x44\4/one\0\0\5\2\0\0\0\0\1\0\0\0\0\1") },
		{ 1, S("\0\0\1\1\4\0\0\0\1\x88\0\0\6\0\x09\0\0\0\1\3ab\0\0\0") },
	};

	(void)state;
	DIALOGUE(lines, "http2", ">GET /one|<1 200|");
}

static void names_of_a_table_that_was_missed_are_left_out(void **state)
{
	struct told t;

	(void)state;
	begin(&t, 50051);
	say(&t, 0, S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
	say(&t, 1, S("\0\0\0\4\0\0\0\0\0"));
	say(&t, 0, S("\0\0\7\1\5\0\0\0\1\x82\x44\4/one"));
	say(&t, 1, S("\0\0\1\1\5\0\0\0\1\x88"));
	/* a request that entered /two is missing: 62 is not /one any more, and must not be named */
	talk_gap(t.talk, 0, &(struct talk_missing){ t.seq[0], 16, ++t.ns, false });
	t.seq[0] += 16;
	say(&t, 0, S("\0\0\2\1\5\0\0\0\5\x82\xbe"));
	say(&t, 1, S("\0\0\1\1\5\0\0\0\5\x88"));
	say(&t, 0, S("\0\0\7\1\5\0\0\0\7\x82\x44\4/new"));
	say(&t, 0, S("\0\0\2\1\5\0\0\0\x09\x82\xbe"));
	talk_free(t.talk);
	assert_str_equal(buf_str(&t.text), ">GET /one|<1 200|>GET |<2 200|>GET /new|>GET /new|");
	buf_done(&t.text);
}

static void postgresql_refuses_without_being_ready(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\0\0\0\10\4\xd2\x16\x2f") },
		{ 1, S("N") },
		{ 0, S("\0\0\0\x10\0\3\0\2user\0a\0\0") },
		{ 1, S("E\0\0\0\x0dSFATAL\0\0\0") },
	};

	(void)state;
	DIALOGUE(lines, "postgresql", ">CONNECT|<1!|");
}

static void postgresql_copies_in_one_call(void **state)
{
	static const struct line lines[] = {
		{ 0, S("Q\0\0\0\x19"
		       "copy cart from stdin\0") },
		{ 1, S("G\0\0\0\7\0\0\0") },
		{ 0, S("d\0\0\0\6"
		       "1\nd\0\0\0\6"
		       "2\nc\0\0\0\4") },
		{ 1, S("C\0\0\0\x0b"
		       "COPY 2\0A\0\0\0\x0a\0\0\0\1xy") },
		{ 1, S("Z\0\0\0\5I") },
	};

	(void)state;
	DIALOGUE(lines, "postgresql", ">COPY cart|<1|");
}

static void mysql_answers_a_file_when_it_has_come(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\x2f\0\0\0\3load data local infile 'a' into table cart (b)") },
		{ 1, S("\2\0\0\1\xfb"
		       "a") },
		{ 0, S("\4\0\0\2data\0\0\0\3") },
		{ 1, S("\7\0\0\4\0\1\0\2\0\0\0") },
		{ 0, S("\1\0\0\0\x0e") },
		{ 1, S("\7\0\0\1\0\0\0\2\0\0\0") },
	};

	(void)state;
	DIALOGUE(lines, "mysql", ">LOAD cart|<1|>PING|<2|");
}

static void redis_messages_come_between_answers(void **state)
{
	static const struct line lines[] = {
		{ 0, S("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n$1\r\nb\r\n") },
		{ 1, S("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n") },
		{ 1, S("*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n") },
		{ 0, S("*1\r\n$4\r\nPING\r\n") },
		{ 1, S("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n") },
		{ 1, S("*2\r\n$4\r\npong\r\n$0\r\n\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "redis", ">SUBSCRIBE|<1|~PUSH|>PING|~PUSH|<2|");
}

static void redis_reads_maps_attributes_and_lines(void **state)
{
	static const struct line lines[] = {
		{ 0, S("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n") },
		{ 1, S("%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n") },
		{ 0, S("PING\r\nget k\r\n") },
		{ 1, S("+PONG\r\n|1\r\n+ttl\r\n:9\r\n#t\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "redis", ">HELLO|<1|>PING|>GET|<2|<3|");
}

static void memcached_quiet_ones_are_not_waited_for(void **state)
{
	static const struct line lines[] = {
		{ 0, S("set a 0 0 1\r\nx\r\n") },
		{ 1, S("STORED\r\n") },
		{ 0, S("mg a v q\r\nmg b v q\r\nmn\r\nmg c v\r\n") },
		{ 1, S("VA 1\r\nx\r\nMN\r\nEN\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "memcached", ">set|<1|~mg|~mg|>mn|>mg|~VA|<2|<3|");
}

static void mongo_tells_more_without_being_asked(void **state)
{
	static const struct line lines[] = {
		{ 0, S("\x24\0\0\0\6\0\0\0\0\0\0\0\xdd\7\0\0\0\0\1\0\0\x0f\0\0\0\x10"
		       "ping\0\1\0\0\0\0") },
		{ 1, S("\x26\0\0\0\x50\0\0\0\6\0\0\0\xdd\7\0\0\2\0\0\0\0\x11\0\0\0\1ok\0\0\0\0\0\0"
		       "\0\xf0\x3f\0") },
		{ 1,
		  S("\x26\0\0\0\x51\0\0\0\x50\0\0\0\xdd\7\0\0\2\0\0\0\0\x11\0\0\0\1ok\0\0\0\0\0\0"
		    "\0\xf0\x3f\0") },
	};

	(void)state;
	DIALOGUE(lines, "mongodb", ">ping|<1|~more|");
}

static void kafka_topics_of_newer_versions_are_read(void **state)
{
	static const struct line lines[] = {
		/* Produce 9: no tags, no transaction, acks 1, one topic; then one without acks */
		{ 0, S("\0\0\0\x1e\0\0\0\x09\0\0\0\7\0\2me\0\0\0\1\0\0\0\1\2\5logs\0\0\0\0") },
		{ 0, S("\0\0\0\x1e\0\0\0\x09\0\0\0\x08\0\2me\0\0\0\0\0\0\0\1\2\5logs\0\0\0\0") },
		/* Fetch 12 */
		{ 0, S("\0\0\0\x2e\0\1\0\x0c\0\0\0\x09\0\2me\0"
		       "aaaabbbbccccdddd"
		       "e"
		       "ffffgggg"
		       "\2\5cart\0\0") },
		{ 0, S("\0\0\0\x0d\0\x47\0\0\0\0\0\x0a\0\2me\0") },
		{ 1, S("\0\0\0\5\0\0\0\7x\0\0\0\4\0\0\0\x09\0\0\0\4\0\0\0\x0a") },
	};

	(void)state;
	DIALOGUE(lines, "kafka",
		 ">Produce logs|~Produce logs|>Fetch cart|>GetTelemetrySubscriptions|<1|<2|<3|");
}

static void mqtt_asks_from_both_sides(void **state)
{
	static const struct line lines[] = {
		/* version 5 */
		{ 0, S("\x10\x0f\0\4MQTT\5\2\0\x3c\0\0\2me") },
		{ 1, S("\x20\3\0\0\0") },
		{ 0, S("\x34\x08\0\2tt\0\1\0x") },
		{ 1, S("\x50\2\0\1") },
		{ 0, S("\x62\2\0\1") },
		{ 1, S("\x70\2\0\1\x32\x08\0\2uu\0\1\0y") },
		{ 0, S("\x40\2\0\1\xe0\0") },
	};

	(void)state;
	DIALOGUE(lines, "mqtt",
		 ">CONNECT|<1 0|>PUBLISH tt|<2|>PUBREL|<3|>PUBLISH uu|<4|~DISCONNECT|");
}

static void amqp_heartbeats_and_fetching_one(void **state)
{
	static const struct line lines[] = {
		{ 0, S("AMQP\0\0\11\1") },
		{ 0, S("\1\0\1\0\0\0\x0c\0\x3c\0\x46\0\0\4mail\0\xce\x08\0\0\0\0\0\0\xce") },
		{ 1, S("\1\0\1\0\0\0\x06\0\x3c\0\x47zz\xce\2\0\1\0\0\0\4abcd\xce\3\0\1\0\0\0\1x"
		       "\xce") },
		{ 0, S("\1\0\1\0\0\0\x0c\0\x3c\0\x46\0\0\4mail\0\xce") },
		{ 1, S("\x08\0\0\0\0\0\0\xce\1\0\1\0\0\0\5\0\x3c\0\x48\0\xce") },
	};

	(void)state;
	DIALOGUE(lines, "amqp", ">Basic.Get mail|<1|>Basic.Get mail|<2|");
}

static void nats_news_are_no_greeting(void **state)
{
	static const struct line lines[] = {
		{ 1, S("INFO {\"a\":1}\r\n") },
		{ 0, S("CONNECT {}\r\nHPUB svc _INBOX.2 12 14\r\nNATS/1.0\r\n\r\nhi\r\n") },
		{ 1, S("INFO {\"ldm\":true}\r\nHMSG _INBOX.2 9 12 14\r\nNATS/1.0\r\n\r\nok\r\n") },
	};

	(void)state;
	DIALOGUE(lines, "nats", ">INFO|<1|>svc|~INFO|<2|");
}

/* Headers that libraries use, and where they are found. */
static void every_kind_of_trace_header_is_known(void **state)
{
	static const struct {
		const char *name, *value, *key;
		enum key_kind kind;
	} cases[] = {
		{ "TraceParent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		  "0af7651916cd43dd8448eb211c80319c", KEY_TRACE },
		{ "b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
		  "80f198ee56343ba864fe8b2a57d3eff7", KEY_TRACE },
		{ "X-B3-TraceId", "463ac35c9f6413ad", "463ac35c9f6413ad", KEY_TRACE },
		{ "uber-trace-id", "3f1e:5b:0:1", "3f1e", KEY_TRACE },
		{ "sw8", "1-dHJhY2UtMQ==-c2Vn-3-c2Vy-aW5z-L2E=-aDox", "trace-1", KEY_TRACE },
		{ "x-request-id", "9f-1", "9f-1", KEY_REQUEST },
		{ "x-trace-ids", "9f-1", "", KEY_NONE },
		{ "b3", "0", "", KEY_NONE },
		{ "traceparent", "00-short-b7ad6b7169203331-01", "", KEY_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace t = { 0 };

		trace_take_header(&t, str_of(cases[i].name), str_of(cases[i].value));
		assert_int_equal(t.kind, cases[i].kind);
		assert_str_equal(trace_key(&t), cases[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tunnel_is_found_out_anew),
		cmocka_unit_test(a_tunnel_that_is_refused_is_none),
		cmocka_unit_test(an_upgrade_to_http2_is_answered_on_its_first_stream),
		cmocka_unit_test(a_websocket_goes_by_turns),
		cmocka_unit_test(what_a_server_pushes_keeps_the_table_right),
		cmocka_unit_test(padding_priority_and_continuations_are_no_headers),
		cmocka_unit_test(names_of_a_table_that_was_missed_are_left_out),
		cmocka_unit_test(postgresql_refuses_without_being_ready),
		cmocka_unit_test(postgresql_copies_in_one_call),
		cmocka_unit_test(mysql_answers_a_file_when_it_has_come),
		cmocka_unit_test(redis_messages_come_between_answers),
		cmocka_unit_test(redis_reads_maps_attributes_and_lines),
		cmocka_unit_test(memcached_quiet_ones_are_not_waited_for),
		cmocka_unit_test(mongo_tells_more_without_being_asked),
		cmocka_unit_test(kafka_topics_of_newer_versions_are_read),
		cmocka_unit_test(mqtt_asks_from_both_sides),
		cmocka_unit_test(amqp_heartbeats_and_fetching_one),
		cmocka_unit_test(nats_news_are_no_greeting),
		cmocka_unit_test(every_kind_of_trace_header_is_known),
	};

	return RUN(tests);
}
