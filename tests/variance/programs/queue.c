/* Orders go through a queue to two workers: an interval begins on one thread and ends on another,
 * and most of what varies is how long it lies in the queue. */
#include <pthread.h>

#include "truth.h"

enum { QUEUE, VALIDATE, SETTLE };
static const char *const names[] = { "/wait:queue", "/order_work/validate", "/order_work/settle" };
enum { ROOM = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static uint64_t ids[ROOM];
static struct truth_row *rows[ROOM];
static int64_t begun[ROOM];
static uint64_t head, tail;
static int is_over;

PROBED static void enqueue(uint64_t id, struct truth_row *t, int64_t at)
{
	t->ns[QUEUE] = at; /* until somebody works on it: a thread may lose its processor anywhere */
	pthread_mutex_lock(&lock);
	ids[tail % ROOM] = id;
	rows[tail % ROOM] = t;
	begun[tail % ROOM] = at;
	tail++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

PROBED static void order_begin(uint64_t id)
{
	int64_t at = now_ns();

	enqueue(id, truth_row(), at);
	__asm__ volatile("");
}

PROBED static void validate(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	burn(roll_between(seed, 50000, 100000));
	t->ns[VALIDATE] = now_ns() - at;
}

PROBED static void settle(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll(seed) % 4 ? 200000 : 1500000);
	t->ns[SETTLE] = now_ns() - at;
}

PROBED static void order_work(uint64_t id, struct truth_row *t, uint32_t *seed)
{
	t->ns[QUEUE] = now_ns() - t->ns[QUEUE];
	validate(t, seed);
	settle(t, seed);
	__asm__ volatile("" ::"r"(id));
}

PROBED static void order_end(uint64_t id)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop" ::"r"(id));
}

static int take(uint64_t *id, struct truth_row **t, int64_t *at)
{
	int got = 0;

	pthread_mutex_lock(&lock);
	while (head == tail && !is_over)
		pthread_cond_wait(&more, &lock);
	if (head != tail) {
		*id = ids[head % ROOM];
		*t = rows[head % ROOM];
		*at = begun[head % ROOM];
		head++;
		got = 1;
	}
	pthread_mutex_unlock(&lock);
	return got;
}

static void *work(void *arg)
{
	uint32_t seed = 3 + (uint32_t)(uintptr_t)arg;
	struct truth_row *t;
	uint64_t id;
	int64_t at;

	while (take(&id, &t, &at)) {
		order_work(id, t, &seed);
		order_end(id);
		t->total = now_ns() - at;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);
	pthread_t threads[2];
	uint32_t seed = 99;

	truth_begin();
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (uint64_t id = 1; goes_on(until); id++) {
		order_begin(id);
		/* in bursts, so that a queue builds up */
		if (!(roll(&seed) % 6))
			rest(roll_between(&seed, 2000000, 5000000));
		else
			rest(roll_between(&seed, 100000, 300000));
	}
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	truth_write(names, 3);
	return 0;
}
