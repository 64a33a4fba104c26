/* Live packets: the limits of a recording, what stands in its way, and a talk over loopback. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/packets.h"
#include "collected.h"

static bool say_stop(void *to)
{
	return *(bool *)to;
}

static int refuse(void *to, struct error *err)
{
	(void)to;
	return error_set(err, ENOENT, "cannot run it");
}

static void nothing_ends_a_recording_without_limits(void **state)
{
	struct capture c = { 0 };
	struct capture_state s;

	(void)state;
	assert_int_equal(capture_ready(&c, &s, NULL), 0);
	s.seen.nr_seen = UINT64_MAX;
	assert_false(capture_is_over(&c, &s));
	assert_int_equal(capture_wait_ns(&c, &s), CAPTURE_LOOK_NS);
}

static void the_number_given_is_the_last_one(void **state)
{
	struct capture c = { .limits.nr_max = 3 };
	struct capture_state s;

	(void)state;
	capture_ready(&c, &s, NULL);
	s.seen.nr_seen = 2;
	assert_false(capture_is_over(&c, &s));
	s.seen.nr_seen = 3;
	assert_true(capture_is_over(&c, &s));
}

static void time_runs_from_the_moment_that_all_is_attached(void **state)
{
	struct capture c = { .limits.for_ns = 20 * NS_MS };
	struct capture_state s = { .began = 1 };

	(void)state;
	capture_ready(&c, &s, NULL);
	assert_false(capture_is_over(&c, &s));
	assert_true(capture_wait_ns(&c, &s) <= 20 * NS_MS);
	s.began -= 20 * NS_MS;
	assert_true(capture_is_over(&c, &s));
	assert_int_equal(capture_wait_ns(&c, &s), 0);
}

static void whoever_asks_for_the_end_gets_it(void **state)
{
	bool is_stopped = false;
	struct capture c = { .to = &is_stopped, .is_stopped = say_stop };
	struct capture_state s;

	(void)state;
	capture_ready(&c, &s, NULL);
	assert_false(capture_is_over(&c, &s));
	is_stopped = true;
	assert_true(capture_is_over(&c, &s));
}

static void a_command_that_does_not_start_ends_it(void **state)
{
	struct capture c = { .ready = refuse };
	struct capture_state s;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(capture_ready(&c, &s, &err), -ENOENT);
	assert_string_equal(err.msg, "cannot run it");
}

static void an_unknown_interface_is_told_with_those_that_exist(void **state)
{
	const char *names[] = { "lo", "no-such-one" };
	struct packets_options o = { .interfaces = names, .nr_interfaces = 2 };
	struct error err = { 0 };
	struct pcap *p = NULL;

	(void)state;
	assert_int_equal(packets_open(&o, &p, &err), -ENODEV);
	assert_null(p);
	assert_true(
		str_starts(str_of(err.msg),
			   STR("there is no network interface 'no-such-one'; there is: any, ")));
	assert_non_null(strstr(err.msg, "lo"));
}

/* Two ends of a connection over loopback, in this process. */
struct talkers {
	struct collected *seen;
	int listener, client, server;
	uint16_t port;
};

static void listen_somewhere(struct talkers *t)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->listener < 0) {
		fail_msg("no socket");
		return;
	}
	assert_int_equal(bind(t->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(t->listener, 1), 0);
	assert_int_equal(getsockname(t->listener, (struct sockaddr *)&at, &n), 0);
	t->port = ntohs(at.sin_port);
}

static void pass_on(int from, int to, struct str text)
{
	char got[512];
	size_t n = 0;

	assert_int_equal(send(from, text.p, text.n, MSG_NOSIGNAL), (ssize_t)text.n);
	while (n < text.n) {
		ssize_t r = recv(to, got, sizeof(got), 0);

		assert_true(r > 0);
		n += (size_t)r;
	}
}

static int talk(void *to, struct error *err)
{
	struct talkers *t = to;
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(t->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	t->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->client < 0)
		return error_set(err, errno, "no socket");
	assert_int_equal(connect(t->client, (struct sockaddr *)&at, sizeof(at)), 0);
	t->server = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
	if (t->server < 0)
		return error_set(err, errno, "no connection");
	for (int i = 0; i < 3; i++) {
		pass_on(t->client, t->server, STR("GET /stock HTTP/1.1\r\nHost: shop\r\n\r\n"));
		pass_on(t->server, t->client,
			STR("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"));
	}
	close(t->client);
	close(t->server);
	return 0;
}

