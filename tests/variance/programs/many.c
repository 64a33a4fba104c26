/* Two hundred threads; a few of the orders are large. */
#include <pthread.h>

#include "truth.h"

enum { PARSE, SORT };
enum { NR_THREADS = 200 };
static const char *const names[] = { "/parse", "/sort_items" };
static int64_t until;

PROBED static void parse(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll_between(seed, 5000000, 15000000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void sort_items(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll(seed) % 10 ? 10000000 : 60000000);
	t->ns[SORT] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t, uint32_t *seed)
{
	int64_t at = truth_enter(t);

	parse(t, seed);
	sort_items(t, seed);
	t->total = now_ns() - at;
}

static void *work(void *arg)
{
	uint32_t seed = 1 + 31 * (uint32_t)(uintptr_t)arg;

	while (goes_on(until))
		process_order(truth_row(), &seed);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS];

	until = run_until(argc, argv);
	truth_begin();
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	truth_write(names, 2);
	return 0;
}
