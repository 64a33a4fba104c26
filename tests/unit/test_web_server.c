/* The server as strangers meet it: many at once, idle, rude, gone; and runs that change under it.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "ask_run.h"
#include "home.h"
#include "web/crowd.h"
#include "web/runs.h"
#include "web/web.h"

#define THREADS 8
#define ROUNDS 12
#define IDLE 200

struct served {
	struct home *home;
	struct runs *runs;
	struct web *web;
};

static void make_run(const char *path, int nr_requests)
{
	struct store *s;
	struct error err;

	assert_int_equal(store_create(&s, path, &err), 0);
	for (int i = 0; i < nr_requests; i++)
		run_add(s, "GET /order",
			&(struct order){ .i = i,
					 .stock = "stock-1",
					 .auth_ns = NS_MS,
					 .stock_ns = (5 + i % 3) * NS_MS });
	assert_int_equal(store_finish(s, &err), 0);
	store_close(s);
}

static int setup(void **state)
{
	struct served *s = calloc(1, sizeof(*s));
	struct web_options o = { .version = "test" };
	struct error err = { 0 };

	if (home_setup((void **)&s->home))
		return -1;
	make_run(s->home->run, 40);
	s->runs = runs_new();
	runs_add(s->runs, s->home->run, "a.culprit");
	*state = s;
	return web_start(&s->web, &o, s->runs, &err);
}

static int teardown(void **state)
{
	struct served *s = *state;
	int r;

	web_stop(s->web);
	runs_free(s->runs);
	r = home_teardown((void **)&s->home);
	free(s);
	return r;
}

/* --- a browser of twenty lines -----------------------------------------------------------------
 */

