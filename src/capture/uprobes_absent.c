/* Stands in for uprobes.c where the build had no libbpf, clang or bpftool. */
#include <errno.h>

#include "base/error.h"
#include "capture/uprobes.h"

int uprobes_open(struct uprobes **u, struct error *err)
{
	(void)u;
	return error_set(err, ENOTSUP, "this culprit was built without eBPF");
}

void uprobes_close(struct uprobes *u)
{
	(void)u;
}

int uprobes_add(struct uprobes *u, const struct probe_function *f, struct error *err)
{
	(void)u, (void)f;
	return error_set(err, ENOTSUP, "no eBPF");
}

void uprobes_process(struct uprobes *u, int pid)
{
	(void)u, (void)pid;
}

void uprobes_remove(struct uprobes *u, uint32_t id)
{
	(void)u, (void)id;
}

int uprobes_read(struct uprobes *u, const struct probe_reader *r, int64_t *until, struct error *err)
{
	(void)u, (void)r, (void)until, (void)err;
	return 0;
}

uint64_t uprobes_hits(const struct uprobes *u)
{
	(void)u;
	return 0;
}

uint64_t uprobes_hits_of(const struct uprobes *u, uint32_t id)
{
	(void)u, (void)id;
	return 0;
}

uint64_t uprobes_dropped(const struct uprobes *u)
{
	(void)u;
	return 0;
}

double uprobes_cost_ns(const struct uprobes *u)
{
	(void)u;
	return 0;
}
