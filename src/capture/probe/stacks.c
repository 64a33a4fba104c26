#include "capture/probe/stacks.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"

enum { STACK_BYTES = 64 << 10, NR_REGS = 17, WAIT_TRIES = 2000, RSP = 7, RIP = 16 };

struct stacks {
	int pid;
	Dwfl *dwfl;
	int tid; /* whose copy this is */
	struct user_regs_struct regs;
	uint64_t base; /* of the copy */
	size_t nr_bytes;
	bool has_all; /* registers; else those that a thread tells that waits */
	int64_t held_ns;
	unsigned char copy[STACK_BYTES];
};

struct sampling {
	struct stacks *s;
	struct stack_place *out;
	size_t nr, max;
};

/* Seizing sends no signal: should we be gone the next moment, the thread runs on. since: when it
 * ran or could have, for the last time. */
static bool stop_thread(int tid, int64_t *since)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return false;
	}
	for (int i = 0; i < WAIT_TRIES; i++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(status);
		if (got < 0 && errno != EINTR)
			return false;
		*since = time_tick();
		usleep(50);
	}
	/* it sleeps where nothing reaches it: it is let go, and stops nowhere later */
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return false;
}

/* A stop by a signal that came meanwhile is passed on. */
static void let_go(int tid)
{
	siginfo_t info;
	long signal = 0;

	if (!ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) && info.si_signo != SIGTRAP &&
	    (info.si_code & 0xff00) == 0)
		signal = info.si_signo;
	ptrace(PTRACE_DETACH, tid, NULL, (void *)signal);
}

static bool copy_memory(struct stacks *s, int tid)
{
	struct iovec to = { s->copy, sizeof(s->copy) }, from;
	ssize_t got;

	s->tid = tid;
	s->base = s->regs.rsp;
	from = (struct iovec){ (void *)(uintptr_t)s->base, sizeof(s->copy) };
	got = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
	/* the stack may end sooner than the copy would */
	for (size_t n = sizeof(s->copy) / 2; got < 0 && n >= 1024; n /= 2) {
		to.iov_len = from.iov_len = n;
		got = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
	}
	s->nr_bytes = got > 0 ? (size_t)got : 0;
	return got > 0;
}

static bool copy_stopped(struct stacks *s, int tid)
{
	int64_t since = time_tick();
	bool is_copied = false;

	if (stop_thread(tid, &since)) {
		s->has_all = true;
		is_copied = !ptrace(PTRACE_GETREGS, tid, NULL, &s->regs) && copy_memory(s, tid);
		let_go(tid);
	}
	s->held_ns += time_tick() - since;
	return is_copied;
}

/* Where a thread waits: the kernel tells that without stopping it. */
static bool read_waiting(const struct stacks *s, int tid, struct user_regs_struct *r)
{
	char path[64], line[256], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", s->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || line[0] < '0' || line[0] > '9')
		return false;
	line[n] = 0;
	*r = (struct user_regs_struct){ 0 };
	at = strrchr(line, ' ');
	if (!at)
		return false;
	r->rip = strtoull(at, NULL, 16);
	*at = 0;
	at = strrchr(line, ' ');
	r->rsp = at ? strtoull(at, NULL, 16) : 0;
	return r->rsp && r->rip;
}

/* The stack of one that goes on meanwhile is a mixture, which nobody looks at. */
static bool copy_waiting(struct stacks *s, int tid)
{
	struct user_regs_struct after;

	s->has_all = false;
	return read_waiting(s, tid, &s->regs) && copy_memory(s, tid) &&
	       read_waiting(s, tid, &after) && after.rip == s->regs.rip && after.rsp == s->regs.rsp;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct stacks *s = arg;

	if (*thread)
		return 0;
	*thread = s;
	return s->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
	struct stacks *s = arg;
	struct iovec to = { word, sizeof(*word) }, from = { (void *)(uintptr_t)at, sizeof(*word) };

	if (at >= s->base && at - s->base + sizeof(*word) <= s->nr_bytes) {
		memcpy(word, s->copy + (at - s->base), sizeof(*word));
		return true;
	}
	/* below the stack pointer or elsewhere: as it is by now */
	return process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(*word);
}

/* In the order in which DWARF numbers them. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *r = &((struct stacks *)arg)->regs;
	const Dwarf_Word words[NR_REGS] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
					    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
					    r->r12, r->r13, r->r14, r->r15, r->rip };

	if (((struct stacks *)arg)->has_all)
		return dwfl_thread_state_registers(thread, 0, NR_REGS, words);
	return dwfl_thread_state_registers(thread, RSP, 1, &words[RSP]) &&
	       dwfl_thread_state_registers(thread, RIP, 1, &words[RIP]);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct sampling *g = arg;
	Dwarf_Addr pc, bias = 0;
	bool is_activation;
	const char *name = NULL;
	Dwfl_Module *module;

	if (g->nr >= g->max || !dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	pc -= !is_activation;
	module = dwfl_addrmodule(g->s->dwfl, pc);
	if (!module)
		return DWARF_CB_ABORT;
	dwfl_module_getelf(module, &bias);
	name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	g->out[g->nr++] = (struct stack_place){ name, pc - bias };
	return DWARF_CB_OK;
}

int stacks_open(struct stacks **out, int pid, struct error *err)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct stacks *s = mem_zalloc(sizeof(*s));

	s->pid = s->tid = pid;
	s->dwfl = dwfl_begin(&callbacks);
	if (!s->dwfl || dwfl_linux_proc_report(s->dwfl, pid) ||
	    dwfl_report_end(s->dwfl, NULL, NULL) ||
	    !dwfl_attach_state(s->dwfl, NULL, pid, &thread_callbacks, s)) {
		stacks_close(s);
		return error_set(err, ESRCH, "the stacks of process %d cannot be read: %s", pid,
				 dwfl_errmsg(-1));
	}
	*out = s;
	return 0;
}

void stacks_close(struct stacks *s)
{
	if (s && s->dwfl)
		dwfl_end(s->dwfl);
	free(s);
}

size_t stacks_sample(struct stacks *s, int tid, struct stack_place *out, size_t max)
{
	struct sampling g = { s, out, 0, max };

	/* some need registers that nobody tells of one that waits */
	if (copy_waiting(s, tid) && dwfl_getthread_frames(s->dwfl, tid, take_frame, &g) >= 0)
		return g.nr;
	g.nr = 0;
	if (copy_stopped(s, tid))
		dwfl_getthread_frames(s->dwfl, tid, take_frame, &g);
	return g.nr;
}

uint64_t stacks_waits_at(const struct stacks *s, int tid)
{
	struct user_regs_struct r;

	return read_waiting(s, tid, &r) ? r.rip * 0x9e3779b97f4a7c15u ^ r.rsp : 0;
}

int64_t stacks_held_ns(const struct stacks *s)
{
	return s->held_ns;
}
