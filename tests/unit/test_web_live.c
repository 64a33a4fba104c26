/* Live queries as a browser meets them, with a hub that a test can see through. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "live_answers.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/live.h"
#include "web/reply.h"
#include "web/routes.h"

struct seen {
	char installed[64], removed[16];
	uint64_t keep[8];
	size_t nr_asked;
};

static void no_trouble(void *ctx, char *why, size_t room)
{
	(void)ctx;
	snprintf(why, room, "%s", "");
}

static void one_standing(void *ctx, void (*each)(void *to, const struct live_standing *q), void *to)
{
	const struct live_standing q = { .id = STR("7"),
					 .name = STR("Q2"),
					 .text = STR("From e In X"),
					 .nr_agents = 3,
					 .nr_agents_failed = 1,
					 .why = STR("no such function") };

	(void)ctx;
	each(to, &q);
}

static void one_peer(void *ctx, void (*each)(void *to, const struct live_peer *p), void *to)
{
	const struct live_peer p = {
		.name = STR("web1"), .host = STR("web1"), .nr_dropped = 4, .overhead = 0.01
	};

	(void)ctx;
	each(to, &p);
}

static void one_word(void *ctx, void (*each)(void *to, const struct live_word *w), void *to)
{
	static const struct str fields[] = { { "took", 4 }, { "text", 4 } };
	const struct live_word w = { STR("DB.Query"), STR("function"), fields, 2 };

	(void)ctx;
	each(to, &w);
}

static int an_answer(void *ctx, struct str id, const uint64_t *keep, size_t nr, struct arena *arena,
		     struct live_answer *a, struct error *err)
{
	static const struct live_answer cells = LIVE_ANSWER(live_cells),
					all = LIVE_ANSWER(live_all);
	struct seen *s = ctx;

	(void)arena;
	if (!str_eq(id, STR("7")))
		return error_set(err, ENOENT, "there is no query '" STR_FMT "'", STR_ARG(id));
	for (size_t i = 0; i < nr; i++) {
		s->keep[s->nr_asked++ % 8] = keep[i];
		a[i] = keep[i] ? cells : all;
		a[i].losses.count[LOSS_FILES_EMPTY] = 2;
	}
	return 0;
}

static int an_explanation(void *ctx, struct str text, bool is_measured,
			  void (*each)(void *to, const struct live_advice *a), void *to,
			  struct error *err)
{
	static const struct str at[] = { { "X", 1 } }, ops[] = { { "OBSERVE host", 12 } };
	const struct live_advice a = { .name = STR("A1"),
				       .at = at,
				       .nr_at = 1,
				       .operations = ops,
				       .nr_operations = 1,
				       .tuples = 1,
				       .bytes = -1,
				       .per_second = is_measured ? 9 : -1 };

	(void)ctx;
	if (!str_starts(text, STR("From")))
		return error_set(err, EINVAL, "1:1: a query begins with From");
	each(to, &a);
	return 0;
}

static int to_install(void *ctx, struct str text, char id[LIVE_ID_MAX], struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	snprintf(s->installed, sizeof(s->installed), STR_FMT, STR_ARG(text));
	snprintf(id, LIVE_ID_MAX, "8");
	return 0;
}

static int to_remove(void *ctx, struct str id, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	snprintf(s->removed, sizeof(s->removed), STR_FMT, STR_ARG(id));
	return 0;
}

/* The answer to METHOD PATH?NAME=VALUE&NAME=VALUE; NULL ends the parameters. */
static unsigned ask(struct seen *s, const char *method, const char *path,
		    const struct asked_param *params, struct buf *body)
{
	const struct live_hub hub = {
		s,         STR("tcp://hub:4785"), no_trouble, one_standing, one_peer, one_word,
		an_answer, an_explanation,        to_install, to_remove
	};
	const struct api api = { .live = s ? &hub : NULL };
	struct asked a = { .method = method, .path = path };
	struct reply r = { 0 };
	unsigned status;

	for (; params && params->name; params++)
		a.params[a.nr_params++] = *params;
	routes_answer(&api, &a, &r);
	status = r.status;
	buf_add(body, buf_str(&r.body));
	reply_done(&r);
	return status;
}

static void assert_has(struct buf *b, const char *want)
{
	struct str text = buf_str(b);

	if (str_find(text, str_of(want)) == text.n)
		fail_msg("'%s' is not in\n%.*s", want, (int)text.n, text.p);
	buf_clear(b);
}

