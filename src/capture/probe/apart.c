#include "capture/probe/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define URGENT_NICE (-10)

void apart(const char *name, int *socket, int32_t *other)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_NAME, name);
	/* while it works, others stand still */
	if (getpriority(PRIO_PROCESS, 0) > URGENT_NICE &&
	    setpriority(PRIO_PROCESS, 0, URGENT_NICE) < 0)
		errno = 0;
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	/* both numbers may be in use by the other one */
	*socket = fcntl(*socket, F_DUPFD_CLOEXEC, 5);
	*other = *other > 0 ? fcntl(*other, F_DUPFD_CLOEXEC, 5) : -1;
	if (*socket >= 0 && dup2(*socket, 3) == 3)
		*socket = 3;
	if (*other >= 0 && dup2(*other, 4) == 4)
		*other = 4;
	close_range(*other < 0 ? 4 : 5, ~0u, 0);
}
