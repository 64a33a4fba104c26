/*
 * Everything that the command becomes (exec) or makes (fork) is traced until the program that is
 * meant has begun. A program that is new runs to its entry, where its libraries are loaded, and is
 * looked at there. Nothing else is stopped, but for the instants of its forks.
 */
#include "capture/probe/spawn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#define VECTOR_MAX 64
#define SYSCALLS_MAX 64
#define SPINS 64
#define LOADER_BYTES (1u << 20)
#define CATCH_LOOKS 100 /* at a program that has begun, each 0.1 ms after the other */
#define OPTIONS \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE)

/* A process, or one of its threads. */
struct traced {
	int tid;
	uint64_t entry; /* where it is to stop; 0: nowhere */
	long old;       /* what stands there */
	int nr_calls;   /* that it may make before it is looked at; 0: it runs freely */
	bool is_known;  /* its thread knows who it is */
};

struct spawn {
	const struct spawn_wish *wish;
	VEC(struct traced) v;
	struct spawned out;
	bool has_begun; /* the command itself could be started */
};

static struct traced *traced_of(struct spawn *s, int tid)
{
	vec_each (&s->v, t)
		if (t->tid == tid)
			return t;
	vec_push(&s->v, (struct traced){ .tid = tid });
	return &s->v.v[s->v.nr - 1];
}

static void forget(struct spawn *s, int tid)
{
	for (size_t i = 0; i < s->v.nr; i++)
		if (s->v.v[i].tid == tid)
			s->v.v[i--] = s->v.v[--s->v.nr];
}

static void go(const struct traced *t, int signal)
{
	ptrace(t->nr_calls ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL, (void *)(long)signal);
}

/* A word of what the kernel has told the program at its start; 0 for programs of 32 bits. */
static uint64_t told(int pid, uint64_t type)
{
	cleanup(close_fd) int fd = -1, exe = -1;
	Elf64_auxv_t v[VECTOR_MAX];
	unsigned char head[EI_CLASS + 1];
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	exe = open(path, O_RDONLY | O_CLOEXEC);
	if (exe < 0 || read(exe, head, sizeof(head)) != sizeof(head) ||
	    head[EI_CLASS] != ELFCLASS64)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, v, sizeof(v));
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(*v); i++)
		if (v[i].a_type == type)
			return v[i].a_un.a_val;
	return 0;
}

static bool stop_at_entry(struct traced *t)
{
	long trap;

	/* where the program begins when its loader is done */
	t->entry = told(t->tid, AT_ENTRY);
	errno = 0;
	t->old = t->entry ? ptrace(PTRACE_PEEKTEXT, t->tid, (void *)t->entry, NULL) : 0;
	if (!t->entry || errno)
		t->entry = 0;
	trap = (t->old & ~0xffL) | 0xcc;
	return t->entry && ptrace(PTRACE_POKETEXT, t->tid, (void *)t->entry, (void *)trap) == 0;
}

/* Whether it stands where it was to stop; the place is as it was then. */
static bool is_at_entry(struct traced *t)
{
	struct user_regs_struct regs;

	if (!t->entry || ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) < 0 ||
	    regs.rip != t->entry + 1)
		return false;
	ptrace(PTRACE_POKETEXT, t->tid, (void *)t->entry, (void *)t->old);
	regs.rip = t->entry;
	ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	t->entry = 0;
	return true;
}

static bool has_thread_pointer(int pid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0 || regs.fs_base;
}

/* A static program has no loader that tells its thread who it is: it does so itself, first of all,
 * and is through with it when it calls the system for something else. One that never does so is
 * left where it is after a while. */
static bool is_thread_known(struct traced *t)
{
	struct user_regs_struct regs;

	if (--t->nr_calls <= 0 || ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) < 0)
		return true;
	if (regs.orig_rax == SYS_set_tid_address)
		t->is_known = true;
	else if (t->is_known)
		return true;
	return false;
}

/* A program that has begun: 1 when it is the one. */
static int look_at(struct spawn *s, struct traced *t, struct error *err)
{
	int r;

	t->nr_calls = 0;
	r = s->wish ? s->wish->wants(s->wish->to, t->tid, err) : 1;
	if (r > 0)
		s->out.pid = t->tid;
	else if (r == 0)
		go(t, 0);
	return r;
}

