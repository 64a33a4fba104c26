#include "capture/probe/tracee.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "capture/probe/image.h"

#define STOP_NS 1000000000 /* how long threads may take to stop */
#define SPIN_NS 200000
#define RED_ZONE 128

/* Kernel's words for calls that are to be made again. */
enum { RESTARTSYS = 512, RESTARTNOINTR, RESTARTNOHAND, RESTART_RESTARTBLOCK = 516 };
#define NR_RESTART_SYSCALL 219

extern const uint8_t probe_borrow[], probe_borrow_end[];

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct tracee_thread *thread_of(struct tracee *t, int tid)
{
	vec_each (&t->threads, v)
		if (v->tid == tid)
			return v;
	return NULL;
}

/* The letter that /proc tells of a thread, 0 when it is gone. */
static char thread_state(int pid, int tid)
{
	char path[64], line[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = 0;
	p = strrchr(line, ')');
	return p && p[1] == ' ' ? p[2] : 0;
}

/* Who traces a thread, 0: nobody. */
static int thread_tracer(int pid, int tid)
{
	char path[64], line[256];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	if (f)
		fclose(f);
	return tracer;
}

/* Another one that traces it may be about to leave. */
static int seize_refused(const struct tracee *t, int tid, int why, struct error *err)
{
	char state = thread_state(t->pid, tid);
	int tracer = thread_tracer(t->pid, tid);

	if (why == ESRCH || !state || state == 'Z' || state == 'X')
		return 0;
	if (tracer)
		return error_set(err, EBUSY, "process %d is being traced by process %d", t->pid,
				 tracer);
	return error_set(err, why,
			 "process %d may not be watched (%s): it must be yours and not be traced "
			 "by another program, and kernel.yama.ptrace_scope 0; or run as root",
			 t->pid, strerror(why));
}

static int seize(struct tracee *t, int tid, struct error *err)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0)
		return seize_refused(t, tid, errno, err);
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	vec_push(&t->threads, (struct tracee_thread){ .tid = tid });
	return 1;
}

/* How many threads were new. */
static int seize_all(struct tracee *t, struct error *err)
{
	char path[32];
	struct dirent *e;
	int r = 0, nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
	d = opendir(path);
	if (!d)
		return error_set(err, ESRCH, "process %d is gone", t->pid);
	while (r >= 0 && (e = readdir(d))) {
		int tid = atoi(e->d_name);

		if (tid > 0 && !thread_of(t, tid)) {
			r = seize(t, tid, err);
			nr += r > 0;
		}
	}
	closedir(d);
	return r < 0 ? r : nr;
}

/* 1: it has ended. */
static int thread_wait(struct tracee_thread *v, int flags)
{
	int status, r = waitpid(v->tid, &status, __WALL | flags);

	if (r == 0)
		return 0;
	if (r < 0 || WIFEXITED(status) || WIFSIGNALED(status))
		return 1;
	v->is_stopped = true;
	if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80))
		v->signal = WSTOPSIG(status);
	return 0;
}

static void pause_a_little(int64_t since)
{
	if (now() - since < SPIN_NS)
		sched_yield();
	else
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static int wait_all(struct tracee *t, struct error *err)
{
	int64_t since = now(), looked = since;

	for (;;) {
		size_t nr_running = 0, kept = 0;
		int64_t before = looked;

		looked = now();

		for (size_t i = 0; i < t->threads.nr; i++) {
			struct tracee_thread *v = &t->threads.v[i];

			bool was_stopped = v->is_stopped;

			if (!v->is_stopped && thread_wait(v, WNOHANG))
				continue;
			/* a thread that nobody lets run is not kept from running by us */
			if (v->is_stopped && !was_stopped && !t->since)
				t->since = before;
			if (!v->is_stopped && thread_state(t->pid, v->tid) != 'D')
				nr_running++;
			t->threads.v[kept++] = *v;
		}
		t->threads.nr = kept;
		if (!nr_running)
			return 0;
		if (now() - since > STOP_NS)
			return error_set(err, EBUSY, "threads of process %d do not stop", t->pid);
		pause_a_little(since);
	}
}

static bool is_restart(long r)
{
	return r == -RESTARTSYS || r == -RESTARTNOINTR || r == -RESTARTNOHAND ||
	       r == -RESTART_RESTARTBLOCK;
}

/* Calls that tell their caller of any interruption, although nothing has come of this one. */
static bool is_touchy(unsigned long long call)
{
	static const int calls[] = { SYS_read,
				     SYS_write,
				     SYS_recvfrom,
				     SYS_recvmsg,
				     SYS_accept,
				     SYS_accept4,
				     SYS_epoll_wait,
				     SYS_epoll_pwait,
				     SYS_semop,
				     SYS_semtimedop,
				     SYS_io_getevents,
				     SYS_rt_sigtimedwait,
				     441 /* epoll_pwait2 */,
				     426 /* io_uring_enter */ };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (call == (unsigned long long)calls[i])
			return true;
	return false;
}

static bool has_signals(int pid, int tid)
{
	char path[64], line[256];
	unsigned long long pending = 0, shared = 0, blocked = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "SigPnd: %llx", &pending);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
	}
	fclose(f);
	return (pending | shared) & ~blocked;
}

