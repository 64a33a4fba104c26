/* Forks, and starts itself again, in all ways that there are, as fast as it can. */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

extern char **environ;

WATCHED static int pack_order(int n)
{
	int64_t until = now_ns() + (n % 5 ? 20000 : 300000);

	while (now_ns() < until)
		;
	__asm__ volatile("");
	return n + 1;
}

WATCHED static int process_order(int n)
{
	int r = pack_order(n);

	__asm__ volatile("");
	return r;
}

static pid_t start(int n, char *self)
{
	char number[16], child[] = "child", *args[] = { self, number, child, NULL };
	pid_t pid = -1;

	snprintf(number, sizeof(number), "%d", n % 100);
	switch (n % 4) {
	case 0:
		pid = fork();
		if (!pid)
			_exit(process_order(n) == n + 1 ? 7 : 8);
		break;
	case 1:
		pid = fork();
		if (!pid)
			execv("/proc/self/exe", args);
		break;
	case 2:
		posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ);
		break;
	default:
		pid = vfork();
		if (!pid)
			execv("/proc/self/exe", args);
	}
	return pid;
}

int main(int argc, char **argv)
{
	int64_t until = until_of(argc, argv);
	int status;

	if (argc > 2 && strcmp(argv[2], "child") == 0)
		return process_order(atoi(argv[1])) == atoi(argv[1]) + 1 ? 7 : 8;
	for (int n = 0; now_ns() < until; n++) {
		pid_t pid = start(n, argv[0]);

		if (process_order(n) != n + 1)
			wrong("order");
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			wrong("child");
	}
	puts("right");
	return 0;
}
