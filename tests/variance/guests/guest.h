/* Programs that do what is hard to watch, for as many seconds as their first argument says. Each
 * checks its own answers and ends with "right" only if all of them were. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WATCHED __attribute__((noinline, noclone))

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline int64_t until_of(int argc, char **argv)
{
	return now_ns() + (int64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 5));
}

static inline _Noreturn void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	fflush(stdout);
	abort();
}

#endif
