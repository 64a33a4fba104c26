#include "capture/jvm/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/jvm/target.h"

static int write_all(int fd, struct str content)
{
	while (content.n) {
		ssize_t n = write(fd, content.p, content.n);

		if (n < 0 && errno != EINTR)
			return -errno;
		content = str_skip(content, n < 0 ? 0 : (size_t)n);
	}
	return 0;
}

/* Nobody else has this name: the clock and a count make it ours. */
static int make(struct jvm_file *f, const struct jvm_target *t, struct str content)
{
	static atomic_uint nr;
	const char *name = f->path + strlen("/tmp/");
	int got = 0;

	snprintf(f->path, sizeof(f->path), "/tmp/.culprit-%d-%llx-%u", (int)getpid(),
		 (unsigned long long)time_tick(), atomic_fetch_add(&nr, 1));
	f->fd = openat(f->tmp, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return -errno;
	if (t->uid != geteuid() && fchown(f->fd, t->uid, t->gid) < 0)
		got = -errno;
	if (!got)
		got = write_all(f->fd, content);
	if (got < 0)
		jvm_file_close(f);
	return got;
}

int jvm_file_open(struct jvm_file *f, int pid, struct str content, struct error *err)
{
	struct jvm_target t;
	int got = jvm_target_read(pid, &t, err);

	*f = (struct jvm_file){ .fd = -1, .tmp = -1 };
	if (got < 0)
		return got;
	f->tmp = jvm_open_inside(pid, "/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	got = f->tmp < 0 ? f->tmp : make(f, &t, content);
	if (got >= 0)
		return 0;
	if (f->tmp >= 0)
		close(f->tmp);
	f->tmp = -1;
	return error_set(err, -got, "cannot write a file in /tmp of the JVM %d: %s", pid,
			 strerror(-got));
}

int jvm_file_read(const struct jvm_file *f, size_t from, struct buf *content, struct error *err)
{
	off_t at = (off_t)from;
	ssize_t n;

	while ((n = pread(f->fd, buf_room(content, 4096), 4096, at)) > 0) {
		content->n += (size_t)n;
		at += n;
	}
	return n < 0 ? error_set(err, errno, "cannot read '%s': %s", f->path, strerror(errno)) : 0;
}

void jvm_file_close(struct jvm_file *f)
{
	if (f->fd < 0)
		return;
	unlinkat(f->tmp, f->path + strlen("/tmp/"), 0);
	close(f->fd);
	close(f->tmp);
	f->fd = f->tmp = -1;
}