static void what_stands_and_who_is_there(void **state)
{
	struct seen s = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(ask(&s, "GET", "/api/live", NULL, &b), 200);
	assert_has(&b, "\"endpoint\":\"tcp://hub:4785\"");
	ask(&s, "GET", "/api/live", NULL, &b);
	assert_has(&b, "\"agents\":3,\"agents_failed\":1,\"why\":\"no such function\"");
	ask(&s, "GET", "/api/live", NULL, &b);
	assert_has(&b, "\"kind\":\"agent\",\"host\":\"web1\",\"silent\":false");
	assert_int_equal(ask(&s, "GET", "/api/live/words", NULL, &b), 200);
	assert_has(&b, "\"fields\":[\"took\",\"text\"]");
	buf_done(&b);
}

static void an_answer_comes_in_several_views_at_once(void **state)
{
	const struct asked_param params[] = { { "id", "7" }, { "keep", "3,0" }, { 0 } };
	struct seen s = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(ask(&s, "GET", "/api/live/answer", params, &b), 200);
	assert_int_equal(s.nr_asked, 2);
	assert_int_equal(s.keep[0], 3);
	assert_int_equal(s.keep[1], 0);
	assert_has(&b, "{\"section\":\"row\",\"keep\":3,\"values\":[\"a\",\"scan\",15,2],"
		       "\"series\":[[10,null,5],[1.5,null,2.5]]}\n");
	ask(&s, "GET", "/api/live/answer", params, &b);
	assert_has(&b, "{\"section\":\"row\",\"keep\":0,\"values\":[null,null,25,2.8]");
	ask(&s, "GET", "/api/live/answer", params, &b);
	assert_has(&b, "{\"losses\":{\"files_empty\":2}}\n");
	buf_done(&b);
}

static void nonsense_is_refused(void **state)
{
	const struct asked_param gone[] = { { "id", "9" }, { 0 } };
	const struct asked_param bad[] = { { "id", "7" }, { "keep", "3,,0" }, { 0 } };
	const struct asked_param wrong[] = { { "query", "Select" }, { 0 } };
	struct seen s = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(ask(&s, "GET", "/api/live/answer", gone, &b), 404);
	assert_int_equal(ask(&s, "GET", "/api/live/answer", bad, &b), 400);
	assert_int_equal(ask(&s, "GET", "/api/live/explain", wrong, &b), 400);
	assert_int_equal(ask(&s, "GET", "/api/live/explain", NULL, &b), 400);
	buf_clear(&b);
	assert_int_equal(ask(NULL, "GET", "/api/live", NULL, &b), 200);
	assert_int_equal(b.n, 0);
	assert_int_equal(ask(NULL, "GET", "/metrics", NULL, &b), 404);
	buf_done(&b);
}

/* A picture or a link of another page can only GET. */
static void changes_are_posted(void **state)
{
	const struct asked_param query[] = { { "query", "From e In X" }, { 0 } };
	const struct asked_param id[] = { { "id", "7" }, { 0 } };
	struct seen s = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(ask(&s, "GET", "/api/live/install", query, &b), 405);
	assert_int_equal(ask(&s, "GET", "/api/live/remove", id, &b), 405);
	assert_int_equal(ask(&s, "POST", "/api/live", NULL, &b), 405);
	assert_string_equal(s.installed, "");
	buf_clear(&b);
	assert_int_equal(ask(&s, "POST", "/api/live/install", query, &b), 200);
	assert_string_equal(s.installed, "From e In X");
	assert_has(&b, "\"id\":\"8\"");
	assert_int_equal(ask(&s, "POST", "/api/live/remove", id, &b), 200);
	assert_string_equal(s.removed, "7");
	assert_int_equal(ask(&s, "GET", "/api/live/measure", query, &b), 405);
	buf_clear(&b);
	assert_int_equal(ask(&s, "POST", "/api/live/measure", query, &b), 200);
	assert_has(&b, "\"per_second\":9");
	buf_done(&b);
}

static void metrics_have_answers_and_health(void **state)
{
	struct seen s = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(ask(&s, "GET", "/metrics", NULL, &b), 200);
	assert_has(&b, "culprit_query_SUM_e_delta_total{query=\"Q2\"");
	ask(&s, "GET", "/metrics", NULL, &b);
	assert_has(&b, "culprit_peer_dropped_rows_total{kind=\"agent\",name=\"web1\"");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_and_who_is_there),
		cmocka_unit_test(an_answer_comes_in_several_views_at_once),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(changes_are_posted),
		cmocka_unit_test(metrics_have_answers_and_health),
	};

	return RUN(tests);
}
