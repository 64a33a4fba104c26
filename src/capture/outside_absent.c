/* Stands in for outside.c where the build had no libbpf, clang or bpftool. */
#include <errno.h>

#include "base/error.h"
#include "capture/outside.h"

int outside_open(struct outside **o, outside_take *take, void *to, struct error *err)
{
	(void)o, (void)take, (void)to;
	return error_set(err, ENOTSUP, "this culprit was built without eBPF");
}

void outside_close(struct outside *o)
{
	(void)o;
}

int outside_process(struct outside *o, int pid, const struct outside_process *p, struct error *err)
{
	(void)o, (void)pid, (void)p;
	return error_set(err, ENOTSUP, "no eBPF");
}

int outside_call(struct outside *o, int call, const struct outside_wish *w, struct error *err)
{
	(void)o, (void)call, (void)w;
	return error_set(err, ENOTSUP, "no eBPF");
}

int outside_function(struct outside *o, const struct probe_function *how,
		     const struct outside_wish *w, int pid, const int *pids, size_t nr,
		     struct error *err)
{
	(void)o, (void)how, (void)w, (void)pid, (void)pids, (void)nr;
	return error_set(err, ENOTSUP, "no eBPF");
}

void outside_stop(struct outside *o, int place)
{
	(void)o, (void)place;
}

void outside_leave(struct outside *o, int place)
{
	(void)o, (void)place;
}

int outside_read(struct outside *o, struct error *err)
{
	(void)o, (void)err;
	return 0;
}

uint64_t outside_dropped(const struct outside *o, int place)
{
	(void)o, (void)place;
	return 0;
}

uint64_t outside_passed(const struct outside *o, int place)
{
	(void)o, (void)place;
	return 0;
}
