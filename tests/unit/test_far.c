/* What agents hand over to each other: two hosts are two tables, and messages go from one to the
 * other as bytes. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "capture/probe/guest/far.h"
#include "capture/probe/guest/handover.h"
#include "capture/weave/addresses.h"
#include "capture/weave/far_in.h"
#include "capture/weave/far_out.h"
#include "lib/advice/promise.h"

#define RING ((uint64_t)1 << 20)
#define KEY 0x1234567890abcdefu
#define BACK 0x234567890abcdef1u
#define SLOT 64

struct host {
	struct handover *table;
	struct far_in in;
	struct far_out out;
	struct handover_address address;
	uint64_t ticks;
	/* where messages go */
	struct host *other;
	bool loses, refuses;
	int nr_messages;
	int64_t tick;
};

static void host_begin(struct host *h, struct host *other, unsigned number)
{
	*h = (struct host){ .table = mem_zalloc(HANDOVER_RING_AT + RING),
			    .address = { 0, (uint64_t)0xffff << 32 | 0x0a4f0000 | number },
			    .other = other,
			    .ticks = 1000,
			    .tick = NS_S };
	handover_init(h->table, RING, (uint64_t)1 << 60);
	h->table->reach = HANDOVER_REACHES;
	h->table->here[0] = h->address;
	h->table->nr_here = 1;
}

static void host_end(struct host *h)
{
	far_in_done(&h->in);
	far_out_done(&h->out);
	free(h->table);
}

static int deliver(void *ctx, struct str to, struct str bytes)
{
	struct host *h = ctx;
	char address[FAR_ADDRESS_TEXT];

	far_address_text(&h->other->address, address);
	assert_true(str_eq(to, str_of(address)));
	h->nr_messages++;
	if (h->refuses)
		return -1;
	if (!h->loses)
		assert_true(far_in_take(&h->other->in, bytes, h->other->tick));
	return 0;
}

static void collect(struct host *h)
{
	far_out_collect(&h->out, h->table, &h->in, deliver, h, h->tick);
}

static void meet(struct host *h, uint64_t key, bool is_out, uint64_t since)
{
	assert_true(far_meet(h->table, key, &h->other->address, is_out, since, ++h->ticks));
}

static void bag_with(struct bag *b, struct bag_writer *w, uint64_t number, uint64_t order)
{
	struct bag_entry head = { .slot = SLOT, .kind = BAG_ITEM_ALL };
	struct bag_pending p;

	bag_item_begin(b, &p, &head);
	*bag_item_words(b, &p, 1) = number;
	p.entry->nr = 1;
	assert_true(bag_item_commit(b, &p, w, order));
}

static void begin(struct bag *b, struct bag_writer *w, uint64_t thread)
{
	bag_begin(b);
	bag_writer_begin(w, thread << 32);
}

static void put(struct host *h, uint64_t key, uint64_t from, uint64_t to, uint64_t origin,
		const struct bag *b)
{
	const struct handover_sending r = {
		.key = key, .start = from, .origin = origin, .bytes = b, .nr = bag_bytes(b)
	};

	assert_true(handover_put(h->table, &r, ++h->ticks));
	handover_say_sent(h->table, key, &(struct handover_said){ to, HANDOVER_NO_END, h->ticks },
			  h->ticks);
}

/* Bytes [from, to) of the stream are sent, with a bag that has this number; 0: with nothing. */
static void send(struct host *h, uint64_t key, uint64_t from, uint64_t to, uint64_t number)
{
	struct bag_writer w;
	struct bag b;

	begin(&b, &w, number + 1);
	if (number)
		bag_with(&b, &w, number, 100 + number);
	put(h, key, from, to, number, &b);
}

static void promised(struct bag *b, struct bag_writer *w, uint64_t from, uint64_t to)
{
	const struct bag_promise p = { KEY, from, to, 0 };

	assert_true(bag_promise(b, w, &p, 50));
}

static uint64_t number_in(const struct bag *b, size_t at)
{
	const struct bag_entry *e = bag_next(b, SLOT, NULL);

	while (e && at--)
		e = bag_next(b, SLOT, e);
	return e ? *(const uint64_t *)(const void *)(e + 1) : 0;
}