/* Records the talk; false (and a word) without the right to. */
static bool record_talk(struct collected *seen, const char *const *names, size_t nr_names,
			uint64_t nr_max)
{
	const struct source_options reading = { .is_blind = true };
	struct talkers t = { .seen = seen };
	struct sink sink = { seen, collected_file, collected_events, collected_spans,
			     NULL, &seen->losses };
	struct capture c = { .sink = &sink,
			     .limits = { .for_ns = 300 * NS_MS, .nr_max = nr_max },
			     .to = &t,
			     .ready = talk };
	struct packets_options o = { .interfaces = names,
				     .nr_interfaces = nr_names,
				     .buffer_bytes = 1 << 20,
				     .reading = &reading };
	char filter[64];
	int r;

	listen_somewhere(&t);
	snprintf(filter, sizeof(filter), "tcp port %u", t.port);
	o.filter = filter;
	r = packets_record(&o, &c, &seen->err);
	close(t.listener);
	if (r == -EPERM)
		print_message("[  SKIPPED ] no right to capture packets\n");
	else if (r < 0)
		fail_msg("%s", seen->err.msg);
	return r >= 0;
}

static void check_talk(struct collected *seen)
{
	assert_int_equal(seen->nr_files, 1);
	assert_int_equal(seen->events.nr, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct event *e = &seen->events.v[i];

		assert_int_equal(e->op, i % 2 ? MESSAGE_RETURN : MESSAGE_CALL);
		assert_int_equal(e->kind, EVENT_MESSAGE);
		assert_str_equal(e->point, "http");
		assert_true(e->ns > time_now() - 60 * NS_S && e->ns <= time_now());
		assert_true(!i || e->ns >= e[-1].ns);
	}
	assert_int_equal(seen->losses.count[LOSS_PACKETS_DROPPED], 0);
	assert_int_equal(seen->losses.count[LOSS_PACKETS_TWICE], 0);
	assert_int_equal(seen->losses.count[LOSS_STREAMS_MIDWAY], 0);
}

static void what_is_said_over_loopback_is_heard_once(void **state)
{
	static const char *const lo[] = { "lo" };
	struct collected seen = { 0 };

	(void)state;
	if (record_talk(&seen, lo, 1, 0))
		check_talk(&seen);
	collected_done(&seen);
}

static void all_interfaces_together_hear_it_once_too(void **state)
{
	static const char *const twice[] = { "lo", "lo" };
	struct collected seen = { 0 }, chosen = { 0 };

	(void)state;
	if (record_talk(&seen, NULL, 0, 0))
		check_talk(&seen);
	if (record_talk(&chosen, twice, 2, 0))
		check_talk(&chosen);
	collected_done(&seen);
	collected_done(&chosen);
}

static void packets_behind_the_last_one_are_not_taken(void **state)
{
	static const char *const lo[] = { "lo" };
	struct collected seen = { 0 };

	(void)state;
	/* the handshake and the first call: nothing answers it */
	if (record_talk(&seen, lo, 1, 4)) {
		assert_int_equal(seen.events.nr, 1);
		assert_int_equal(seen.events.v[0].op, MESSAGE_CALL);
	}
	collected_done(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_ends_a_recording_without_limits),
		cmocka_unit_test(the_number_given_is_the_last_one),
		cmocka_unit_test(time_runs_from_the_moment_that_all_is_attached),
		cmocka_unit_test(whoever_asks_for_the_end_gets_it),
		cmocka_unit_test(a_command_that_does_not_start_ends_it),
		cmocka_unit_test(an_unknown_interface_is_told_with_those_that_exist),
		cmocka_unit_test(what_is_said_over_loopback_is_heard_once),
		cmocka_unit_test(all_interfaces_together_hear_it_once_too),
		cmocka_unit_test(packets_behind_the_last_one_are_not_taken),
	};

	return RUN(tests);
}
