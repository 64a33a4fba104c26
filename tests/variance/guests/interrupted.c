/* Signals come all the time, and their handlers take longer than what they interrupt: often a
 * thread stands, below a handler, among the first instructions of a short function. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define CALLS 20000u

/* several short instructions at the front: many places to stand at */
__asm__(".globl tiny\n.type tiny, @function\ntiny:\n"
	"push %rbx\n push %rcx\n pop %rcx\n push %rcx\n pop %rcx\n nop\n nop\n"
	"mov %rdi, %rbx\n lea 1(%rbx), %rax\n pop %rbx\n ret\n.size tiny, . - tiny\n");
uint64_t tiny(uint64_t n);

static int64_t until;

static void on_signal(int number)
{
	int64_t end = now_ns() + 1500000;

	(void)number;
	while (now_ns() < end)
		;
}

WATCHED static uint64_t process_order(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < CALLS; i++)
		sum += tiny(n + i);
	__asm__ volatile("");
	return sum;
}

static void *work(void *first)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec often = { { 0, 2500000 }, { 0, 2500000 } };
	timer_t timer;

	e._sigev_un._tid = (int)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &e, &timer);
	timer_settime(timer, 0, &often, NULL);
	for (uint64_t n = (uintptr_t)first; now_ns() < until; n++)
		if (process_order(n) != CALLS * (n + 1) + CALLS * (CALLS - 1) / 2)
			wrong("sum");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	until = until_of(argc, argv);
	signal(SIGUSR1, on_signal);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i * 1000));
	for (size_t i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("right");
	return 0;
}