/* The loader goes first, where there is one. */
static int on_exec(struct spawn *s, int tid, struct error *err)
{
	unsigned long was = 0;
	struct traced *t;

	/* a thread that does this takes the place of its process */
	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &was) == 0 && (int)was != tid)
		forget(s, (int)was);
	forget(s, tid);
	t = traced_of(s, tid);
	s->has_begun = true;
	if (!stop_at_entry(t))
		return look_at(s, t, err);
	go(t, 0);
	return 0;
}

/* It begins as a copy of the one that made it, as far as that one has come. */
static void on_fork(struct spawn *s, int tid)
{
	unsigned long made = 0;
	struct traced copy;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &made);
	copy = *traced_of(s, tid);
	copy.nr_calls = 0;
	copy.tid = (int)made;
	/* it may have told of itself before, and be another program by now */
	if (made && !traced_of(s, (int)made)->entry)
		*traced_of(s, (int)made) = copy;
	go(traced_of(s, tid), 0);
}

static bool is_stopping(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* 1: the program that is meant has begun. */
static int on_stop(struct spawn *s, int tid, int status, struct error *err)
{
	struct traced *t = traced_of(s, tid);
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_EXEC:
		return on_exec(s, tid, err);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_fork(s, tid);
		return 0;
	case PTRACE_EVENT_STOP:
		if (is_stopping(signal))
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		else
			go(t, 0);
		return 0;
	}
	if (signal == (SIGTRAP | 0x80)) {
		if (is_thread_known(t))
			return look_at(s, t, err);
		signal = 0;
	} else if (signal == SIGTRAP && is_at_entry(t)) {
		if (has_thread_pointer(tid))
			return look_at(s, t, err);
		t->nr_calls = SYSCALLS_MAX;
		signal = 0;
	}
	go(t, signal);
	return 0;
}

static void on_end(struct spawn *s, int tid, int status)
{
	forget(s, tid);
	if (tid != s->out.command)
		return;
	s->out.has_ended = true;
	s->out.status = status;
}

/* The next that has stopped or ended; 0 when nobody is left, or nobody waits any more. */
static int next_stop(struct spawn *s, int *status)
{
	for (int i = 0; s->v.nr; i++) {
		int tid = waitpid(-1, status, __WALL | WNOHANG);

		if (tid > 0)
			return tid;
		if ((tid < 0 && errno != EINTR) ||
		    (s->wish && s->wish->is_over && s->wish->is_over(s->wish->to)))
			return 0;
		if (i < SPINS)
			sched_yield();
		else
			nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
	return 0;
}

static int follow(struct spawn *s, struct error *err)
{
	int tid, status, r = 0;

	while (r == 0 && (tid = next_stop(s, &status))) {
		if (WIFSTOPPED(status))
			r = on_stop(s, tid, status, err);
		else
			on_end(s, tid, status);
		if (!s->has_begun && s->out.has_ended)
			return WIFEXITED(status) && WEXITSTATUS(status) == 127
				       ? error_set(err, ENOENT, "the program cannot be started")
				       : error_set(err, ESRCH, "the program ended before it began");
	}
	return r;
}

/* It has met our trap, and is told so next: whoever let it go before would leave it the signal. */
static bool is_behind_entry(const struct traced *t)
{
	struct user_regs_struct regs;

	return t->entry && ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) == 0 &&
	       regs.rip == t->entry + 1;
}

/* Wherever it stands, it goes on by itself. */
static void release(struct spawn *s, int tid, int status)
{
	struct traced *t = traced_of(s, tid);
	int signal = status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
	unsigned long made = 0;

	if (status >> 16 == PTRACE_EVENT_FORK || status >> 16 == PTRACE_EVENT_VFORK ||
	    status >> 16 == PTRACE_EVENT_CLONE)
		if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &made) == 0 && made)
			traced_of(s, (int)made);
	t = traced_of(s, tid);
	if (status >> 16 == PTRACE_EVENT_STOP && is_behind_entry(t)) {
		ptrace(PTRACE_CONT, tid, NULL, NULL);
		return;
	}
	if (signal == SIGTRAP && is_at_entry(t))
		signal = 0;
	if (t->entry)
		ptrace(PTRACE_POKETEXT, tid, (void *)t->entry, (void *)t->old);
	if (status >> 16 == PTRACE_EVENT_STOP && is_stopping(WSTOPSIG(status)))
		signal = WSTOPSIG(status);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
	forget(s, tid);
}

