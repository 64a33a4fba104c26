#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "hub/agents.h"
#include "hub/frames.h"
#include "hub/hub.h"
#include "hub/journal.h"
#include "hub/listen.h"
#include "model/mention_wire.h"

static int set_up(void **state)
{
	char *dir = strdup("/tmp/culprit-hub-XXXXXX");

	*state = dir;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return system(command) ? -1 : 0;
}

static void numbers_of_messages_are_kept_as_ranges(void **state)
{
	static const uint64_t order[] = { 5, 3, 4, 9, 8, 1, 2 };
	struct agents a = { 0 };
	struct agents_one *one = agents_at(&a, STR("id1"), STR("h"));

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		assert_true(agents_add(one, order[i]));
		assert_false(agents_add(one, order[i]));
	}
	assert_int_equal(one->ranges.nr, 2);
	assert_int_equal(agents_nr_missing(&a), 2);
	assert_false(agents_has(one, 6));
	assert_true(agents_add(one, 6) && agents_add(one, 7));
	assert_int_equal(one->ranges.nr, 1);
	assert_int_equal(agents_nr_missing(&a), 0);
	agents_done(&a);
}

static void ranges_come_back_from_text(void **state)
{
	struct agents a = { 0 }, b = { 0 };
	struct buf text = { 0 }, again = { 0 };
	struct agents_one *one = agents_at(&a, STR("an id"), STR("h 1"));

	(void)state;
	for (uint64_t i = 1; i < 100; i += 3)
		assert_true(agents_add(one, i) && agents_add(one, i + 1));
	agents_write(&a, &text);
	agents_add(agents_at(&b, STR("an id"), STR("h 1")), 50);
	agents_add(agents_at(&b, STR("an id"), STR("h 1")), 51);
	assert_true(agents_read(&b, buf_str(&text)));
	agents_add(agents_at(&a, STR("an id"), STR("h 1")), 51);
	buf_clear(&text);
	agents_write(&a, &text);
	agents_write(&b, &again);
	assert_true(str_eq(buf_str(&text), buf_str(&again)));
	assert_false(agents_read(&b, STR("x")));
	assert_false(agents_read(&b, STR("x y 9-1")));
	agents_done(&a);
	agents_done(&b);
	buf_done(&text);
	buf_done(&again);
}

static void hosts_of_one_name_are_told_apart(void **state)
{
	struct agents a = { 0 };

	(void)state;
	assert_string_equal(agents_at(&a, STR("0123456789"), STR("web"))->name, "web");
	assert_string_equal(agents_at(&a, STR("abcdefghij"), STR("web"))->name, "web~abcdef");
	assert_string_equal(agents_at(&a, STR("0123456789"), STR("web"))->name, "web");
	agents_done(&a);
}

static void messages_are_cut_by_length_and_by_line(void **state)
{
	static const char stream[] = "5 abc\ndhello\n12 x\nlast\n3 end";
	static const char *const want[] = { "abc\nd", "hello", "x\nlast\n3 end" };

	(void)state;
	for (size_t step = 1; step < sizeof(stream); step++) {
		struct frames f = { 0 };
		struct str message = { 0 };
		size_t nr = 0;

		for (size_t at = 0; at < sizeof(stream) - 1; at += step) {
			frames_add(&f, str_head(str_skip(str_of(stream), at), step));
			while (frames_next(&f, &message)) {
				if (nr == 3)
					abort();
				assert_str_equal(message, want[nr]);
				nr++;
			}
		}
		assert_int_equal(nr, 3);
		frames_done(&f);
	}
}

