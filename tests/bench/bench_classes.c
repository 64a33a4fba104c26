/* Reads all class files of the jars given, links them to a program, and says how fast that went. */
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "model/loss.h"
#include "program/program.h"

int main(int argc, char **argv)
{
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct timespec from, to;
	struct program *p;
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (argc < 2 || program_load(&p, (const char *const *)argv + 1, (size_t)argc - 1, 0,
				     &losses, &err) < 0) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: bench_classes JAR..." : err.msg);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	printf("%zu classes %zu methods %llu bytes %.3f s %.1f MB/s\n", p->classes.nr,
	       p->methods.nr, (unsigned long long)p->nr_bytes, seconds,
	       (double)p->nr_bytes / seconds / 1e6);
	program_free(p);
	return 0;
}
