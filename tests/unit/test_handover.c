/* What watched processes hand over to each other: read as it was written or not at all, whoever is
 * killed, and whenever. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/probe/guest/handover.h"

#define RING ((uint64_t)1 << 20)
#define LIVES 1000000

static struct handover *table_new(uint64_t ring)
{
	struct handover *h = mmap(NULL, HANDOVER_RING_AT + ring, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(h, MAP_FAILED);
	handover_init(h, ring, LIVES);
	assert_true(handover_is_sound(h));
	return h;
}

static void table_free(struct handover *h)
{
	munmap(h, HANDOVER_RING_AT + h->ring_bytes);
}

static uint64_t put(struct handover *h, uint64_t key, uint64_t start, uint64_t origin,
		    const void *bytes, size_t nr, uint64_t now)
{
	const struct handover_sending r = {
		.key = key, .start = start, .origin = origin, .bytes = bytes, .nr = nr
	};

	return handover_put(h, &r, now);
}

static bool say(struct handover *h, uint64_t key, uint64_t sent, uint64_t now)
{
	const struct handover_said s = { sent, sent & ~HANDOVER_SENDING, now };

	return handover_say_sent(h, key, &s, now);
}

static size_t find(const struct handover *h, uint64_t key, uint64_t from, uint64_t to,
		   struct handover_found *v)
{
	struct handover_missing m;

	return handover_find(h, key, from, to, 100, v, &m);
}

static bool knows(const struct handover *h, uint64_t from, uint64_t to)
{
	struct handover_found v[HANDOVER_FOUND_MAX];
	struct handover_missing m;

	handover_find(h, 7, from, to, 100, v, &m);
	return !m.is_unknown;
}

/* A record holds as far as its sender knows what it has sent. */
static void what_passed_the_sender_by_is_not_known(void **state)
{
	struct handover *h = table_new(RING);

	(void)state;
	/* nobody has ever said anything */
	assert_true(knows(h, 0, 10));
	put(h, 7, 100, 1, "first\0\0", 5, 100);
	assert_false(say(h, 7, 150, 100));
	assert_true(knows(h, 100, 150));
	assert_false(knows(h, 140, 151));
	/* who finds nothing has nothing that could be another's */
	assert_true(knows(h, 0, 100));
	/* it is told so, once */
	handover_doubt(h, 7);
	assert_true(say(h, 7, 160, 100));
	assert_false(say(h, 7, 160, 100));
	assert_true(knows(h, 140, 151));
	assert_true(handover_follows(h, 7, 160));
	assert_false(handover_follows(h, 7, 150));
	/* calls were not seen up to 300 */
	handover_meet(h, 7, 300, 100);
	assert_false(knows(h, 100, 150));
	assert_false(knows(h, 299, 310));
	assert_true(knows(h, 300, 310));
	table_free(h);
}

static void a_record_holds_until_the_next_one(void **state)
{
	struct handover *h = table_new(RING);
	struct handover_found v[HANDOVER_FOUND_MAX];
	uint64_t room[64];

	(void)state;
	assert_int_equal(find(h, 7, 0, 10, v), 0);
	put(h, 7, 100, 1, "first\0\0", 5, 100);
	put(h, 7, 200, 2, "second\0", 6, 100);
	put(h, 8, 150, 3, "another stream\0", 14, 100);
	assert_int_equal(find(h, 7, 0, 100, v), 0);
	assert_int_equal(find(h, 7, 0, 101, v), 1);
	assert_int_equal(find(h, 7, 150, 160, v), 1);
	assert_int_equal(v[0].origin, 1);
	assert_int_equal(handover_read(h, v[0].at, v[0].bytes, room, sizeof(room)), 5);
	assert_memory_equal(room, "first", 5);
	assert_int_equal(find(h, 7, 150, 201, v), 2);
	assert_int_equal(v[0].origin, 1);
	assert_int_equal(v[1].origin, 2);
	assert_int_equal(find(h, 7, 1000, 1001, v), 1);
	assert_int_equal(v[0].origin, 2);
	assert_int_equal(handover_read(h, v[0].at + 64, v[0].bytes, room, sizeof(room)), -1);
	handover_forget(h, 7);
	assert_int_equal(find(h, 7, 1000, 1001, v), 0);
	assert_int_equal(find(h, 8, 1000, 1001, v), 1);
	table_free(h);
}

/* A call that would have sent 100 bytes sent none, or 30 of them; what is sent then begins there.
 */
