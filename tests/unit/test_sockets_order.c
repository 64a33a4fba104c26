#include "unit.h"

#include <stdlib.h>

#include "capture/sockets_order.h"
#include "wire/socket_record.h"

struct got {
	uint64_t ns[64];
	char first[64];
	unsigned nr;
};

static void take(void *to, const struct socket_record *r, struct str payload)
{
	struct got *g = to;

	g->ns[g->nr] = r->ns;
	g->first[g->nr++] = payload.n ? payload.p[0] : '-';
}

static void add(struct sockets_order *o, uint64_t ns, const char *payload)
{
	const struct socket_record r = { .ns = ns };

	sockets_order_add(o, &r, str_of(payload));
}

static void records_come_out_by_time_and_no_sooner_than_asked(void **state)
{
	struct got g = { 0 };
	struct sockets_order *o = sockets_order_new(1 << 20, take, &g);

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add(o, (i * 7) % 20, "x");
	sockets_order_until(o, 9);
	assert_int_equal(g.nr, 10);
	sockets_order_free(o);
	assert_int_equal(g.nr, 20);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(g.ns[i], i);
}

static void equal_times_keep_the_order_in_which_they_came(void **state)
{
	struct got g = { 0 };
	struct sockets_order *o = sockets_order_new(1 << 20, take, &g);

	(void)state;
	add(o, 5, "a");
	add(o, 5, "b");
	add(o, 5, "c");
	add(o, 5, "");
	sockets_order_free(o);
	assert_memory_equal(g.first, "abc-", 4);
}

static void when_too_much_waits_the_oldest_go(void **state)
{
	char large[4000];
	struct got g = { 0 };
	struct sockets_order *o = sockets_order_new(10000, take, &g);

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	add(o, 30, large);
	add(o, 10, large);
	assert_int_equal(g.nr, 0);
	add(o, 20, large);
	assert_int_equal(g.nr, 1);
	assert_int_equal(g.ns[0], 10);
	sockets_order_free(o);
	assert_int_equal(g.nr, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_by_time_and_no_sooner_than_asked),
		cmocka_unit_test(equal_times_keep_the_order_in_which_they_came),
		cmocka_unit_test(when_too_much_waits_the_oldest_go),
	};

	return RUN(tests);
}
