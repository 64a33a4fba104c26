/*
 * Only names are watched: that a log has grown is seen by looking at its size now and then, while
 * being told of every line written would cost more than it is worth. File systems that tell nothing
 * (NFS, some FUSE) need no special care: whoever waits looks again when the time is over.
 */
#include "source/follow_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

#define NAMES \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
	 IN_ONLYDIR)

struct follow_watch {
	int fd; /* -1: the system does not tell */
};

struct follow_watch *follow_watch_new(void)
{
	struct follow_watch *w = mem_zalloc(sizeof(*w));

	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return w;
}

void follow_watch_free(struct follow_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

void follow_watch_add(struct follow_watch *w, const char *directory)
{
	if (w->fd >= 0)
		inotify_add_watch(w->fd, directory, NAMES);
}

/* What changed does not matter: all is looked at again. */
static bool drain(struct follow_watch *w)
{
	_Alignas(struct inotify_event) char events[4096];
	bool any = false;

	while (read(w->fd, events, sizeof(events)) > 0)
		any = true;
	return any;
}

bool follow_watch_wait(struct follow_watch *w, int64_t ns)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	int64_t ms = ns > 0 ? (ns + NS_MS - 1) / NS_MS : 0;

	if (poll(&p, w->fd >= 0 ? 1 : 0, ms > INT32_MAX ? INT32_MAX : (int)ms) <= 0)
		return false;
	return drain(w);
}
