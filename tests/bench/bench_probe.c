/*
 * What watching a function costs where it is called, and how many calls are read.
 * usage: bench_probe            all of it
 *        bench_probe loop CALLS the program that is watched: prints ns for a call
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "capture/probe/probe.h"
#include "capture/probe/spawn.h"
#include "program/functions.h"

static volatile long sink;

__attribute__((noinline, noclone)) long bench_watched(long a);
long bench_watched(long a)
{
	sink = sink + a;
	return sink ^ a;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of many short stretches: others want the processor as well. */
static int loop(long calls)
{
	double best = 1e9;

	for (long done = 0; done < calls; done += 10000) {
		double from = now(), ns;

		for (long i = 0; i < 10000; i++)
			bench_watched(i);
		ns = (now() - from) / 10000;
		best = ns < best ? ns : best;
	}
	printf("%.1f ns for a call\n", best);
	return 0;
}

static int take_calls(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	(void)c, (void)err;
	*(size_t *)to += nr;
	return 0;
}

static int take_marks(void *to, const struct mark *m, size_t nr, struct error *err)
{
	(void)to, (void)m, (void)nr, (void)err;
	return 0;
}

static int watch(int pid, const char *self, struct error *err)
{
	struct functions f = { 0 };
	struct probe_options o = { .pid = pid };
	struct probe_function w = { .id = 1, .module = self, .is_call = true };
	struct probe_verdict v = { 0 };
	struct probe_counts c;
	size_t told = 0;
	struct probe_reader r = { &told, take_calls, take_marks };
	struct probe *p;
	uint32_t nr;
	double from, spent = 0;
	int e;

	if (functions_of_file(&f, self, err) < 0 || probe_open(&p, &o, err) < 0)
		return -1;
	if (functions_find(&f, str_of("bench_watched"), &nr, 1) == 1) {
		w.address = f.v.v[nr].address;
		w.size = f.v.v[nr].size;
	}
	functions_done(&f);
	e = probe_add(p, &w, 1, &v, err);
	spawn_go(pid);
	while (e == 0) {
		int64_t until;

		from = now();
		e = probe_read(p, &r, &until, err);
		spent += now() - from;
		usleep(2000);
	}
	probe_count(p, &c);
	printf("%s; calibrated cost %.1f ns; %zu calls told, %llu dropped; %.1f ns to read one\n",
	       v.why ? v.why : "patched", probe_cost_ns(p), told, (unsigned long long)c.nr_dropped,
	       told ? spent / (double)told : 0);
	probe_close(p);
	return e < 0 ? e : 0;
}

int main(int argc, char **argv)
{
	static char self[4096];
	char *child[] = { self, (char *)"loop", (char *)"20000000", NULL };
	struct error err = { 0 };
	int pid;

	if (argc > 2 && strcmp(argv[1], "loop") == 0)
		return loop(atol(argv[2]));
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	printf("not watched: ");
	fflush(stdout);
	loop(20000000);
	printf("watched: ");
	fflush(stdout);
	if (spawn_stopped(child, STDOUT_FILENO, &pid, &err) < 0 || watch(pid, self, &err) < 0) {
		fprintf(stderr, "bench_probe: %s\n", err.msg);
		return 2;
	}
	waitpid(pid, NULL, 0);
	return 0;
}