static void registers_read(struct tracee_thread *v)
{
	if (v->is_stopped && ptrace(PTRACE_GETREGS, v->tid, NULL, &v->regs) == 0)
		v->was_in_call = (long long)v->regs.orig_rax >= 0 && is_restart((long)v->regs.rax);
}

/* Threads of the process that we have not let go since the last time are held already. */
static void late_take(struct tracee *t, struct tracee_late *late)
{
	size_t kept = 0;

	for (size_t i = 0; i < late->tids.nr; i++)
		if (thread_state(t->pid, late->tids.v[i]))
			vec_push(&t->threads, (struct tracee_thread){ .tid = late->tids.v[i] });
		else
			late->tids.v[kept++] = late->tids.v[i];
	late->tids.nr = kept;
}

int tracee_stop(struct tracee *t, int pid, struct tracee_late *late, struct error *err)
{
	char path[32];
	int r;

	*t = (struct tracee){ .pid = pid, .mem = -1 };
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem < 0)
		return errno == ENOENT ? error_set(err, ESRCH, "process %d is gone", pid)
				       : error_set(err, errno,
						   "process %d may not be watched: %s (it must be "
						   "yours, or run as root)",
						   pid, strerror(errno));
	late_take(t, late);
	do {
		r = seize_all(t, err);
		if (r >= 0 && wait_all(t, err) < 0)
			r = -EBUSY;
	} while (r > 0);
	if (r == 0 && !t->threads.nr)
		r = error_set(err, ESRCH, "process %d is gone", pid);
	if (r < 0) {
		tracee_go(t, late);
		return r;
	}
	vec_each (&t->threads, v)
		registers_read(v);
	return 0;
}

/* A call that only our stop has interrupted is made again. */
static void call_again(const struct tracee *t, struct tracee_thread *v)
{
	struct user_regs_struct r = v->regs;

	if (v->is_borrowed || v->signal || (long long)r.orig_rax < 0 || (long)r.rax != -EINTR ||
	    !is_touchy(r.orig_rax) || has_signals(t->pid, v->tid))
		return;
	r.rax = r.orig_rax;
	r.rip -= 2;
	r.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, v->tid, NULL, &r);
}

bool tracee_is_in_call(const struct tracee_thread *v)
{
	return v->is_stopped && !v->is_borrowed && (long long)v->regs.orig_rax >= 0;
}

void tracee_move(struct tracee_thread *v, uint64_t address)
{
	struct user_regs_struct r = v->regs;

	r.rip = address;
	if (ptrace(PTRACE_SETREGS, v->tid, NULL, &r) == 0)
		v->regs.rip = address;
}

int64_t tracee_go(struct tracee *t, struct tracee_late *late)
{
	vec_each (&t->threads, v)
		if (v->is_stopped)
			call_again(t, v);
	vec_each (&t->threads, v)
		if (v->is_stopped)
			ptrace(PTRACE_DETACH, v->tid, NULL, (void *)(long)v->signal);
		else
			vec_push(&late->tids, v->tid);
	vec_done(&t->threads);
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	return t->since ? now() - t->since : 0;
}

void tracee_late(struct tracee_late *late)
{
	size_t kept = 0;

	for (size_t i = 0; i < late->tids.nr; i++) {
		struct tracee_thread v = { .tid = late->tids.v[i] };

		if (thread_wait(&v, WNOHANG))
			continue;
		if (v.is_stopped)
			ptrace(PTRACE_DETACH, v.tid, NULL, (void *)(long)v.signal);
		else
			late->tids.v[kept++] = v.tid;
	}
	late->tids.nr = kept;
}

