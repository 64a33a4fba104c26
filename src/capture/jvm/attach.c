/*
 * A JVM listens on /tmp/.java_pid<PID> as soon as it was asked to: by a file /tmp/.attach_pid<PID>
 * of its own user, and SIGQUIT. Without the file it would print all its threads, and without a
 * handler SIGQUIT would end it; so both are looked at first. PID is the one that the JVM knows, and
 * /tmp the one that it sees. It listens to its own user only (older ones not even to root), so that
 * the file is made and the connection is opened as that user.
 */
#include "capture/jvm/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/time.h"
#include "capture/jvm/arguments.h"
#include "capture/jvm/as_user.h"
#include "capture/jvm/message.h"
#include "capture/jvm/target.h"

#define PATIENCE_S 30    /* a large heap may be collected meanwhile */
#define START_MS 10000   /* from libjvm.so to its first thread with a name */
#define NAMELESS_MS 2000 /* from its handler to where it can be woken, where no thread has one */
#define REPLY_MAX (4 << 20)

struct attachment {
	struct jvm_target target;
	int tmp;          /* the directory, as the JVM sees it */
	int process;      /* stays the same process when its PID is used again */
	int64_t deadline; /* of time_tick */
};

int jvm_is(int pid)
{
	return jvm_kind(pid) != JVM_NONE;
}

static int64_t patience(void)
{
	const char *told = getenv("CULPRIT_ATTACH_SECONDS");
	struct str s = str_of(told ? told : "");
	uint64_t seconds;

	if (!str_take_uint(&s, &seconds) || s.n || !seconds || seconds > 86400)
		seconds = PATIENCE_S;
	return (int64_t)seconds * NS_S;
}

static int connect_in_tmp(const void *how)
{
	const struct attachment *a = how;
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), ".java_pid%d", a->target.own_pid);
	if (fd < 0 || fchdir(a->tmp) < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return fd;
}

