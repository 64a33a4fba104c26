#include "cli/stopping.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t is_told;

static void stop(int signal)
{
	if (signal != SIGCHLD)
		is_told = 1;
}

void stopping_catch(void)
{
	struct sigaction act = { .sa_handler = stop };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	act.sa_flags = SA_NOCLDSTOP;
	sigaction(SIGCHLD, &act, NULL);
}

bool stopping_is_told(void)
{
	return is_told;
}
