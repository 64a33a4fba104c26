/* Waits for bytes of a pipe that come one by one, and never end. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guest.h"

WATCHED static int process_order(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static void write_all(int to)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned char n = 0; write(to, &n, 1) == 1; n++)
		usleep(20000);
	_exit(0);
}

int main(int argc, char **argv)
{
	int64_t until = until_of(argc, argv);
	int ends[2];

	if (pipe(ends) < 0)
		return 2;
	if (!fork())
		write_all(ends[1]);
	for (int n = 0; now_ns() < until; n++) {
		unsigned char got = 0;

		if (read(ends[0], &got, 1) != 1)
			wrong("read");
		if (got != (unsigned char)n || process_order(n) != n + 1)
			wrong("order");
	}
	puts("right");
	return 0;
}
