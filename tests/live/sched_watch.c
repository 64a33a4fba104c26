/*
 * Runs a command and prints how its threads waited, as eBPF tells: "told THREAD KIND NS" for each
 * kind, and last "dropped N late N changes N".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/sched.h"

#define THREADS_MAX 4096

struct seen {
	uint32_t thread;
	int64_t off, woken, begin;
	enum wait_why why;
	int64_t ns[NR_WAITS];
};

static struct seen seen[THREADS_MAX];
static size_t nr_seen;

static struct seen *find(uint32_t thread)
{
	for (size_t i = 0; i < nr_seen; i++)
		if (seen[i].thread == thread)
			return &seen[i];
	if (nr_seen == THREADS_MAX)
		exit(2);
	seen[nr_seen].thread = thread;
	return &seen[nr_seen++];
}

static void runs(struct seen *t, int64_t ns)
{
	if (!t->off)
		return;
	if (t->woken && t->why != WAIT_CPU) {
		t->ns[t->why] += t->woken - t->off;
		t->ns[WAIT_CPU] += ns - t->woken;
	} else {
		t->ns[t->why] += ns - t->off;
	}
	t->off = t->woken = 0;
}

static int take(void *to, const struct thread_change *c, size_t nr, struct error *err)
{
	(void)to, (void)err;
	for (; nr--; c++) {
		struct seen *t = find(c->thread);

		if (getenv("SCHED_SHOW"))
			fprintf(stderr, "%ld %u kind %d why %s call %d other %u\n", (long)c->ns,
				c->thread, c->kind, wait_why_name(c->why), c->call, c->other);
		if (c->kind == THREAD_OFF) {
			t->off = c->ns;
			t->why = c->why;
			t->woken = 0;
		} else if (c->kind == THREAD_WOKEN && t->off && !t->woken) {
			t->woken = c->ns;
			if (c->why)
				t->why = c->why;
		} else if (c->kind == THREAD_ON) {
			runs(t, c->ns);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct timespec look = { 0, 20000000 };
	struct error err = { 0 };
	struct sched_counts counts;
	struct sched *s;
	int64_t until;
	bool is_given = argc > 2 && !strcmp(argv[1], "-p");
	int pid, status, go[2];
	char byte;

	if (pipe(go))
		return 2;
	pid = is_given ? (int)strtol(argv[2], NULL, 10) : fork();
	if (!pid) {
		/* it begins when it is watched */
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(127);
		close(go[0]);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (sched_open(&s, &pid, 1, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	if (write(go[1], "x", 1) != 1)
		return 2;
	for (int over = 0; over < 2;) {
		over += over || (is_given ? kill(pid, 0) : waitpid(pid, &status, WNOHANG) == pid);
		nanosleep(&look, NULL);
		if (sched_read(s, take, NULL, &until, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			return 2;
		}
	}
	for (size_t i = 0; i < nr_seen; i++)
		for (int n = 1; n < NR_WAITS; n++)
			if (seen[i].ns[n])
				printf("told %u %s %ld\n", seen[i].thread,
				       wait_why_name((enum wait_why)n), (long)seen[i].ns[n]);
	sched_count(s, &counts);
	printf("dropped %lu late %lu changes %lu\n", counts.nr_dropped, counts.nr_late,
	       counts.nr_changes);
	sched_close(s);
	return 0;
}
