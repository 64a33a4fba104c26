/* Who may ask: pages of this server on loopback, holders of the token elsewhere, nobody else. */
#include "unit.h"

#include <string.h>

#include "web/asked.h"
#include "web/guard.h"
#include "web/reply.h"

static const struct guard here = { NULL, false, 7272, "own.example" };
static const struct guard there = { "0123456789abcdef", true, 443, NULL };

static unsigned status(const struct guard *g, const struct asked *a)
{
	struct reply r = { 0 };
	bool is_in = guard_lets_in(g, a, &r);
	unsigned got = is_in ? 200 : r.status;

	reply_done(&r);
	return got;
}

static unsigned host(const char *name)
{
	struct asked a = { .method = "GET", .path = "/api/runs", .host = name };

	return status(&here, &a);
}

static void only_names_of_this_machine_are_answered(void **state)
{
	(void)state;
	assert_int_equal(host("localhost:7272"), 200);
	assert_int_equal(host("LOCALHOST:7272"), 200);
	assert_int_equal(host("127.0.0.1:7272"), 200);
	assert_int_equal(host("[::1]:7272"), 200);
	assert_int_equal(host("127.0.0.2:7272"), 200);
	assert_int_equal(host("own.example:7272"), 200);
	assert_int_equal(host("127.0.0.1.evil.example:7272"), 421);
	assert_int_equal(host("127.0.0:7272"), 421);
	assert_int_equal(host("127.0.0.256:7272"), 421);
	assert_int_equal(host("localhost"), 421);
	assert_int_equal(host("localhost:7273"), 421);
	assert_int_equal(host("evil.example:7272"), 421);
	assert_int_equal(host("localhost.evil.example:7272"), 421);
	assert_int_equal(host("127.0.0.1:7272@evil"), 421);
	assert_int_equal(host("[::1:7272"), 421);
	assert_int_equal(host(""), 421);
	assert_int_equal(host(NULL), 400);
}

static unsigned page(const char *origin, const char *site, const char *path)
{
	struct asked a = { .method = "GET",
			   .path = path,
			   .host = "localhost:7272",
			   .origin = origin,
			   .site = site };

	return status(&here, &a);
}

static void no_other_page_may_ask(void **state)
{
	(void)state;
	assert_int_equal(page("http://localhost:7272", "same-origin", "/api/runs"), 200);
	assert_int_equal(page("https://localhost:7272", NULL, "/api/runs"), 403);
	assert_int_equal(page("http://evil.example", NULL, "/api/runs"), 403);
	assert_int_equal(page("null", NULL, "/api/runs"), 403);
	assert_int_equal(page(NULL, "cross-site", "/api/runs"), 403);
	assert_int_equal(page(NULL, "same-site", "/page.js"), 403);
	/* a link that somebody was sent leads to the page itself */
	assert_int_equal(page(NULL, "cross-site", "/"), 200);
	assert_int_equal(page(NULL, "none", "/api/runs"), 200);
}

static unsigned token(const char *authorization, const char *cookie)
{
	struct asked a = { .method = "GET",
			   .path = "/api/runs",
			   .host = "culprit.example",
			   .authorization = authorization,
			   .cookie = cookie };

	return status(&there, &a);
}

static void elsewhere_the_token_lets_in(void **state)
{
	(void)state;
	assert_int_equal(token(NULL, NULL), 401);
	assert_int_equal(token("Bearer 0123456789abcdef", NULL), 200);
	assert_int_equal(token("Bearer 0123456789abcde", NULL), 401);
	assert_int_equal(token("Bearer 0123456789abcdeff", NULL), 401);
	assert_int_equal(token("Bearer ", NULL), 401);
	assert_int_equal(token("0123456789abcdef", NULL), 401);
	assert_int_equal(token(NULL, "culprit_token_443=0123456789abcdef"), 200);
	assert_int_equal(token(NULL, "a=b; culprit_token_443=0123456789abcdef; c=d"), 200);
	assert_int_equal(token(NULL, "a=b;culprit_token_443=nope"), 401);
	assert_int_equal(token(NULL, ""), 401);
	/* of another server on this host */
	assert_int_equal(token(NULL, "culprit_token_8443=0123456789abcdef"), 401);
	assert_int_equal(token(NULL, ";;;"), 401);
}

static void a_link_with_the_token_becomes_a_cookie(void **state)
{
	struct asked a = { .method = "GET",
			   .path = "/",
			   .host = "culprit.example",
			   .params = { { "token", "0123456789abcdef" } },
			   .nr_params = 1 };
	struct reply r = { 0 };

	(void)state;
	assert_false(guard_lets_in(&there, &a, &r));
	assert_int_equal(r.status, 303);
	assert_string_equal(r.location, "/");
	assert_non_null(strstr(r.cookie, "0123456789abcdef"));
	assert_non_null(strstr(r.cookie, "HttpOnly"));
	assert_non_null(strstr(r.cookie, "Secure"));
	assert_non_null(strstr(r.cookie, "SameSite=Lax"));
	reply_done(&r);
	a.params[0].value = "guess";
	assert_int_equal(status(&there, &a), 401);
	a.params[0].value = "0123456789abcdef";
	a.path = "/api/runs";
	assert_int_equal(status(&there, &a), 401);
}

static void tokens_can_be_carried_and_not_guessed(void **state)
{
	(void)state;
	assert_true(guard_can_use("0123456789abcdef"));
	assert_true(guard_can_use("a-b.c_d~e-f.g"));
	assert_false(guard_can_use(""));
	assert_false(guard_can_use("short"));
	assert_false(guard_can_use("0123456789 abcdef"));
	assert_false(guard_can_use("0123456789;abcdef"));
	assert_false(
		guard_can_use("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
			      "0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_this_machine_are_answered),
		cmocka_unit_test(no_other_page_may_ask),
		cmocka_unit_test(elsewhere_the_token_lets_in),
		cmocka_unit_test(tokens_can_be_carried_and_not_guessed),
		cmocka_unit_test(a_link_with_the_token_becomes_a_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
