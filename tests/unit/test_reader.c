#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "host/reader.h"
#include "host/tail.h"
#include "model/loss.h"
#include "model/mention.h"

#define NOW (1700000000 * NS_S)

static const struct tail_log app = { "/var/log/app.log", "/var/log/app.log", -1 };
static const struct tail_log other = { "/var/log/other.log", "/var/log/other.log", -1 };

static const char lines[] =
	"2026-11-16 08:00:00,001 INFO [w-1] shop.Cart: took order_17 of user_3\n"
	"2026-11-16 08:00:00,002 INFO [w-1] shop.Cart: took order_18 of user_3\n"
	"2026-11-16 08:00:00,003 INFO [w-1] shop.Cart: took order_17 of user_3\n"
	"2026-11-16 08:00:00,004 WARN [w-1] shop.Cart: failed order_19\n"
	"java.lang.Exception: order_20 is none of this\n"
	"\tat shop.Cart.take(Cart.java:17)\n";

static struct reader *begin(struct losses *losses)
{
	const struct reader_options o = { STR("h1"), NULL, "UTC", NULL, losses };

	return reader_new(&o);
}

static const struct mention *find(const struct reader *r, const char *file, const char *value)
{
	size_t nr;
	struct mention *const *v = reader_mentions(r, &nr);

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < v[i]->nr; k++)
			if (str_eq(v[i]->v[k].value, str_of(value)) &&
			    str_eq(v[i]->file, str_of(file)))
				return v[i];
	return NULL;
}

static void equal_lines_are_one_mention(void **state)
{
	struct losses losses = { 0 };
	struct reader *r = begin(&losses);
	const struct mention *m;

	(void)state;
	assert_int_equal(reader_take(r, &app, str_of(lines), true, NOW), sizeof(lines) - 1);
	m = find(r, "/var/log/app.log", "order_17");
	assert_non_null(m);
	assert_int_equal(m->count, 2);
	assert_int_equal(m->last_ns - m->first_ns, 2 * NS_MS);
	assert_str_equal(m->node, "h1");
	assert_int_equal(m->level, LEVEL_INFO);
	m = find(r, "/var/log/app.log", "order_19");
	assert_non_null(m);
	assert_int_equal(m->level, LEVEL_WARN);
	reader_clear(r);
	assert_null(find(r, "/var/log/app.log", "order_17"));
	reader_free(r);
}

static void the_last_event_waits_for_its_lines(void **state)
{
	struct losses losses = { 0 };
	struct reader *r = begin(&losses);
	size_t used;

	(void)state;
	used = reader_take(r, &app, str_of(lines), false, NOW);
	assert_true(used < sizeof(lines) - 1);
	assert_true(str_starts(str_skip(str_of(lines), used), STR("2026-11-16 08:00:00,004")));
	assert_null(find(r, "/var/log/app.log", "order_19"));
	assert_int_equal(reader_take(r, &app, str_skip(str_of(lines), used), true, NOW),
			 sizeof(lines) - 1 - used);
	assert_non_null(find(r, "/var/log/app.log", "order_19"));
	reader_free(r);
}

static void logs_are_told_apart(void **state)
{
	struct losses losses = { 0 };
	struct reader *r = begin(&losses);

	(void)state;
	reader_take(r, &app, str_of(lines), true, NOW);
	reader_take(r, &other, str_of(lines), true, NOW);
	assert_int_equal(find(r, "/var/log/app.log", "order_17")->count, 2);
	assert_int_equal(find(r, "/var/log/other.log", "order_17")->count, 2);
	reader_free(r);
}

static void lines_without_a_time_are_of_now(void **state)
{
	static const char text[] = "took order_17 of user_3\ntook order_18 of user_4\n";
	struct losses losses = { 0 };
	struct reader *r = begin(&losses);
	FILE *f = tmpfile();
	struct tail_log live = app;
	int64_t now = time_now();

	(void)state;
	if (!f)
		abort();
	assert_int_equal(fwrite(text, 1, sizeof(text) - 1, f), sizeof(text) - 1);
	fflush(f);
	live.fd = fileno(f);
	assert_int_equal(reader_take(r, &live, str_of(text), false, now), 0);
	assert_int_equal(reader_take(r, &live, str_of(text), true, now), sizeof(text) - 1);
	assert_int_equal(find(r, "/var/log/app.log", "order_17")->first_ns, now);
	assert_int_equal(losses.count[LOSS_LINES_NO_TIME], 2);
	reader_clear(r);
	reader_take(r, &live, str_of(text), true, now + 3600 * NS_S);
	assert_null(find(r, "/var/log/app.log", "order_17"));
	assert_int_equal(losses.count[LOSS_LINES_NO_TIME], 4);
	fclose(f);
	reader_free(r);
}

static void another_layout_is_learned_when_the_first_ends(void **state)
{
	struct losses losses = { 0 };
	struct reader *r = begin(&losses);
	char *text = malloc(20000);
	size_t n = 0;

	(void)state;
	reader_take(r, &app, str_of(lines), true, NOW);
	for (int i = 0; i < 100; i++)
		n += (size_t)sprintf(text + n, "Nov 16 08:00:%02d web app[77]: took job_%d\n",
				     i % 60, i);
	reader_take(r, &app, (struct str){ text, n }, true, NOW);
	assert_null(find(r, "/var/log/app.log", "job_5"));
	reader_take(r, &app, (struct str){ text, n }, true, NOW);
	assert_non_null(find(r, "/var/log/app.log", "job_5"));
	free(text);
	reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_lines_are_one_mention),
		cmocka_unit_test(the_last_event_waits_for_its_lines),
		cmocka_unit_test(logs_are_told_apart),
		cmocka_unit_test(lines_without_a_time_are_of_now),
		cmocka_unit_test(another_layout_is_learned_when_the_first_ends),
	};

	return RUN(tests);
}
