/* Stands in for sockets.c where the build had no compiler for eBPF, bpftool or libbpf. */
#include <errno.h>

#include "base/error.h"
#include "capture/sockets.h"

bool sockets_are_built(void)
{
	return false;
}

int sockets_record(const struct sockets_options *o, const struct capture *c, struct error *err)
{
	(void)o, (void)c;
	return error_set(err, ENOTSUP,
			 "this culprit was built without eBPF (clang, bpftool and libbpf were "
			 "missing), so that sockets cannot be watched: record packets instead, "
			 "without --sockets");
}
