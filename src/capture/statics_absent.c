/* Stands in for statics.c where the build had no compiler for eBPF, bpftool or libbpf. */
#include <errno.h>

#include "base/error.h"
#include "capture/statics.h"

int statics_open(struct statics **s, struct error *err)
{
	*s = NULL;
	return error_set(err, ENOTSUP,
			 "this culprit was built without eBPF (clang, bpftool and libbpf were "
			 "missing), so that static probes cannot be watched: name a function");
}

void statics_close(struct statics *s)
{
}

int statics_add(struct statics *s, const char *path, const char *provider, const char *name,
		uint32_t function, const struct probe_take *take, struct error *err)
{
	return error_set(err, ENOTSUP, "static probes cannot be watched");
}

int statics_read(struct statics *s,
		 int (*take)(void *to, const struct mark *m, size_t nr, struct error *err),
		 void *to, int64_t *until, struct error *err)
{
	return error_set(err, ENOTSUP, "static probes cannot be watched");
}

uint64_t statics_dropped(const struct statics *s)
{
	return 0;
}