/* All but the one that is meant; what they make meanwhile as well. */
static void release_others(struct spawn *s)
{
	int tid, status;

	forget(s, s->out.pid);
	vec_each (&s->v, t)
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	while (s->v.nr && (tid = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			release(s, tid, status);
		else
			on_end(s, tid, status);
}

/* Goes into a stop of its own when it is let go. */
static int leave_stopped(int pid, struct error *err)
{
	int status = 0;

	kill(pid, SIGSTOP);
	for (int signal = 0; status >> 8 != SIGSTOP; signal = status >> 16 ? 0 : WSTOPSIG(status)) {
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)signal);
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
		if (!WIFSTOPPED(status))
			return error_set(err, ESRCH, "the program ended before it began");
	}
	ptrace(PTRACE_DETACH, pid, NULL, (void *)(long)SIGSTOP);
	return 0;
}

/* Waits for somebody to trace it before it becomes the command. */
static pid_t start(char *const argv[], int prints)
{
	char byte;
	pid_t pid;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* signals as a shell would start it */
		signal(SIGPIPE, SIG_DFL);
		if (prints >= 0)
			dup2(prints, STDOUT_FILENO);
		close(pair[1]);
		if (read(pair[0], &byte, 1) != 1)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid > 0 &&
	    (ptrace(PTRACE_SEIZE, pid, NULL, (void *)OPTIONS) < 0 || write(pair[1], "", 1) != 1)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(pair[0]);
	close(pair[1]);
	return pid;
}

int spawn_until(char *const argv[], int prints, const struct spawn_wish *wish, struct spawned *out,
		struct error *err)
{
	struct spawn s = { .wish = wish };
	int r;

	s.out.command = start(argv, prints);
	if (s.out.command < 0)
		return error_set(err, errno, "cannot start a process: %s", strerror(errno));
	traced_of(&s, s.out.command);
	r = follow(&s, err);
	if (r < 0)
		vec_each (&s.v, t)
			kill(t->tid, SIGKILL);
	if (r > 0)
		r = leave_stopped(s.out.pid, err);
	release_others(&s);
	vec_done(&s.v);
	if (r < 0)
		return error_prefix(err, "'%s'", argv[0]);
	*out = s.out;
	return 0;
}

int spawn_stopped(char *const argv[], int prints, int *pid, struct error *err)
{
	struct spawned s = { 0 };
	int r = spawn_until(argv, prints, NULL, &s, err);

	if (r < 0)
		return r;
	if (!s.pid)
		return error_set(err, ESRCH, "'%s': the program ended before it began", argv[0]);
	*pid = s.pid;
	return 0;
}

/* Until it has come there, has ended, or is past it; negative: it has ended, else a signal that it
 * was about to get. */
static int catch_wait(struct traced *t)
{
	bool is_told = false;
	int status, signal;

	for (int i = 0;; i++) {
		int got = waitpid(t->tid, &status, __WALL | WNOHANG);

		if ((got < 0 && errno != EINTR) || (got > 0 && !WIFSTOPPED(status)))
			return -1;
		signal = got > 0 && !(status >> 16) ? WSTOPSIG(status) : 0;
		if (signal == SIGTRAP && is_at_entry(t))
			return 0;
		if (got > 0 && status >> 16 == PTRACE_EVENT_EXEC)
			stop_at_entry(t);
		else if (got > 0 && (is_told || status >> 16 == PTRACE_EVENT_STOP))
			return signal;
		if (got > 0)
			go(t, signal);
		else
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		if (i == CATCH_LOOKS) {
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
			is_told = true;
		}
	}
}

/* Whether its loader may still be at work. */
static bool is_loading(int pid)
{
	struct user_regs_struct regs;
	uint64_t loader = told(pid, AT_BASE);

	return loader && ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0 &&
	       regs.rip - loader < LOADER_BYTES;
}

void spawn_catch(int pid)
{
	struct traced t = { .tid = pid };
	int status, signal;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXEC) < 0)
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return;
	if (!WIFSTOPPED(status))
		return;
	signal = status >> 16 ? 0 : WSTOPSIG(status);
	if (!is_stopping(WSTOPSIG(status)) && is_loading(pid) && stop_at_entry(&t)) {
		go(&t, signal);
		signal = catch_wait(&t);
		if (signal < 0)
			return;
		if (t.entry)
			ptrace(PTRACE_POKETEXT, pid, (void *)t.entry, (void *)t.old);
	}
	ptrace(PTRACE_DETACH, pid, NULL, (void *)(long)signal);
}

int spawn_go(int pid)
{
	return kill(pid, SIGCONT) < 0 ? -errno : 0;
}
