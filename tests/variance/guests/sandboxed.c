/* One thread of two may make hardly any system call; second argument: strict, or by a filter. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

static volatile int is_over, is_strict;
static volatile unsigned long turns;

WATCHED static int process_order(int n)
{
	for (volatile int i = 0, k = n % 5 ? 10000 : 150000; i < k; i++)
		;
	__asm__ volatile("");
	return n + 1;
}

static void sandbox(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(*f), f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (is_strict)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

static void *in_sandbox(void *unused)
{
	sandbox();
	for (int n = 0; !is_over; n++)
		turns += process_order(n) == n + 1;
	syscall(SYS_exit, 0);
	return unused;
}

int main(int argc, char **argv)
{
	int64_t until = until_of(argc, argv);
	unsigned long before;
	pthread_t t;

	is_strict = argc > 2 && strcmp(argv[2], "strict") == 0;
	pthread_create(&t, NULL, in_sandbox, NULL);
	for (int n = 0; now_ns() < until; n++)
		if (process_order(n) != n + 1)
			wrong("order");
	before = turns;
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	if (turns == before)
		wrong("the thread in the sandbox is gone");
	is_over = 1;
	puts("right");
	fflush(stdout);
	_exit(0);
}
