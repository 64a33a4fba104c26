/* Stands in for sched.c where the build had no compiler for eBPF, bpftool or libbpf. */
#include <errno.h>

#include "base/error.h"
#include "capture/sched.h"

bool sched_is_built(void)
{
	return false;
}

int sched_open(struct sched **s, const int *pids, size_t nr, struct error *err)
{
	(void)s, (void)pids, (void)nr;
	return error_set(err, ENOTSUP,
			 "this culprit was built without eBPF (clang, bpftool and libbpf were "
			 "missing), so that it is not known how threads wait");
}

int sched_add(struct sched *s, int pid, struct error *err)
{
	(void)s, (void)pid;
	return error_set(err, ENOTSUP, "this culprit was built without eBPF");
}

int sched_read(struct sched *s,
	       int (*take)(void *to, const struct thread_change *c, size_t nr, struct error *err),
	       void *to, int64_t *until, struct error *err)
{
	(void)s, (void)take, (void)to, (void)until;
	return error_set(err, ENOTSUP, "this culprit was built without eBPF");
}

void sched_pause(struct sched *s, bool is_paused)
{
}

void sched_count(const struct sched *s, struct sched_counts *c)
{
	(void)s;
	*c = (struct sched_counts){ 0 };
}

void sched_close(struct sched *s)
{
	(void)s;
}