static int make_in_tmp(const void *how)
{
	const struct attachment *a = how;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), ".attach_pid%d", a->target.own_pid);
	fd = openat(a->tmp, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int connect_once(const struct attachment *a)
{
	return as_user(a->target.uid, a->target.gid, connect_in_tmp, a);
}

static bool is_over(const struct attachment *a)
{
	struct pollfd p = { .fd = a->process, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Why it does not answer, as far as can be seen. */
static int say_silent(const struct attachment *a, struct error *err)
{
	struct jvm_target now;
	int pid = a->target.pid;

	if (is_over(a))
		return error_set(err, ESRCH, "process %d has ended", pid);
	if (!jvm_target_read(pid, &now, NULL) && now.is_stopped)
		return error_set(err, ETIMEDOUT,
				 "the JVM %d is stopped (by a signal or a debugger) and cannot "
				 "answer; 'kill -CONT %d' lets it go on",
				 pid, pid);
	return error_set(err, ETIMEDOUT,
			 "the JVM %d did not answer in %lld s: it is too busy, or attaching is "
			 "disabled in it; what it was asked it may still do",
			 pid, (long long)(patience() / NS_S));
}

static int say_refused(const struct attachment *a, int why, struct error *err)
{
	if (why == EACCES || why == EPERM)
		return error_set(err, why,
				 "process %d is of user %u: attach as this user, or as root",
				 a->target.pid, (unsigned)a->target.uid);
	return error_set(err, why, "cannot speak to the JVM %d: %s", a->target.pid, strerror(why));
}

/* Whether it may still come to where it can be woken, when it has begun for so long. */
static bool is_beginning(const struct attachment *a, int64_t ns)
{
	int pid = a->target.pid;

	if (jvm_has_thread(pid, STR("Service Thread")) || time_tick() >= a->deadline)
		return false;
	/* a machine that has much else to do begins slowly, and this one does */
	if (jvm_has_thread(pid, STR("VM Thread")))
		return true;
	return ns < (a->target.takes_quit ? NAMELESS_MS : START_MS) * NS_MS;
}

/*
 * A JVM that begins may have no handler yet. When it has one it still removes a socket that another
 * process may have left, and would remove its own if it listened too early; the service thread is
 * begun after that. Early JDK 8 names no threads, and has the time for it.
 */
static int wait_begun(struct attachment *a, struct error *err)
{
	int64_t began = time_tick();

	while (is_beginning(a, time_tick() - began)) {
		int got;

		usleep(20000);
		got = jvm_target_read(a->target.pid, &a->target, err);
		if (got < 0)
			return got;
	}
	/* what was read before the service thread was there may be from before the handler */
	if (!a->target.takes_quit) {
		int got = jvm_target_read(a->target.pid, &a->target, err);

		if (got < 0)
			return got;
	}
	if (a->target.takes_quit)
		return 0;
	return error_set(
		err, EPERM,
		"the JVM %d does not handle SIGQUIT (-Xrs, or it only begins), which would "
		"end it: it cannot be attached to",
		a->target.pid);
}

/* What speaks against sending it a signal. */
static int check_wakeable(struct attachment *a, struct error *err)
{
	if (jvm_attach_is_disabled(a->target.pid))
		return error_set(err, EPERM,
				 "the JVM %d was started with -XX:+DisableAttachMechanism, so that "
				 "nothing can be loaded into it",
				 a->target.pid);
	return wait_begun(a, err);
}

static int send_quit(const struct attachment *a)
{
	return syscall(SYS_pidfd_send_signal, a->process, SIGQUIT, NULL, 0) < 0 ? -errno : 0;
}

/* again: when to send the signal once more, as jcmd does, to a JVM that listens where nobody finds
 * it. It would make one that is only slow print its threads, so that it is late. */
static int wait_for_socket(const struct attachment *a, int64_t again, struct error *err)
{
	useconds_t us = 5000;

	while (time_tick() < a->deadline && !is_over(a)) {
		int fd;

		usleep(us);
		if (time_tick() > again) {
			send_quit(a);
			again = INT64_MAX;
		}
		fd = connect_once(a);
		if (fd >= 0)
			return fd;
		if (fd != -ENOENT && fd != -ECONNREFUSED && fd != -EAGAIN)
			return say_refused(a, -fd, err);
		us = us < 200000 ? us * 2 : us;
	}
	return say_silent(a, err);
}

/* Makes the file that says what SIGQUIT is to mean. One that is there already is of another tool
 * that attaches this moment, or was left behind by one, and does as well. 1: it is ours. */
static int mark(const struct attachment *a, struct error *err)
{
	char name[32];
	struct stat s;
	int fd = as_user(a->target.uid, a->target.gid, make_in_tmp, a);

	if (fd >= 0) {
		close(fd);
		return 1;
	}
	snprintf(name, sizeof(name), ".attach_pid%d", a->target.own_pid);
	if (fd == -EEXIST && !fstatat(a->tmp, name, &s, AT_SYMLINK_NOFOLLOW) &&
	    s.st_uid == a->target.uid)
		return 0;
	if (fd == -EEXIST)
		return error_set(err, EEXIST, "/tmp/%s of another user is in the way", name);
	if (fd == -EACCES || fd == -EPERM)
		return say_refused(a, -fd, err);
	return error_set(err, -fd, "cannot make /tmp/%s as the JVM sees it: %s", name,
			 strerror(-fd));
}

static int wake(struct attachment *a, struct error *err)
{
	char name[32];
	int got = check_wakeable(a, err), is_ours;

	if (got < 0)
		return got;
	is_ours = mark(a, err);
	if (is_ours < 0)
		return is_ours;
	got = send_quit(a);
	if (got < 0)
		got = say_refused(a, -got, err);
	else
		got = wait_for_socket(a, a->deadline - patience() / 2, err);
	snprintf(name, sizeof(name), ".attach_pid%d", a->target.own_pid);
	if (is_ours)
		unlinkat(a->tmp, name, 0);
	return got;
}

/* What a JVM is told while it stands still it would do later, when nobody waits for it any more. */
static int wait_moving(struct attachment *a, struct error *err)
{
	int got = 0;

	while (!got && a->target.is_stopped && time_tick() < a->deadline) {
		usleep(20000);
		got = jvm_target_read(a->target.pid, &a->target, err);
	}
	return got < 0 ? got : a->target.is_stopped ? say_silent(a, err) : 0;
}

static int talk_open(struct attachment *a, struct error *err)
{
	int fd = wait_moving(a, err);

	if (fd < 0)
		return fd;
	fd = connect_once(a);
	/* refused: the socket of a process that had the same PID */
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return wake(a, err);
	if (fd == -EAGAIN)
		return wait_for_socket(a, INT64_MAX, err);
	return fd < 0 ? say_refused(a, -fd, err) : fd;
}

/* 0 when the socket is ready. */
static int wait_ready(const struct attachment *a, int fd, short events, struct error *err)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left = a->deadline - time_tick();
	int n;

	do {
		n = left > 0 ? poll(&p, 1, (int)(left / NS_MS) + 1) : 0;
		left = a->deadline - time_tick();
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : say_silent(a, err);
}

static int send_all(const struct attachment *a, int fd, struct str bytes, struct error *err)
{
	while (bytes.n) {
		ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
		int got = 0;

		if (n >= 0)
			bytes = str_skip(bytes, (size_t)n);
		else if (errno == EAGAIN)
			got = wait_ready(a, fd, POLLOUT, err);
		else if (errno != EINTR)
			got = say_refused(a, errno, err);
		if (got < 0)
			return got;
	}
	return 0;
}

/* Up to where the JVM hangs up. */
static int read_all(const struct attachment *a, int fd, struct buf *reply, struct error *err)
{
	ssize_t n = 1;

	while (n && reply->n < REPLY_MAX) {
		int got = wait_ready(a, fd, POLLIN, err);

		if (got < 0)
			return got;
		n = recv(fd, buf_room(reply, 4096), 4096, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			n = 1;
		else if (n < 0)
			return say_refused(a, errno, err);
		else
			reply->n += (size_t)n;
	}
	if (n)
		return error_set(err, EMSGSIZE, "the JVM %d answers without end", a->target.pid);
	return reply->n ? 0
			: error_set(err, EPROTO, "the JVM %d hung up without an answer",
				    a->target.pid);
}

static int open_parts(struct attachment *a, int pid, struct error *err)
{
	enum jvm_kind kind;
	int got = jvm_target_read(pid, &a->target, err);

	if (got < 0)
		return got;
	a->process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (a->process < 0)
		return error_set(err, errno, "cannot hold process %d: %s", pid, strerror(errno));
	a->tmp = jvm_open_inside(pid, "/tmp", O_PATH | O_DIRECTORY);
	if (a->tmp == -EACCES || a->tmp == -EPERM)
		return say_refused(a, -a->tmp, err);
	kind = jvm_kind(pid);
	if (kind == JVM_NONE)
		return error_set(err, EINVAL, "process %d is no JVM: it has no libjvm.so", pid);
	if (kind == JVM_OPENJ9)
		return error_set(
			err, ENOTSUP,
			"process %d is an OpenJ9 JVM, which is not supported: only HotSpot "
			"is (OpenJDK, Oracle, Temurin, Corretto, Zulu)",
			pid);
	if (a->tmp < 0)
		return error_set(err, -a->tmp, "cannot open /tmp of the JVM %d: %s", pid,
				 strerror(-a->tmp));
	return 0;
}

/* Gives an order and takes the answer. */
static int order(int pid, const char *name, const char *const arguments[JVM_ARGUMENTS],
		 struct buf *reply, struct error *err)
{
	struct attachment a = { .tmp = -1, .process = -1, .deadline = time_tick() + patience() };
	struct buf message = { 0 };
	int fd = -1, got = jvm_message(&message, name, arguments, err);

	if (got >= 0)
		got = open_parts(&a, pid, err);
	if (got >= 0)
		got = fd = talk_open(&a, err);
	if (got >= 0)
		got = send_all(&a, fd, buf_str(&message), err);
	if (got >= 0)
		got = read_all(&a, fd, reply, err);
	cleanup_close_fd(&fd);
	cleanup_close_fd(&a.tmp);
	cleanup_close_fd(&a.process);
	buf_done(&message);
	return got;
}

static int load_once(int pid, const char *const arguments[JVM_ARGUMENTS], int64_t *returned,
		     struct error *err)
{
	struct buf reply = { 0 };
	int got = order(pid, "load", arguments, &reply, err);

	if (got >= 0)
		got = jvm_answer_load(buf_str(&reply), returned, err);
	buf_done(&reply);
	return got;
}

int jvm_attach_load(int pid, const char *path, const char *options, struct error *err)
{
	const char *const arguments[JVM_ARGUMENTS] = { path, "true", options };
	int64_t end = time_tick() + patience(), returned = 0;
	int got;

	if (path[0] != '/')
		return error_set(err, EINVAL, "the path of a library must be absolute: '%s'", path);
	while ((got = load_once(pid, arguments, &returned, err)) == -EAGAIN && time_tick() < end)
		usleep(20000);
	if (got >= 0 && returned)
		got = error_set(err, ECANCELED,
				"the library in the JVM %d said no: it returned %lld", pid,
				(long long)returned);
	return got;
}

int jvm_properties(int pid, struct buf *out, struct error *err)
{
	const char *const arguments[JVM_ARGUMENTS] = { 0 };
	struct buf reply = { 0 };
	struct str text;
	int got = order(pid, "properties", arguments, &reply, err);

	if (got >= 0)
		got = jvm_answer(buf_str(&reply), &text, err);
	if (got >= 0)
		buf_add(out, text);
	buf_done(&reply);
	return got;
}