static int connected(const struct served *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(web_port(s->web)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval most = { .tv_sec = 180 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	return fd;
}

static void put(int fd, const struct served *s, const char *method, const char *path)
{
	struct buf b = { 0 };

	buf_fmt(&b, "%s %s HTTP/1.1\r\nHost: localhost:%u\r\nConnection: close\r\n\r\n", method,
		path, web_port(s->web));
	send(fd, b.p, b.n, MSG_NOSIGNAL);
	buf_done(&b);
}

/* The status, and the body in *body; 0 when nothing came. */
static int asked(const struct served *s, const char *method, const char *path, struct buf *body)
{
	struct buf b = { 0 };
	int fd = connected(s), status = 0;
	ssize_t n = fd < 0 ? -1 : 1;
	const char *end;

	if (fd >= 0)
		put(fd, s, method, path);
	while (n > 0) {
		n = read(fd, buf_room(&b, 4096), 4096);
		b.n += n > 0 ? (size_t)n : 0;
	}
	buf_char(&b, '\0');
	sscanf(b.p, "HTTP/1.1 %d", &status);
	end = strstr(b.p, "\r\n\r\n");
	buf_clear(body);
	buf_fmt(body, "%s", end ? end + 4 : "");
	buf_char(body, '\0');
	buf_done(&b);
	if (fd >= 0)
		close(fd);
	return status;
}

static void expect(const struct served *s, const char *path, int status, const char *says)
{
	struct buf body = { 0 };

	assert_int_equal(asked(s, "GET", path, &body), status);
	assert_non_null(body.p);
	if (!strstr(body.p, says))
		fail_msg("'%s' is not in '%.200s'", says, body.p);
	buf_done(&body);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static const char *const paths[] = {
	"/api/runs",
	"/api/questions",
	"/api/answer",
	"/api/requests?heat",
	"/api/requests?request=3",
	"/api/slow",
	"/api/paths?graph",
	"/api/requests?limit=5",
	"/api/nothing",
	"/api/diff?against=1",
	"/api/export?format=jaeger",
};

#define PATHS (sizeof(paths) / sizeof(*paths))

struct asker {
	const struct served *s;
	const struct buf *want;
	size_t first, nr_wrong;
};

static void *ask_all(void *to)
{
	struct asker *a = to;
	struct buf got = { 0 };

	for (size_t i = 0; i < ROUNDS; i++) {
		size_t at = (a->first + i) % PATHS;

		asked(a->s, "GET", paths[at], &got);
		a->nr_wrong += !str_eq(buf_str(&got), buf_str(&a->want[at]));
	}
	buf_done(&got);
	return NULL;
}

static void many_at_once_get_what_one_gets(void **state)
{
	struct buf want[PATHS] = { { 0 } };
	struct asker askers[THREADS];
	pthread_t threads[THREADS];
	size_t nr_wrong = 0;

	for (size_t i = 0; i < PATHS; i++)
		assert_int_not_equal(asked(*state, "GET", paths[i], &want[i]), 0);
	for (size_t i = 0; i < THREADS; i++) {
		askers[i] = (struct asker){ *state, want, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		nr_wrong += askers[i].nr_wrong;
	}
	assert_int_equal(nr_wrong, 0);
	for (size_t i = 0; i < PATHS; i++)
		buf_done(&want[i]);
}

static void those_who_only_connect_lock_nobody_out(void **state)
{
	int idle[IDLE];

	for (size_t i = 0; i < IDLE; i++)
		idle[i] = connected(*state);
	expect(*state, "/api/runs", 200, "a.culprit");
	expect(*state, "/api/answer", 200, "");
	for (size_t i = 0; i < IDLE; i++)
		close(idle[i]);
}

static void those_who_go_away_harm_nobody(void **state)
{
	for (size_t i = 0; i < 64; i++) {
		int fd = connected(*state);
		const struct linger at_once = { 1, 0 };

		put(fd, *state, "GET", paths[i % PATHS]);
		if (i % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(fd);
	}
	expect(*state, "/api/runs", 200, "a.culprit");
}

static void odd_questions_are_refused(void **state)
{
	struct buf body = { 0 }, path = { 0 };

	expect(*state, "/api/requests?type=a%00b", 400, "zero byte");
	expect(*state, "/api/requests?type=%ff%fe", 400, "match");
	expect(*state, "/api/requests?%ff=1", 400, "takes no");
	expect(*state, "/api/requests?run=%2d1", 400, "a run is a number");
	expect(*state, "/api/requests?run=1001", 400, "a run is a number");
	expect(*state, "/%2e%2e/%2e%2e/etc/passwd", 404, "no such page");
	assert_int_equal(asked(*state, "HEAD", "/api/answer", &body), 200);
	assert_string_equal(body.p, "");
	assert_int_equal(asked(*state, "PUT", "/api/answer", &body), 405);
	assert_int_equal(asked(*state, "\x01\x02", "/api/answer", &body), 405);
	buf_fmt(&path, "/api/requests?type=");
	memset(buf_room(&path, 100000), 'a', 100000);
	path.n += 100000;
	buf_char(&path, '\0');
	assert_int_equal(asked(*state, "GET", path.p, &body), 414);
	buf_done(&path);
	buf_done(&body);
}

static void a_value_is_not_taken_for_two(void **state)
{
	expect(*state, "/api/requests?limit=2&sort=slowest", 200, "\"id\":");
	expect(*state, "/api/requests?limit=2%20sort=slowest", 400, "limit");
}

static void runs_may_change_go_and_come(void **state)
{
	const struct served *s = *state;
	char away[128];

	snprintf(away, sizeof(away), "%s.away", s->home->run);
	expect(s, "/api/requests?types", 200, "\"count\":40");
	make_run(s->home->run, 25);
	expect(s, "/api/requests?types", 200, "\"count\":25");
	expect(s, "/api/runs", 200, "\"generation\":2");
	assert_int_equal(rename(s->home->run, away), 0);
	expect(s, "/api/requests?types", 404, "was removed");
	expect(s, "/api/runs", 200, "was removed");
	assert_int_equal(rename(away, s->home->run), 0);
	expect(s, "/api/requests?types", 200, "\"count\":25");
}

static void who_waits_and_leaves_is_not_worked_for(void **state)
{
	struct crowd *c = crowd_new(2, 1);
	int here[2], there[2];
	struct guest *a, *b;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, here), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, there), 0);
	a = crowd_come(c, here[0]);
	b = crowd_come(c, there[0]);
	/* a third one comes: of the two, the one that is not busy goes */
	crowd_begin(c, a);
	assert_true(crowd_wait(c, a));
	assert_int_equal(crowd_leave(c, crowd_come(c, -1)), 2);
	assert_int_equal(recv(there[1], &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(here[1], &byte, 1, MSG_DONTWAIT), -1);
	crowd_done(c);
	crowd_end(c, a);
	assert_int_equal(crowd_leave(c, a), 1);
	assert_int_equal(crowd_leave(c, b), 0);
	for (int i = 0; i < 2; i++) {
		close(here[i]);
		close(there[i]);
	}
	crowd_free(c);
}

static bool is_over(void *to)
{
	(void)to;
	return true;
}

static void a_question_that_nobody_waits_for_ends(void **state)
{
	const struct served *s = *state;
	struct store *run = NULL;
	uint64_t generation = 0;
	struct buf json = { 0 };
	struct error err = { 0 };
	int got = 0;

	assert_int_equal(runs_take(s->runs, 1, &run, &generation, &err), 0);
	store_watch(run, is_over, NULL);
	run_ask(&run, "answer", NULL, &json, &got);
	assert_int_equal(got, -ECANCELED);
	/* whoever takes it next is another asker */
	runs_give(s->runs, 1, generation, run);
	expect(s, "/api/answer", 200, "GET /order");
	buf_done(&json);
}

static void listening_has_conditions(void **state)
{
	struct runs *runs = runs_new();
	struct web *w = NULL;
	struct error err = { 0 };
	struct web_options o = { .host = "0.0.0.0", .token = "0123456789abcdef" };

	(void)state;
	assert_true(web_start(&w, &o, runs, &err) < 0);
	assert_non_null(strstr(err.msg, "--tls-cert"));
	o = (struct web_options){ .token = "" };
	assert_true(web_start(&w, &o, runs, &err) < 0);
	assert_non_null(strstr(err.msg, "a token is"));
	o = (struct web_options){ .cert = "no certificate" };
	assert_true(web_start(&w, &o, runs, &err) < 0);
	assert_non_null(strstr(err.msg, "both"));
	o = (struct web_options){ .cert = "no certificate", .key = "no key" };
	assert_true(web_start(&w, &o, runs, &err) < 0);
	assert_non_null(strstr(err.msg, "certificate"));
	o = (struct web_options){ .host = "name.invalid" };
	assert_true(web_start(&w, &o, runs, &err) < 0);
	assert_non_null(strstr(err.msg, "name.invalid"));
	assert_null(w);
	runs_free(runs);
}

#define SERVED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVED(many_at_once_get_what_one_gets),
		SERVED(those_who_only_connect_lock_nobody_out),
		SERVED(those_who_go_away_harm_nobody),
		SERVED(odd_questions_are_refused),
		SERVED(a_value_is_not_taken_for_two),
		SERVED(runs_may_change_go_and_come),
		SERVED(a_question_that_nobody_waits_for_ends),
		cmocka_unit_test(who_waits_and_leaves_is_not_worked_for),
		cmocka_unit_test(listening_has_conditions),
	};

	return RUN(tests);
}
