#include "capture/weave/table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/probe/guest/handover.h"
#include "capture/probe/ticks.h"
#include "program/functions.h"

#define LIVES_NS 30000000000
#define FOUND_MAX 64

int handover_table_open(struct handover_table *t, struct error *err)
{
	uint64_t bytes = HANDOVER_RING_AT + HANDOVER_RING_BYTES;
	int fd = memfd_create(HANDOVER_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ticks ticks = { 0 };
	void *p = MAP_FAILED;
	int r;

	/* nobody may cut it: that would be the end of all others that use it */
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED) {
		r = error_set(err, errno, "cannot make memory that processes share: %s",
			      strerror(errno));
		if (fd >= 0)
			close(fd);
		return r;
	}
	r = ticks_init(&ticks, err);
	if (r < 0) {
		munmap(p, bytes);
		close(fd);
		return r;
	}
	handover_init(p, HANDOVER_RING_BYTES, (uint64_t)(LIVES_NS / ticks.rate));
	ticks_done(&ticks);
	*t = (struct handover_table){ .here = p, .bytes = bytes, .fd = fd };
	return 0;
}

void handover_table_close(struct handover_table *t)
{
	if (!t->here)
		return;
	munmap(t->here, t->bytes);
	close(t->fd);
	*t = (struct handover_table){ 0 };
}

static const struct {
	const char *name;
	enum carry_call call;
} calls[] = {
	{ "write", CARRY_OUT },
	{ "writev", CARRY_OUT_PARTS },
	{ "send", CARRY_OUT },
	{ "sendto", CARRY_OUT },
	{ "sendmsg", CARRY_OUT_PARTS },
	{ "sendfile", CARRY_OUT_PARTS },
	{ "sendfile64", CARRY_OUT_PARTS },
	{ "sendmmsg", CARRY_OUT_MANY },
	{ "read", CARRY_IN },
	{ "readv", CARRY_IN_PARTS },
	{ "recv", CARRY_IN_4 },
	{ "recvfrom", CARRY_IN_4 },
	{ "recvmsg", CARRY_IN_3 },
	{ "recvmmsg", CARRY_IN_MANY },
	{ "splice", CARRY_SPLICE },
	{ "close", CARRY_CLOSE },
	{ "dup2", CARRY_OVER },
	{ "dup3", CARRY_OVER },
	{ "dup", CARRY_NEW },
	{ "socket", CARRY_NEW },
	{ "connect", CARRY_CONNECT },
	{ "accept", CARRY_ACCEPT },
	{ "accept4", CARRY_ACCEPT },
	{ "socketpair", CARRY_PAIR },
	{ "pipe", CARRY_PIPE },
	{ "pipe2", CARRY_PIPE },
};

/* A C library, or a program that has one in it: others may have functions with such names. */
static bool is_library(const struct functions *f, uint32_t module)
{
	struct str path = f->modules.v[module].path;
	uint32_t v[FOUND_MAX];
	size_t nr = functions_find(f, str_of("__libc_start_main"), v, FOUND_MAX);

	for (size_t i = 0; i < nr; i++)
		if (f->v.v[v[i]].module == module)
			return true;
	return str_find(path, str_of("/libpthread")) < path.n;
}

static bool is_known(const struct carried_calls *c, const char *module, uint64_t address)
{
	vec_each (&c->v, p)
		if (p->address == address && strcmp(p->module, module) == 0)
			return true;
	return false;
}

void carried_calls_find(struct carried_calls *c, struct functions *f)
{
	uint32_t v[FOUND_MAX];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		size_t nr = functions_find(f, str_of(calls[i].name), v, FOUND_MAX);

		for (size_t k = 0; k < nr; k++) {
			const struct function_of *g = &f->v.v[v[k]];
			const char *module = arena_z(&f->arena, f->modules.v[g->module].path);

			if (!is_library(f, g->module) || is_known(c, module, g->address))
				continue;
			vec_push(&c->v, (struct probe_function){ .module = module,
								 .address = g->address,
								 .size = g->size,
								 .carry = calls[i].call });
		}
	}
}
