/*
 * What advice costs where it runs, the probe included, and what a thread does without it.
 * usage: bench_weave            all of it
 *        bench_weave loop       the program that is asked: prints ns for a call, each second
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/weave/weave.h"
#include "query/partial.h"

#define CALLS 2000
#define STRETCHES 3000

static volatile long sink;

long bench_begins(long a, const char *who);
long bench_works(long a, const char *who);

__attribute__((noinline, noclone)) long bench_begins(long a, const char *who)
{
	sink = sink + a;
	return sink ^ who[0];
}

__attribute__((noinline, noclone)) long bench_works(long a, const char *who)
{
	sink = sink + a;
	return sink ^ who[0];
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of many short stretches: others want the processor as well. */
static void stretch(char what)
{
	double best = 1e9;

	for (int k = 0; k < STRETCHES; k++) {
		double from = now(), ns;

		if (what == 'b')
			for (long i = 0; i < CALLS; i++)
				bench_begins(i, "who");
		else
			for (long i = 0; i < CALLS; i++)
				bench_works(i, "who");
		ns = (now() - from) / CALLS;
		best = ns < best ? ns : best;
	}
	printf("%.1f\n", best);
	fflush(stdout);
}

static int loop(void)
{
	char what;

	bench_begins(1, "one");
	while (read(0, &what, 1) == 1)
		stretch(what);
	return 0;
}

struct program {
	pid_t pid;
	int in;
	FILE *out;
};

static double ask(struct program *p, struct weave *w, char what)
{
	struct error err = { 0 };
	double ns = -1;

	if (write(p->in, &what, 1) != 1 || fscanf(p->out, "%lf", &ns) != 1)
		return -1;
	weave_gather(w, true, &err);
	return ns;
}

static const char points[] =
	"tracepoint B at function bench_weave!bench_begins entry export a = arg0, who = arg1:text\n"
	"tracepoint W at function bench_weave!bench_works entry export a = arg0, who = arg1:text\n"
	"tracepoint X at function bench_weave!bench_works exit export took = duration\n";

static void measure(struct program *p, struct weave *w, const char *what, const char *text,
		    char which)
{
	static uint64_t id;
	const struct weave_request r = { ++id, str_of(text), str_of(points), STR("points") };
	struct error err = { 0 };
	struct buf told = { 0 };
	struct weave_health h;

	if (weave_install(w, &r, &told, &err) <= 0) {
		printf("%s: %s\n" STR_FMT, what, err.msg, STR_ARG(buf_str(&told)));
	} else {
		if (which == 'w')
			ask(p, w, 'b');
		printf("%-52s %6.1f ns\n", what, ask(p, w, which));
		weave_remove(w, id, &err);
	}
	weave_health(w, &h);
	weave_forget(w, id);
	buf_done(&told);
}

static int bench(const char *self)
{
	const struct weave_options o = { 0 };
	int to[2], from[2];
	struct program p;
	struct weave *w;
	struct error err = { 0 };
	struct buf told = { 0 };

	if (pipe(to) < 0 || pipe(from) < 0)
		return 1;
	p.pid = fork();
	if (p.pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(self, self, "loop", NULL);
		_exit(127);
	}
	p.in = to[1];
	p.out = fdopen(from[0], "r");
	usleep(100000);
	if (weave_open(&w, &o, &err) < 0 || weave_enter(w, p.pid, &told, &err) < 0) {
		printf("%s\n", err.msg);
		return 1;
	}
	printf("%-52s %6.1f ns\n", "no advice", ask(&p, w, 'w'));
	measure(&p, w, "COUNT", "From w In W Select COUNT", 'w');
	measure(&p, w, "SUM of an argument", "From w In W Select SUM(w.a)", 'w');
	measure(&p, w, "SUM by a text in memory",
		"From w In W GroupBy w.who Select w.who, SUM(w.a)", 'w');
	measure(&p, w, "AVERAGE duration, at the end of the function",
		"From x In X Select AVERAGE(x.took)", 'w');
	measure(&p, w, "Q2, where it packs (First)",
		"From w In W Join b In First(B) On b -> w GroupBy b.procName "
		"Select b.procName, SUM(w.a)",
		'b');
	measure(&p, w, "Q2, where it unpacks and adds up",
		"From w In W Join b In First(B) On b -> w GroupBy b.procName "
		"Select b.procName, SUM(w.a)",
		'w');
	printf("%-52s %6.1f ns\n", "no advice again", ask(&p, w, 'w'));
	weave_close(w);
	close(to[1]);
	close(to[0]);
	kill(p.pid, SIGTERM);
	waitpid(p.pid, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc > 1 && !strcmp(argv[1], "loop"))
		return loop();
	self[n > 0 ? n : 0] = 0;
	return bench(self);
}