static void messages_that_are_too_long_are_passed_over(void **state)
{
	struct frames f = { 0 };
	struct str message;
	char *much = malloc(WIRE_BYTES_MAX);

	(void)state;
	memset(much, 'x', WIRE_BYTES_MAX);
	frames_add(&f, STR("9000000 "));
	for (size_t left = 9000000; left;) {
		size_t n = left < WIRE_BYTES_MAX ? left : WIRE_BYTES_MAX;

		frames_add(&f, (struct str){ much, n });
		assert_false(frames_next(&f, &message));
		left -= n;
		assert_true(f.held.room < 4 * WIRE_BYTES_MAX);
	}
	frames_add(&f, STR("3 abc"));
	assert_true(frames_next(&f, &message));
	assert_str_equal(message, "abc");
	for (int i = 0; i < 3; i++)
		frames_add(&f, (struct str){ much, WIRE_BYTES_MAX });
	assert_false(frames_next(&f, &message));
	frames_add(&f, STR("\nb\n"));
	assert_true(frames_next(&f, &message));
	assert_str_equal(message, "b");
	assert_int_equal(f.nr_bad, 2);
	frames_done(&f);
	free(much);
}

static struct journal *open_journal(const char *dir, uint64_t segment, uint64_t max)
{
	const struct journal_options o = { dir, segment, max };
	struct error err = { 0 };
	struct journal *j = NULL;

	if (journal_open(&j, &o, &err) < 0)
		fail_msg("%s", err.msg);
	return j;
}

static unsigned count_records(struct journal *j, struct journal_place *at)
{
	struct buf b = { 0 };
	struct error err = { 0 };
	unsigned nr = 0;
	char kind;
	int r;

	while ((r = journal_next(j, at, &kind, &b, &err)) > 0) {
		assert_true(b.n == 3 && b.p[0] == 'r');
		nr++;
	}
	assert_int_equal(r, 0);
	buf_done(&b);
	return nr;
}

static void a_cut_at_any_byte_loses_the_last_record_only(void **state)
{
	struct journal *j = open_journal(*state, 1 << 20, 1 << 30);
	struct journal_place at = { 0 };
	struct error err = { 0 };
	char path[128];
	struct stat st;

	for (int i = 0; i < 3; i++)
		assert_int_equal(journal_append(j, JOURNAL_MESSAGE, STR("r01"), true, &err), 0);
	assert_int_equal(count_records(j, &at), 3);
	assert_int_equal(journal_append(j, JOURNAL_MESSAGE, STR("r02"), true, &err), 0);
	assert_int_equal(count_records(j, &at), 1);
	journal_close(j);
	snprintf(path, sizeof(path), "%s/0000000000000001.journal", (char *)*state);
	assert_int_equal(stat(path, &st), 0);
	for (off_t n = st.st_size - 1; n >= st.st_size * 3 / 4; n--) {
		at = (struct journal_place){ 0 };
		assert_int_equal(truncate(path, n), 0);
		j = open_journal(*state, 1 << 20, 1 << 30);
		assert_int_equal(count_records(j, &at), 3);
		journal_close(j);
	}
}

static void the_oldest_files_go_when_there_is_no_room(void **state)
{
	struct journal *j = open_journal(*state, 50, 400);
	struct journal_place at = { 0 };
	struct error err = { 0 };
	unsigned nr;

	for (int i = 0; i < 200; i++)
		assert_int_equal(journal_append(j, JOURNAL_MESSAGE, STR("r01"), false, &err), 0);
	nr = count_records(j, &at);
	assert_true(nr > 10 && nr < 30);
	assert_true(journal_nr_gone(j) > 10);
	journal_close(j);
}

static void message_of(struct buf *b, const char *agent, uint64_t seq, const char *body)
{
	const struct wire_head head = {
		.agent = str_of(agent), .boot = STR("b"), .host = STR("h"), .seq = seq
	};

	buf_clear(b);
	wire_write(b, &head, str_of(body));
}

static struct hub *open_hub(const char *dir)
{
	const struct hub_options o = { dir, 1 << 30 };
	struct error err = { 0 };
	struct hub *h = NULL;

	if (hub_open(&h, &o, &err) < 0)
		fail_msg("%s", err.msg);
	return h;
}

