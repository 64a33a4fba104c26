/* Forty stacks that three threads take turns to go on with, in the middle of calls. */
#include <pthread.h>
#include <ucontext.h>

#include "guest.h"

#define STACKS 40
#define THREADS 3
#define STACK_BYTES 65536

struct fiber {
	ucontext_t here, *home;
	int number, is_over;
};

static struct fiber fibers[STACKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[STACKS], first, nr, nr_left = STACKS;
static __thread ucontext_t home_of_thread;
static int64_t until;

/* Not to be remembered from before: the thread may be another one. */
WATCHED static ucontext_t *home(void)
{
	__asm__ volatile("");
	return &home_of_thread;
}

WATCHED static void give_way(struct fiber *f)
{
	swapcontext(&f->here, f->home);
	__asm__ volatile("");
}

WATCHED static uint64_t step(struct fiber *f, int k)
{
	uint64_t r = (uint64_t)k * 3;

	if ((k ^ f->number) & 1)
		give_way(f);
	__asm__ volatile("");
	return r + 1;
}

WATCHED static uint64_t deep(struct fiber *f, int depth)
{
	uint64_t r = step(f, depth);

	if (depth)
		r += deep(f, depth - 1);
	__asm__ volatile("");
	return r;
}

WATCHED static uint64_t process_order(struct fiber *f, int k)
{
	uint64_t sum;

	if (k % 3 == 0)
		sum = step(f, 1) + step(f, 2);
	else if (k % 3 == 1)
		sum = deep(f, 5);
	else
		sum = step(f, 7) * 2 + deep(f, 2);
	__asm__ volatile("");
	return sum;
}

static void live(int number)
{
	static const uint64_t want[] = { 11, 51, 56 };
	struct fiber *f = &fibers[number];

	for (int k = 0; now_ns() < until; k++)
		if (process_order(f, k) != want[k % 3])
			wrong("sum");
	f->is_over = 1;
	for (;;)
		give_way(f);
}

static int next(int *number)
{
	int r;

	pthread_mutex_lock(&lock);
	r = nr > 0;
	if (r) {
		*number = queue[first];
		first = (first + 1) % STACKS;
		nr--;
	} else if (!nr_left) {
		r = -1;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static void put_back(int number)
{
	pthread_mutex_lock(&lock);
	if (fibers[number].is_over)
		nr_left--;
	else
		queue[(first + nr++) % STACKS] = number;
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	int number, r;

	while ((r = next(&number)) >= 0)
		if (r) {
			fibers[number].home = home();
			swapcontext(fibers[number].home, &fibers[number].here);
			put_back(number);
		} else {
			nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
		}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	until = until_of(argc, argv);
	for (int i = 0; i < STACKS; i++) {
		fibers[i].number = i;
		getcontext(&fibers[i].here);
		fibers[i].here.uc_stack.ss_sp = malloc(STACK_BYTES);
		fibers[i].here.uc_stack.ss_size = STACK_BYTES;
		makecontext(&fibers[i].here, (void (*)(void))live, 1, i);
		queue[nr++] = i;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	puts("right");
	return 0;
}