int tracee_read(const struct tracee *t, uint64_t at, void *to, size_t n)
{
	return pread(t->mem, to, n, (off_t)at) == (ssize_t)n ? 0 : -EFAULT;
}

int tracee_write(const struct tracee *t, uint64_t at, const void *from, size_t n)
{
	return pwrite(t->mem, from, n, (off_t)at) == (ssize_t)n ? 0 : -EFAULT;
}

#define BORROWED_MAX 8 /* as borrow.S has it: those that are asked for, and one of ours */
_Static_assert(TRACEE_CALLS_MAX < BORROWED_MAX, "room for one of ours");

/* The list that borrow.S works through, with the registers in the order in which it takes them. */
struct borrowed {
	uint64_t nr;
	struct {
		uint64_t nr, args[6];
	} calls[BORROWED_MAX];
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, flags,
		rsp;
	char text[TRACEE_TEXT_MAX];
	uint64_t mask; /* of its signals */
};

/* Where the thread goes on: a call that was interrupted is made again. */
static void registers_again(struct user_regs_struct *r)
{
	if ((long long)r->orig_rax < 0)
		return;
	if ((long)r->rax == -EINTR && is_touchy(r->orig_rax)) {
		r->rax = r->orig_rax;
		r->rip -= 2;
		return;
	}
	if (!is_restart((long)r->rax))
		return;
	r->rax = (long)r->rax == -RESTART_RESTARTBLOCK ? NR_RESTART_SYSCALL : r->orig_rax;
	r->rip -= 2;
}

static void borrowed_fill(struct borrowed *b, const struct user_regs_struct *r,
			  const struct tracee_call *calls, size_t nr)
{
	*b = (struct borrowed){ .nr = nr,
				.r15 = r->r15,
				.r14 = r->r14,
				.r13 = r->r13,
				.r12 = r->r12,
				.rbp = r->rbp,
				.rbx = r->rbx,
				.r11 = r->r11,
				.r10 = r->r10,
				.r9 = r->r9,
				.r8 = r->r8,
				.rax = r->rax,
				.rcx = r->rcx,
				.rdx = r->rdx,
				.rsi = r->rsi,
				.rdi = r->rdi,
				.flags = r->eflags,
				.rsp = r->rsp - RED_ZONE - 8 };
	for (size_t i = 0; i < nr; i++) {
		b->calls[i].nr = (uint64_t)calls[i].nr;
		memcpy(b->calls[i].args, calls[i].args, sizeof(calls[i].args));
	}
}

/* Lets it run to where a system call begins or ends; signals wait until it is let go. */
static int thread_run(struct tracee_thread *v)
{
	for (;;) {
		int status, r;

		if (ptrace(PTRACE_SYSCALL, v->tid, NULL, NULL) < 0)
			return -ESRCH;
		do
			r = waitpid(v->tid, &status, __WALL);
		while (r < 0 && errno == EINTR);
		if (r < 0 || WIFEXITED(status) || WIFSIGNALED(status))
			return -ESRCH;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (!(status >> 16))
			v->signal = WSTOPSIG(status);
	}
}

static int call_run(struct tracee *t, struct tracee_thread *v, uint64_t list,
		    struct tracee_call *calls, size_t nr)
{
	struct user_regs_struct regs;

	for (size_t i = 0; i < nr; i++) {
		if (calls[i].takes && tracee_write(t,
						   list + offsetof(struct borrowed, calls[i].args) +
							   8 * (uint64_t)calls[i].takes_at,
						   &calls[calls[i].takes - 1].result, 8) < 0)
			return -EFAULT;
		/* stops where it begins, and where it ends */
		if (thread_run(v) < 0 || thread_run(v) < 0 ||
		    ptrace(PTRACE_GETREGS, v->tid, NULL, &regs) < 0)
			return -ESRCH;
		calls[i].result = (int64_t)regs.rax;
	}
	return 0;
}

/* Where our code can be: behind that of a module, in its last page. */
static uint64_t slack_find(const struct image *im, size_t nr)
{
	vec_each (&im->modules, m)
		if (m->is_64bit && m->nr_slack >= nr && image_map_at(im, m->slack) &&
		    image_map_at(im, m->slack)->is_code)
			return m->slack;
	return im->vdso;
}

/* One that waits in a system call, with stack to spare. */
static struct tracee_thread *lender_find(struct tracee *t, const struct image *im)
{
	struct tracee_thread *best = NULL;

