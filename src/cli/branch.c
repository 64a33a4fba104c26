#include "cli/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

struct result {
	int got;
	struct error err;
};

static bool write_all(int fd, const void *from, size_t n)
{
	const char *p = from;

	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

/* A signal that interrupts us is the child's as well. */
static bool read_all(int fd, void *to, size_t n, pid_t child)
{
	char *p = to;

	while (n) {
		ssize_t got = read(fd, p, n);

		if (got < 0 && errno == EINTR) {
			kill(child, SIGTERM);
			continue;
		}
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

/* Nothing of ours is undone in the child: it is the parent's to do so. */
static _Noreturn void be_child(int fd, int (*work)(void *to, void *out, struct error *err),
			       void *to, void *out, size_t out_n)
{
	struct result r = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r.got = work(to, out, &r.err);
	fflush(stderr);
	_exit(write_all(fd, &r, sizeof(r)) && write_all(fd, out, out_n) ? 0 : 1);
}

static int is_dead(pid_t child, struct error *err)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return error_set(err, EIO, "what makes the run was killed by signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_set(err, EIO, "what makes the run ended without a word");
}

static int start(struct branch *b, int (*work)(void *to, void *out, struct error *err), void *to,
		 void *out, size_t out_n, struct error *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return error_set(err, errno, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL); /* nothing is to be printed twice */
	b->pid = fork();
	if (!b->pid) {
		close(fd[0]);
		be_child(fd[1], work, to, out, out_n);
	}
	close(fd[1]);
	b->fd = fd[0];
	if (b->pid > 0)
		return 0;
	close(fd[0]);
	b->pid = 0;
	return error_set(err, errno, "cannot start another process: %s", strerror(errno));
}

/* What it has returned, and left. */
static int take(struct branch *b, void *out, size_t out_n, struct error *err)
{
	struct result r = { 0 };

	if (!read_all(b->fd, &r, sizeof(r), b->pid) || !read_all(b->fd, out, out_n, b->pid)) {
		close(b->fd);
		return is_dead(b->pid, err);
	}
	close(b->fd);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r.got < 0)
		*err = r.err;
	return r.got;
}

int branch_begin(struct branch *b, int (*work)(void *to, void *out, struct error *err), void *to,
		 struct error *err)
{
	return start(b, work, to, NULL, 0, err);
}

int branch_ended(struct branch *b, bool waits, int *got, struct error *err)
{
	struct pollfd p = { .fd = b->fd, .events = POLLIN };

	*got = 0;
	if (!b->pid)
		return 1;
	if (!waits && poll(&p, 1, 0) <= 0)
		return 0;
	*got = take(b, NULL, 0, err);
	*b = (struct branch){ 0 };
	return 1;
}

int branch_run(int (*work)(void *to, void *out, struct error *err), void *to, void *out,
	       size_t out_n, struct error *err)
{
	struct branch b = { 0 };
	int got = start(&b, work, to, out, out_n, err);

	return got < 0 ? got : take(&b, out, out_n, err);
}
