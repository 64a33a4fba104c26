/* An order waits for a worker that computes for it: the worker's function is to blame, not the
 * wait. */
#include <pthread.h>

#include "truth.h"

enum { PARSE, QUOTE };
static const char *const names[] = { "/parse", "/quote" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, told = PTHREAD_COND_INITIALIZER;
static uint64_t wanted, done;
static struct truth_row *row_of;
static int is_over;

PROBED static void quote(uint64_t id, struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	burn(roll(seed) % 4 ? 150000 : 800000);
	t->ns[QUOTE] = now_ns() - at;
	__asm__ volatile("" ::"r"(id));
}

static void *work(void *arg)
{
	uint32_t seed = 5;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (wanted == done && !is_over)
			pthread_cond_wait(&asked, &lock);
		if (is_over)
			break;
		pthread_mutex_unlock(&lock);
		quote(wanted, row_of, &seed);
		pthread_mutex_lock(&lock);
		done = wanted;
		pthread_cond_signal(&told);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

PROBED static void parse(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	burn(roll_between(seed, 50000, 300000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void process_order(uint64_t id, struct truth_row *t, uint32_t *seed)
{
	int64_t at = truth_enter(t);

	parse(t, seed);
	pthread_mutex_lock(&lock);
	wanted = id;
	row_of = t;
	pthread_cond_signal(&asked);
	while (done != id)
		pthread_cond_wait(&told, &lock);
	pthread_mutex_unlock(&lock);
	t->total = now_ns() - at;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);
	uint32_t seed = 11;
	pthread_t worker;

	truth_begin();
	pthread_create(&worker, NULL, work, NULL);
	for (uint64_t id = 1; goes_on(until); id++)
		process_order(id, truth_row(), &seed);
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_signal(&asked);
	pthread_mutex_unlock(&lock);
	pthread_join(worker, NULL);
	truth_write(names, 2);
	return 0;
}