static void each_message_counts_once_over_restarts(void **state)
{
	struct buf b = { 0 };
	struct error err = { 0 };

	for (uint64_t round = 0; round < 3; round++) {
		struct hub *h = open_hub(*state);
		struct journal_place at = { 0 };
		struct hub_state s;
		struct hub_message m;
		unsigned nr = 0;

		for (uint64_t seq = 1; seq < 20 + round; seq++) {
			message_of(&b, "a1", seq, "=x");
			assert_int_equal(hub_accept(h, buf_str(&b), seq % 2, &err),
					 !round || seq == 19 + round);
		}
		b.p[b.n - 1] ^= 1;
		assert_int_equal(hub_accept(h, buf_str(&b), true, &err), 0);
		assert_int_equal(hub_accept(h, STR("<13>hello"), true, &err), 0);
		while (hub_next(h, &at, &m, &err) > 0) {
			assert_str_equal(m.body, "=x");
			assert_string_equal(m.name, "h");
			nr++;
		}
		assert_int_equal(nr, 19 + round);
		hub_state(h, &s);
		assert_int_equal(s.nr_agents, 1);
		assert_int_equal(s.nr_missing, 0);
		assert_int_equal(s.nr_damaged, 1);
		assert_int_equal(s.nr_foreign, 1);
		hub_close(h);
	}
	buf_done(&b);
}

static void what_did_not_arrive_is_counted(void **state)
{
	struct hub *h = open_hub(*state);
	struct error err = { 0 };
	struct buf b = { 0 };
	struct hub_state s;

	message_of(&b, "a1", 7, "=x");
	hub_accept(h, buf_str(&b), true, &err);
	message_of(&b, "a1", 10, "=x");
	hub_accept(h, buf_str(&b), true, &err);
	hub_state(h, &s);
	assert_int_equal(s.nr_missing, 2);
	hub_close(h);
	buf_done(&b);
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		abort();
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void messages_arrive_over_tcp(void **state)
{
	const struct listen_tls none = { 0 };
	struct hub *h = open_hub(*state);
	struct listener *l = NULL;
	struct error err = { 0 };
	struct buf b = { 0 };
	struct hub_state s = { 0 };
	uint16_t port = (uint16_t)(20000 + getpid() % 20000);
	char address[64], head[16];
	int fd;

	do
		snprintf(address, sizeof(address), "tcp://127.0.0.1:%u", ++port);
	while (listener_start(&l, h, address, &none, &err) < 0 && port < 50000);
	fd = connect_to(port);
	message_of(&b, "a1", 1, "=x");
	snprintf(head, sizeof(head), "%zu ", b.n);
	assert_true(write(fd, head, strlen(head)) > 0);
	assert_true(write(fd, b.p, b.n) > 0);
	message_of(&b, "a1", 2, "=x");
	buf_char(&b, '\n');
	assert_true(write(fd, b.p, b.n) > 0);
	close(fd);
	for (int i = 0; i < 18000 && s.nr_messages < 2; i++) {
		usleep(10000);
		hub_state(h, &s);
	}
	assert_int_equal(s.nr_messages, 2);
	listener_stop(l);
	hub_close(h);
	buf_done(&b);
}

static void addresses_that_are_none_are_refused(void **state)
{
	static const char *const bad[] = { "", "host", "host:", "host:0", "host:70000", "tcp://" };
	const struct listen_tls none = { 0 };
	struct hub *h = open_hub(*state);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct listener *l = NULL;
		struct error err = { 0 };

		assert_int_equal(listener_start(&l, h, bad[i], &none, &err), -EINVAL);
	}
	hub_close(h);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_messages_are_kept_as_ranges),
		cmocka_unit_test(ranges_come_back_from_text),
		cmocka_unit_test(hosts_of_one_name_are_told_apart),
		cmocka_unit_test(messages_are_cut_by_length_and_by_line),
		cmocka_unit_test(messages_that_are_too_long_are_passed_over),
		TEST(a_cut_at_any_byte_loses_the_last_record_only),
		TEST(the_oldest_files_go_when_there_is_no_room),
		TEST(each_message_counts_once_over_restarts),
		TEST(what_did_not_arrive_is_counted),
		TEST(messages_arrive_over_tcp),
		TEST(addresses_that_are_none_are_refused),
	};

	return RUN(tests);
}
