#include "capture/probe/cradle.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/probe/guardian.h"
#include "capture/probe/ticks.h"

#define READY_MS 2000

bool cradle_is_open(const struct cradle *c)
{
	return c->child > 0;
}

static bool child_start(struct cradle *c)
{
	struct pollfd p = { .events = POLLIN };
	int pair[2];
	char is_ready;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	c->child = fork();
	if (c->child == 0) {
		close(pair[0]);
		cradle_run(pair[1], c->shared);
	}
	close(pair[1]);
	c->socket = p.fd = pair[0];
	/* what is started from here on it hears of */
	return c->child > 0 && poll(&p, 1, READY_MS) > 0 &&
	       guardian_receive(c->socket, &is_ready, 1) == 0;
}

void cradle_open(struct cradle *c)
{
	struct error ignored = { 0 };
	struct ticks ticks;

	*c = (struct cradle){ .socket = -1 };
	if (ticks_init(&ticks, &ignored) < 0)
		return;
	c->shared = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared != MAP_FAILED) {
		c->shared->ticks_per_ns = 1 / ticks.rate;
		if (!child_start(c))
			cradle_close(c);
	} else {
		c->shared = NULL;
	}
	ticks_done(&ticks);
}

void cradle_close(struct cradle *c)
{
	if (c->shared && c->socket >= 0)
		close(c->socket);
	if (c->child > 0)
		while (waitpid(c->child, NULL, 0) < 0 && errno == EINTR)
			;
	if (c->shared)
		munmap(c->shared, sizeof(*c->shared));
	*c = (struct cradle){ 0 };
}

void cradle_of(struct cradle *c, int pid)
{
	if (cradle_is_open(c))
		guardian_send(c->socket, &pid, sizeof(pid));
}

void cradle_want(struct cradle *c, bool is_wanted)
{
	if (cradle_is_open(c))
		__atomic_store_n(&c->shared->is_wanted, is_wanted, __ATOMIC_RELEASE);
}