static void what_was_not_sent_is_overruled(void **state)
{
	struct handover *h = table_new(RING);
	struct handover_found v[HANDOVER_FOUND_MAX];

	(void)state;
	put(h, 7, 100, 1, "a\0\0\0\0\0\0", 1, 100);
	put(h, 7, 100, 2, "b\0\0\0\0\0\0", 1, 100);
	put(h, 7, 130, 3, "c\0\0\0\0\0\0", 1, 100);
	assert_int_equal(find(h, 7, 100, 200, v), 2);
	assert_int_equal(v[0].origin, 2);
	assert_int_equal(v[1].origin, 3);
	put(h, 7, 110, 4, "d\0\0\0\0\0\0", 1, 100);
	assert_int_equal(find(h, 7, 100, 200, v), 2);
	assert_int_equal(v[1].origin, 4);
	table_free(h);
}

static void more_than_fit_are_the_first_ones(void **state)
{
	struct handover *h = table_new(RING);
	struct handover_found v[HANDOVER_FOUND_MAX];
	struct handover_missing m;

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		put(h, 7, i * 10, i, &i, 8, 100);
	assert_int_equal(handover_find(h, 7, 0, 200, 100, v, &m), HANDOVER_FOUND_MAX);
	assert_int_equal(m.nr_more, 20 - HANDOVER_FOUND_MAX);
	for (uint64_t i = 0; i < HANDOVER_FOUND_MAX; i++)
		assert_int_equal(v[i].origin, i);
	table_free(h);
}

static void records_end_with_their_time_and_their_ring(void **state)
{
	struct handover *h = table_new(RING);
	struct handover_found v[HANDOVER_FOUND_MAX];
	static char big[HANDOVER_BYTES_MAX + 1];
	uint64_t room[HANDOVER_BYTES_MAX / 8], at;
	struct handover_missing m;

	(void)state;
	at = put(h, 7, 0, 1, big, HANDOVER_BYTES_MAX, 100);
	assert_int_equal(handover_find(h, 7, 0, 1, 100 + LIVES, v, &m), 1);
	assert_false(m.is_gone);
	assert_int_equal(handover_find(h, 7, 0, 1, 101 + LIVES, v, &m), 0);
	assert_true(m.is_gone);
	assert_int_equal(handover_read(h, at, HANDOVER_BYTES_MAX, room, sizeof(room)),
			 HANDOVER_BYTES_MAX);
	for (uint64_t i = 0; i < RING / HANDOVER_BYTES_MAX; i++)
		put(h, 9, i, 1, big, HANDOVER_BYTES_MAX, 100);
	assert_int_equal(find(h, 7, 0, 1, v), 0);
	assert_int_equal(handover_read(h, at, HANDOVER_BYTES_MAX, room, sizeof(room)), -1);
	assert_int_equal(put(h, 7, 0, 1, big, HANDOVER_BYTES_MAX + 1, 100), 0);
	assert_int_equal(h->nr_too_long, 1);
	table_free(h);
}

static void a_full_index_is_counted_and_the_old_make_room(void **state)
{
	struct handover *h = table_new(RING);
	uint64_t nr = 0;

	(void)state;
	for (uint64_t key = 1; key <= 2 * HANDOVER_STREAMS; key++)
		nr += put(h, key, 0, 1, "x\0\0\0\0\0\0", 1, 100) != 0;
	assert_in_range(nr, HANDOVER_STREAMS / 2, HANDOVER_STREAMS);
	assert_int_equal(h->nr_no_room, 2 * HANDOVER_STREAMS - nr);
	assert_int_not_equal(put(h, 1 << 30, 0, 1, "x\0\0\0\0\0\0", 1, 101 + LIVES), 0);
	table_free(h);
}

static void a_sender_says_how_much_it_has_sent(void **state)
{
	struct handover *h = table_new(RING);
	uint64_t sent = 0, tick = 0;

	(void)state;
	assert_int_equal(handover_sent(h, 7, &sent, &tick), HANDOVER_UNSAID);
	say(h, 7, 0, 100);
	assert_int_equal(handover_sent(h, 7, &sent, &tick), HANDOVER_SAID);
	assert_int_equal(sent, 0);
	say(h, 7, 500 | HANDOVER_SENDING, 100);
	assert_int_equal(handover_sent(h, 7, &sent, &tick), HANDOVER_MORE);
	assert_int_equal(sent, 500);
	say(h, 7, 600, 100);
	assert_int_equal(handover_sent(h, 7, &sent, &tick), HANDOVER_SAID);
	assert_int_equal(sent, 600);
	assert_int_equal(tick, 100);
	table_free(h);
}

/* --- many at once, some of whom are killed --------------------------------------------------- */

#define WRITERS 6
#define THREADS 3
#define READERS 2
#define STREAMS 24
#define SECONDS_NS 1500000000
#define PATIENCE_NS 180000000000 /* where the machine has much else to do */
#define RIGHT 100                /* so many at least, of each reader */