/* What bytes of the stream carried, as the host is told: the answer, and the number. */
static enum far_answer asked(struct host *h, uint64_t from, uint64_t to, int64_t since,
			     uint64_t *number)
{
	struct bag_writer w;
	struct bag b;
	enum far_answer got;

	begin(&b, &w, 99);
	promised(&b, &w, from, to);
	got = far_in_redeem(&h->in, h->table, &b, since, h->tick);
	*number = number_in(&b, 0);
	assert_int_equal(bag_is_promised(&b), got != FAR_WHOLE && got != FAR_FOREIGN);
	return got;
}

static void each_request_gets_what_was_sent_with_its_bytes(void **state)
{
	struct host a, b;
	uint64_t nr;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	meet(&b, KEY, false, 0);
	send(&a, KEY, 0, 100, 7);
	send(&a, KEY, 100, 250, 8);
	send(&a, KEY, 250, 300, 0);
	/* nobody has told yet: it is waited for, and nothing is guessed */
	assert_int_equal(asked(&b, 0, 100, b.tick, &nr), FAR_WAITS);
	collect(&a);
	assert_int_equal(a.nr_messages, 1);
	assert_int_equal(asked(&b, 0, 100, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 7);
	assert_int_equal(asked(&b, 20, 40, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 7);
	assert_int_equal(asked(&b, 100, 250, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 8);
	assert_int_equal(asked(&b, 250, 300, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 0);
	/* what was sent since is not known by what came before */
	assert_int_equal(asked(&b, 300, 400, b.tick, &nr), FAR_WAITS);
	send(&a, KEY, 300, 400, 9);
	assert_int_equal(asked(&b, 300, 400, b.tick, &nr), FAR_WAITS);
	collect(&a);
	assert_int_equal(asked(&b, 300, 400, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 9);
	/* nothing is sent twice */
	collect(&a);
	assert_int_equal(a.nr_messages, 2);
	host_end(&a);
	host_end(&b);
}

static void requests_that_were_read_together_are_not_guessed(void **state)
{
	struct host a, b;
	uint64_t nr;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	send(&a, KEY, 0, 100, 7);
	send(&a, KEY, 100, 200, 8);
	send(&a, KEY, 200, 300, 8);
	collect(&a);
	assert_int_equal(asked(&b, 0, 200, b.tick, &nr), FAR_MIXED);
	assert_int_equal(asked(&b, 50, 101, b.tick, &nr), FAR_MIXED);
	/* two records of one request belong together */
	assert_int_equal(asked(&b, 100, 300, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 8);
	host_end(&a);
	host_end(&b);
}

static void what_does_not_come_is_late_and_of_a_host_without_agent_foreign(void **state)
{
	struct host a, b;
	uint64_t nr;
	int64_t since;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	meet(&b, KEY, false, 0);
	since = b.tick;
	assert_int_equal(asked(&b, 0, 100, since, &nr), FAR_WAITS);
	b.tick += FAR_UNHEARD_NS + 1;
	assert_int_equal(asked(&b, 0, 100, since, &nr), FAR_FOREIGN);
	/* from now on it is not waited for as long */
	since = b.tick;
	b.tick += FAR_SILENT_NS + 1;
	assert_int_equal(asked(&b, 100, 200, since, &nr), FAR_FOREIGN);
	/* its agent is heard, but one message is lost */
	send(&a, KEY, 0, 100, 7);
	collect(&a);
	a.loses = true;
	send(&a, KEY, 100, 200, 8);
	collect(&a);
	a.loses = false;
	send(&a, KEY, 200, 300, 9);
	collect(&a);
	since = b.tick;
	assert_int_equal(asked(&b, 100, 200, since, &nr), FAR_WAITS);
	assert_int_equal(asked(&b, 200, 300, since, &nr), FAR_WHOLE);
	assert_int_equal(nr, 9);
	b.tick += FAR_WAIT_NS + 1;
	assert_int_equal(asked(&b, 100, 200, since, &nr), FAR_LATE);
	host_end(&a);
	host_end(&b);
}

static void what_could_not_be_sent_is_sent_later(void **state)
{
	struct host a, b;
	uint64_t nr;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	a.refuses = true;
	for (uint64_t i = 0; i < 2000; i++)
		send(&a, KEY, 100 * i, 100 * (i + 1), i + 1);
	collect(&a);
	assert_true(a.out.nr_refused > 0);
	a.refuses = false;
	collect(&a);
	for (uint64_t i = 0; i < 2000; i++) {
		assert_int_equal(asked(&b, 100 * i, 100 * (i + 1), b.tick, &nr), FAR_WHOLE);
		assert_int_equal(nr, i + 1);
	}
	host_end(&a);
	host_end(&b);
}

/* The ring has gone round: of what is gone nobody says that nothing was carried. */
static void what_the_table_has_lost_is_a_gap(void **state)
{
	struct host a, b;
	uint64_t nr, known = 0;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	for (uint64_t i = 0; i < 20000; i++)
		send(&a, KEY, 100 * i, 100 * (i + 1), i + 1);
	collect(&a);
	assert_int_equal(a.out.nr_gaps, 1);
	for (uint64_t i = 0; i < 20000; i++)
		if (asked(&b, 100 * i, 100 * (i + 1), b.tick, &nr) == FAR_WHOLE) {
			assert_int_equal(nr, i + 1);
			known++;
		}
	assert_true(known > 1000 && known < 20000);
	host_end(&a);
	host_end(&b);
}

/* A middle host: what it sends on has a promise in it, which is redeemed before it goes. */
static void what_waits_is_handed_on_when_it_has_come(void **state)
{
	struct host a, b;
	struct bag_writer w;
	struct bag bag;
	const struct bag_promise p = { KEY, 0, 100, 0 };
	uint64_t nr;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	meet(&b, KEY, false, 0);
	meet(&b, BACK, true, 0);
	begin(&bag, &w, 5);
	bag_promise(&bag, &w, &p, 50);
	bag_with(&bag, &w, 70, 60);
	put(&b, BACK, 0, 40, 1, &bag);
	collect(&b);
	assert_int_equal(b.nr_messages, 0);
	send(&a, KEY, 0, 100, 7);
	collect(&a);
	collect(&b);
	assert_int_equal(b.nr_messages, 1);
	begin(&bag, &w, 99);
	bag_promise(&bag, &w, &(struct bag_promise){ BACK, 0, 40, 0 }, 10);
	assert_int_equal(far_in_redeem(&a.in, a.table, &bag, a.tick, a.tick), FAR_WHOLE);
	assert_int_equal(bag_count(&bag, SLOT), 2);
	nr = number_in(&bag, 0) + number_in(&bag, 1);
	assert_int_equal(nr, 77);
	host_end(&a);
	host_end(&b);
}

/* The same addresses and ports again: what the one before carried is not the new one's. */
static void a_connection_is_not_the_one_before_of_the_same_name(void **state)
{
	struct host a, b;
	struct bag_writer w;
	struct bag bag;
	uint64_t nr;

	(void)state;
	host_begin(&a, &b, 1);
	host_begin(&b, &a, 2);
	meet(&a, KEY, true, 0);
	send(&a, KEY, 0, 100, 7);
	collect(&a);
	begin(&bag, &w, 99);
	bag_promise(&bag, &w,
		    &(struct bag_promise){ KEY, 0, 100, (uint64_t)(time_now() + 5 * NS_S) }, 10);
	assert_int_equal(far_in_redeem(&b.in, b.table, &bag, b.tick, b.tick), FAR_WAITS);
	handover_forget(a.table, KEY);
	meet(&a, KEY, true, 0);
	send(&a, KEY, 0, 50, 8);
	collect(&a);
	assert_int_equal(asked(&b, 0, 50, b.tick, &nr), FAR_WHOLE);
	assert_int_equal(nr, 8);
	assert_int_equal(asked(&b, 50, 100, b.tick, &nr), FAR_WAITS);
	host_end(&a);
	host_end(&b);
}

static void bytes_that_make_no_sense_are_counted(void **state)
{
	struct host a;
	uint64_t seed = 1;

	(void)state;
	host_begin(&a, &a, 1);
	for (int i = 0; i < 2000; i++) {
		char bytes[64];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = (char)(seed >> 56);
		}
		bytes[0] = FAR_VERSION;
		far_in_take(&a.in, (struct str){ bytes, 1 + (size_t)i % 63 }, a.tick);
	}
	assert_true(a.in.nr_broken > 1000);
	host_end(&a);
}

/* --- promises -------------------------------------------------------------------------------- */

static void what_is_packed_after_a_promise_is_later_whatever_clocks_say(void **state)
{
	struct bag_writer here, there;
	struct bag b, came;
	struct bag_promise p;
	const struct bag_entry *e;
	uint64_t order;

	(void)state;
	begin(&came, &there, 3);
	bag_with(&came, &there, 1, 5000); /* a clock that is ahead */
	begin(&b, &here, 4);
	bag_promise(&b, &here, &(struct bag_promise){ KEY, 0, 10, 0 }, 100);
	bag_with(&b, &here, 2, 110);
	bag_with(&b, &here, 3, 120);
	assert_true(bag_promise_take(&b, &p, &order));
	assert_int_equal(order, 100);
	bag_promise_keep(&b, order, &came);
	assert_false(bag_promise_take(&b, &p, &order));
	assert_false(bag_is_promised(&b));
	e = bag_next(&b, SLOT, NULL);
	assert_int_equal(number_in(&b, 0), 2);
	assert_true(e->order > 5000);
	e = bag_next(&b, SLOT, e);
	assert_true(e->order > 5001);
	assert_int_equal(number_in(&b, 2), 1);
}

static void a_promise_goes_on_and_travels_like_other_entries(void **state)
{
	struct bag_writer w, v;
	struct bag a, b;
	struct bag_promise p;

	(void)state;
	begin(&a, &w, 3);
	bag_promise(&a, &w, &(struct bag_promise){ KEY, 0, 10, 0 }, 100);
	b = a;
	bag_promise(&a, &w, &(struct bag_promise){ KEY, 0, 30, 0 }, 200);
	assert_int_equal(bag_count(&a, BAG_SLOT_PROMISE), 1);
	/* the longer one stays, whichever way they are joined */
	bag_join(&b, &a);
	assert_int_equal(bag_count(&b, BAG_SLOT_PROMISE), 1);
	assert_non_null(bag_promise_next(&b, NULL, &p));
	assert_int_equal(p.to, 30);
	begin(&b, &v, 4);
	assert_true(bag_deserialize(&b, &a, bag_bytes(&a)));
	assert_true(bag_is_promised(&b));
	for (uint64_t i = 0; i < BAG_PROMISES + 5; i++)
		bag_promise(&b, &v, &(struct bag_promise){ BACK, i, i + 1, 0 }, 300);
	assert_int_equal(bag_count(&b, BAG_SLOT_PROMISE), BAG_PROMISES);
	assert_true(bag_has_lost(&b, SLOT));
}

/* --- addresses ------------------------------------------------------------------------------- */

static void addresses_are_read_as_the_kernel_writes_them(void **state)
{
	struct str fib =
		STR("Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe "
		    "UNICAST\n     |-- 10.79.0.0\n        /24 link UNICAST\nLocal:\n"
		    "     |-- 10.79.0.2\n        /32 host LOCAL\n     |-- 10.79.0.255\n"
		    "        /32 link BROADCAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n");
	struct str six = STR("fe80000000000000c0ffee0000000001 02 40 20 80     eth0\n"
			     "nonsense\n20010db8000000000000000000000005 02 40 00 80 eth0\n");
	struct handover_address a;
	char text[FAR_ADDRESS_TEXT];

	(void)state;
	assert_true(addresses_take_fib(&fib, &a));
	far_address_text(&a, text);
	assert_string_equal(text, "10.79.0.2");
	assert_true(addresses_take_fib(&fib, &a));
	far_address_text(&a, text);
	assert_string_equal(text, "127.0.0.1");
	assert_false(addresses_take_fib(&fib, &a));
	assert_true(addresses_take_inet6(&six, &a));
	assert_true(addresses_is_common(&a));
	assert_true(addresses_take_inet6(&six, &a));
	assert_false(addresses_is_common(&a));
	far_address_text(&a, text);
	assert_string_equal(text, "2001:db8::5");
	assert_false(addresses_take_inet6(&six, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_gets_what_was_sent_with_its_bytes),
		cmocka_unit_test(requests_that_were_read_together_are_not_guessed),
		cmocka_unit_test(what_does_not_come_is_late_and_of_a_host_without_agent_foreign),
		cmocka_unit_test(what_could_not_be_sent_is_sent_later),
		cmocka_unit_test(what_the_table_has_lost_is_a_gap),
		cmocka_unit_test(what_waits_is_handed_on_when_it_has_come),
		cmocka_unit_test(a_connection_is_not_the_one_before_of_the_same_name),
		cmocka_unit_test(bytes_that_make_no_sense_are_counted),
		cmocka_unit_test(what_is_packed_after_a_promise_is_later_whatever_clocks_say),
		cmocka_unit_test(a_promise_goes_on_and_travels_like_other_entries),
		cmocka_unit_test(addresses_are_read_as_the_kernel_writes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
