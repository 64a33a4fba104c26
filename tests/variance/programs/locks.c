/* Four threads and one lock: what varies is how long an order waits for the book. */
#include <pthread.h>

#include "truth.h"

enum { PARSE, LOCK_BOOK, UPDATE_BOOK };
static const char *const names[] = { "/parse", "/lock_book", "/update_book" };
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static int64_t until;

PROBED static void parse(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll_between(seed, 200000, 600000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void lock_book(struct truth_row *t)
{
	int64_t at = now_ns();

	pthread_mutex_lock(&book);
	t->ns[LOCK_BOOK] = now_ns() - at;
}

PROBED static void update_book(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll_between(seed, 50000, 1200000));
	t->ns[UPDATE_BOOK] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t, uint32_t *seed)
{
	int64_t at = truth_enter(t);

	parse(t, seed);
	lock_book(t);
	update_book(t, seed);
	pthread_mutex_unlock(&book);
	t->total = now_ns() - at;
}

static void *work(void *arg)
{
	uint32_t seed = 1 + (uint32_t)(uintptr_t)arg;

	while (goes_on(until))
		process_order(truth_row(), &seed);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	until = run_until(argc, argv);
	truth_begin();
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	truth_write(names, 3);
	return 0;
}