/* The bytes that belong to a record, by its stream and start. */
static size_t truth(uint64_t key, uint64_t start, uint64_t *to)
{
	uint64_t x = key * 0x9e3779b97f4a7c15u + start;
	size_t n = 8 + x % 900;

	for (size_t i = 0; i <= n / 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		to[i] = x;
	}
	return n;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct at_work {
	struct handover *h;
	uint64_t key; /* of a writer; of a reader its seed */
	const atomic_bool *is_over;
	_Atomic uint64_t nr_right;
	uint64_t nr_wrong;
};

static void *write_on(void *arg)
{
	struct at_work *w = arg;
	uint64_t bytes[128];

	for (uint64_t start = 0;; start += 10) {
		size_t n = truth(w->key, start, bytes);

		put(w->h, w->key, start, start ^ w->key, bytes, n, 100);
		/* who reads goes by it */
		say(w->h, w->key, start + 10, 100);
	}
}

static void record_check(struct at_work *r, uint64_t key, const struct handover_found *v)
{
	uint64_t bytes[HANDOVER_BYTES_MAX / 8], right[128];
	long n = handover_read(r->h, v->at, v->bytes, bytes, sizeof(bytes));

	if (n < 0)
		return;
	if ((size_t)n == truth(key, v->start, right) && memcmp(bytes, right, (size_t)n) == 0 &&
	    v->origin == (v->start ^ key))
		r->nr_right++;
	else
		r->nr_wrong++;
}

static void *read_on(void *arg)
{
	struct handover_found v[HANDOVER_FOUND_MAX];
	struct at_work *r = arg;
	uint64_t seed = r->key, sent, tick;

	while (!*r->is_over) {
		uint64_t key = 1 + (seed = seed * 6364136223846793005u + 1442695040888963407u,
				    seed >> 33) %
					   STREAMS;
		struct handover_missing m;
		size_t nr;

		if (!handover_sent(r->h, key, &sent, &tick) || sent < 30)
			continue;
		nr = handover_find(r->h, key, sent - 30, sent, 100, v, &m);
		for (size_t i = 0; i < nr; i++)
			record_check(r, key, &v[i]);
	}
	return NULL;
}

/* A process that writes into streams of its own, on several threads, until it is killed. */
static pid_t writer_start(struct handover *h, size_t nr)
{
	pid_t pid = fork();
	pthread_t threads[THREADS];
	struct at_work w[THREADS];

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < THREADS; i++) {
		w[i] = (struct at_work){ .h = h, .key = 1 + nr * THREADS + i };
		pthread_create(&threads[i], NULL, write_on, &w[i]);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static bool have_read(const struct at_work r[READERS])
{
	for (size_t i = 0; i < READERS; i++)
		if (r[i].nr_right <= RIGHT)
			return false;
	return true;
}

static void what_is_read_is_what_was_written_whoever_is_killed(void **state)
{
	struct handover *h = table_new(RING);
	int64_t began = now_ns();
	atomic_bool is_over = false;
	struct at_work r[READERS];
	pthread_t readers[READERS];
	pid_t pids[WRITERS];

	(void)state;
	for (size_t i = 0; i < WRITERS; i++)
		pids[i] = writer_start(h, i);
	for (size_t i = 0; i < READERS; i++) {
		r[i] = (struct at_work){ .h = h, .key = i + 1, .is_over = &is_over };
		pthread_create(&readers[i], NULL, read_on, &r[i]);
	}
	srand(1);
	while (now_ns() < began + SECONDS_NS ||
	       (!have_read(r) && now_ns() < began + PATIENCE_NS)) {
		size_t i = (size_t)rand() % WRITERS;

		usleep((useconds_t)(rand() % 20000));
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		pids[i] = writer_start(h, i);
	}
	is_over = true;
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	for (size_t i = 0; i < WRITERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	for (size_t i = 0; i < READERS; i++) {
		assert_int_equal(r[i].nr_wrong, 0);
		assert_true(r[i].nr_right > RIGHT);
	}
	table_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_holds_until_the_next_one),
		cmocka_unit_test(what_passed_the_sender_by_is_not_known),
		cmocka_unit_test(what_was_not_sent_is_overruled),
		cmocka_unit_test(more_than_fit_are_the_first_ones),
		cmocka_unit_test(records_end_with_their_time_and_their_ring),
		cmocka_unit_test(a_full_index_is_counted_and_the_old_make_room),
		cmocka_unit_test(a_sender_says_how_much_it_has_sent),
		cmocka_unit_test(what_is_read_is_what_was_written_whoever_is_killed),
	};

	return RUN(tests);
}