	vec_each (&t->threads, v) {
		const struct image_map *m = image_map_at(im, v->regs.rsp);

		if (!v->is_stopped || v->signal || !m || !m->is_writable ||
		    v->regs.rsp - m->start < 2 * sizeof(struct borrowed) + RED_ZONE ||
		    v->regs.cs != 0x33)
			continue;
		if (!best || (v->was_in_call && !best->was_in_call))
			best = v;
	}
	return best;
}

bool tracee_can_be_asked(struct tracee *t, const struct image *im)
{
	return lender_find(t, im) != NULL;
}

/* The list and the code, in its memory. While it works for us no signal disturbs it: the last call
 * of the list allows them again. */
static int borrowed_write(const struct tracee *t, const struct tracee_thread *v,
			  const struct user_regs_struct *home, const struct tracee_call *calls,
			  size_t nr, uint64_t code, uint64_t *list)
{
	struct borrowed b;

	borrowed_fill(&b, home, calls, nr);
	if (ptrace(PTRACE_GETSIGMASK, v->tid, (void *)sizeof(b.mask), &b.mask) < 0)
		return -ESRCH;
	*list = (b.rsp - sizeof(b)) & ~(uint64_t)15;
	for (size_t i = 0; i < nr; i++)
		if (calls[i].text) {
			snprintf(b.text, sizeof(b.text), "%s", calls[i].text);
			b.calls[i].args[0] = *list + offsetof(struct borrowed, text);
		}
	b.calls[nr].nr = SYS_rt_sigprocmask;
	b.calls[nr].args[0] = SIG_SETMASK;
	b.calls[nr].args[1] = *list + offsetof(struct borrowed, mask);
	b.calls[nr].args[3] = sizeof(b.mask);
	b.nr = nr + 1;
	if (tracee_write(t, *list, &b, sizeof(b)) < 0 ||
	    tracee_write(t, b.rsp, &home->rip, 8) < 0 ||
	    tracee_write(t, code, probe_borrow, (size_t)(probe_borrow_end - probe_borrow)) < 0)
		return -EFAULT;
	return 0;
}

/* Past the last call of the list, which allows signals again, to where it was. By itself it would
 * get there later: what is patched meanwhile would not be known to be under its feet. */
static int come_home(struct tracee_thread *v, const struct user_regs_struct *home)
{
	if (thread_run(v) < 0 || thread_run(v) < 0)
		return -ESRCH;
	v->regs = *home;
	v->regs.orig_rax = (unsigned long long)-1;
	if (ptrace(PTRACE_SETREGS, v->tid, NULL, &v->regs) < 0)
		return -ESRCH;
	v->is_borrowed = false;
	return 0;
}

/* The code stays where it is, behind all code of its module: the thread may be on its way home when
 * we are gone. */
int tracee_calls(struct tracee *t, const struct image *im, struct tracee_call *calls, size_t nr,
		 struct error *err)
{
	uint64_t code = slack_find(im, (size_t)(probe_borrow_end - probe_borrow));
	struct tracee_thread *v = lender_find(t, im);
	struct user_regs_struct home, there;
	uint64_t list, all = ~(uint64_t)0;
	int r;

	if (!v)
		return error_set(err, EBUSY, "process %d has no thread that could be asked",
				 t->pid);
	if (!code || nr > TRACEE_CALLS_MAX)
		return error_set(err, ENOSPC, "process %d has no room for code of ours", t->pid);
	/* it may be on its way home already */
	if (ptrace(PTRACE_GETREGS, v->tid, NULL, &home) < 0)
		return error_set(err, ESRCH, "process %d is gone", t->pid);
	registers_again(&home);
	if (borrowed_write(t, v, &home, calls, nr, code, &list) < 0)
		return error_set(err, EFAULT, "the memory of process %d cannot be written", t->pid);
	there = home;
	there.rip = code;
	there.rsp = list;
	there.orig_rax = (unsigned long long)-1;
	if (ptrace(PTRACE_SETREGS, v->tid, NULL, &there) < 0)
		return error_set(err, ESRCH, "process %d is gone", t->pid);
	v->was_in_call = false;
	v->is_borrowed = true;
	ptrace(PTRACE_SETSIGMASK, v->tid, (void *)sizeof(all), &all);
	r = call_run(t, v, list, calls, nr);
	if (r == 0)
		r = come_home(v, &home);
	if (r < 0)
		return error_set(err, -r, "process %d did not do what it was asked", t->pid);
	return 0;
}
