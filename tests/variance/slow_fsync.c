/* Preloaded into a server, makes one in SLOW_ONE_IN of its fsyncs take SLOW_US longer: a disk that
 * hesitates now and then. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint32_t number(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text ? (uint32_t)atoi(text) : otherwise;
}

static void hesitate(void)
{
	static uint32_t count;
	uint32_t nr = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	uint32_t one_in = number("SLOW_ONE_IN", 4), us = number("SLOW_US", 20000);
	struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	/* not in step with anything: a multiplicative hash of the count */
	if (one_in && (nr * 2654435761u >> 8) % one_in == 0)
		nanosleep(&t, NULL);
}

int fsync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	hesitate();
	return real(fd);
}

int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	hesitate();
	return real(fd);
}
