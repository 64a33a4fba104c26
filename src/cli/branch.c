#include "cli/branch.h"

#include <errno.h>
#include <fcntl.h>
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

int branch_run(int (*work)(void *to, void *out, struct error *err), void *to, void *out,
	       size_t out_n, struct error *err)
{
	struct result r = { 0 };
	int fd[2];
	pid_t child;

	if (pipe2(fd, O_CLOEXEC))
		return error_set(err, errno, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL); /* nothing is to be printed twice */
	child = fork();
	if (!child) {
		close(fd[0]);
		be_child(fd[1], work, to, out, out_n);
	}
	close(fd[1]);
	if (child < 0) {
		close(fd[0]);
		return error_set(err, errno, "cannot start another process: %s", strerror(errno));
	}
	if (!read_all(fd[0], &r, sizeof(r), child) || !read_all(fd[0], out, out_n, child)) {
		close(fd[0]);
		return is_dead(child, err);
	}
	close(fd[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (r.got < 0)
		*err = r.err;
	return r.got;
}
