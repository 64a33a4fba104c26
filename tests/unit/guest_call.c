/* System calls for parts of guest/ that are tested in a process of their own. */
#include "capture/probe/guest/guest.h"

#include <errno.h>
#include <unistd.h>

long guest_call(long nr, long a, long b, long c, long d, long e, long f)
{
	long r = syscall(nr, a, b, c, d, e, f);

	return r < 0 ? -errno : r;
}
