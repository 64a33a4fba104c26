#include "capture/probe/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/probe/tracee.h"

#define FILTERS_MAX 64

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *data;
};

static uint32_t word_at(const struct seccomp_data *d, uint32_t at)
{
	uint32_t v = 0;

	if (at <= sizeof(*d) - sizeof(v))
		memcpy(&v, (const char *)d + at, sizeof(v));
	return v;
}

static void compute(struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		m->a += v;
		break;
	case BPF_SUB:
		m->a -= v;
		break;
	case BPF_MUL:
		m->a *= v;
		break;
	case BPF_DIV:
		m->a = v ? m->a / v : 0;
		break;
	case BPF_AND:
		m->a &= v;
		break;
	case BPF_OR:
		m->a |= v;
		break;
	case BPF_XOR:
		m->a ^= v;
		break;
	case BPF_LSH:
		m->a = v < 32 ? m->a << v : 0;
		break;
	case BPF_RSH:
		m->a = v < 32 ? m->a >> v : 0;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
}

static uint32_t loaded(const struct machine *m, const struct sock_filter *f)
{
	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		return word_at(m->data, f->k);
	case BPF_MEM:
		return m->memory[f->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(*m->data);
	default:
		return f->k;
	}
}

static uint32_t jump(const struct machine *m, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		return f->k;
	case BPF_JEQ:
		return m->a == v ? f->jt : f->jf;
	case BPF_JGT:
		return m->a > v ? f->jt : f->jf;
	case BPF_JGE:
		return m->a >= v ? f->jt : f->jf;
	default:
		return m->a & v ? f->jt : f->jf;
	}
}

/* What the filter says; it ends, as jumps only go forwards. */
static uint32_t filter_run(const struct sock_filter *f, size_t nr, const struct seccomp_data *d)
{
	struct machine m = { .data = d };

	for (size_t i = 0; i < nr; i++) {
		switch (BPF_CLASS(f[i].code)) {
		case BPF_RET:
			return BPF_RVAL(f[i].code) == BPF_A ? m.a : f[i].k;
		case BPF_LD:
			m.a = loaded(&m, &f[i]);
			break;
		case BPF_LDX:
			m.x = loaded(&m, &f[i]);
			break;
		case BPF_ST:
			m.memory[f[i].k % BPF_MEMWORDS] = m.a;
			break;
		case BPF_STX:
			m.memory[f[i].k % BPF_MEMWORDS] = m.x;
			break;
		case BPF_JMP:
			i += jump(&m, &f[i]);
			break;
		case BPF_ALU:
			compute(&m, &f[i]);
			break;
		default:
			*(BPF_OP(f[i].code) == BPF_TXA ? &m.a : &m.x) =
				BPF_OP(f[i].code) == BPF_TXA ? m.x : m.a;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

struct asked {
	int nr;
	bool may_fail;
	uint64_t args[6];
};

/* What we ask for, and what our code asks for in the process. An error does no harm there. */
static const struct asked ours[] = {
	{ SYS_memfd_create, false, { 0x10000, MFD_CLOEXEC } },
	{ SYS_ftruncate, false, { 100, 4096 } },
	{ SYS_mmap, false, { 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, 100 } },
	{ SYS_mmap,
	  false,
	  { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1 } },
	{ SYS_close, false, { 100 } },
	{ SYS_rt_sigprocmask, false, { 2, 0x10000, 0, 8 } },
	{ SYS_getpid, false, { 0 } },
	{ SYS_tgkill, true, { 1, 1, 0 } },
	{ SYS_mincore, true, { 0x10000, 4096, 0x20000 } },
	{ SYS_process_vm_readv, true, { 1, 0x10000, 1, 0x20000, 1 } },
};

/* What it takes to know the connections of the process, and to give it a file. */
static const struct asked of_carry[] = {
	{ SYS_socketpair, false, { 1, 2 | 02000000, 0, 0x10000 } },
	{ SYS_recvmsg, false, { 100, 0x10000, 0x40000040 } },
	{ SYS_getsockopt, true, { 100, 1, 39, 0x10000, 0x20000 } },
	{ SYS_getsockopt, true, { 100, 6, 11, 0x10000, 0x20000 } },
	{ SYS_getsockname, true, { 100, 0x10000, 0x20000 } },
	{ SYS_getpeername, true, { 100, 0x10000, 0x20000 } },
	{ SYS_fstat, true, { 100, 0x10000 } },
	{ SYS_ioctl, true, { 100, 0x541b, 0x10000 } },
	{ SYS_ioctl, true, { 100, 0x5411, 0x10000 } },
	{ SYS_socket, true, { 16, 3 | 02000000, 4 } },
	{ SYS_sendto, true, { 100, 0x10000, 40 } },
	{ SYS_recvfrom, true, { 100, 0x10000, 512, 0x40 } },
};

static bool is_allowed(const struct sock_filter *f, size_t nr, const struct asked *v,
		       size_t nr_asked)
{
	for (size_t i = 0; i < nr_asked; i++) {
		struct seccomp_data d = { .nr = v[i].nr, .arch = AUDIT_ARCH_X86_64 };
		uint32_t says;

		memcpy(d.args, v[i].args, sizeof(v[i].args));
		says = filter_run(f, nr, &d) & SECCOMP_RET_ACTION_FULL;
		if (says != SECCOMP_RET_ALLOW && says != SECCOMP_RET_LOG &&
		    !(says == SECCOMP_RET_ERRNO && v[i].may_fail))
			return false;
	}
	return true;
}

static int filters_check(int pid, int tid, struct error *err)
{
	cleanup(free) struct sock_filter *f = mem_alloc(mem_bytes(BPF_MAXINSNS, sizeof(*f)));

	for (long i = 0; i < FILTERS_MAX; i++) {
		long nr = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, f);

		if (nr < 0 && (errno == ENOENT || (errno == EINVAL && !i)))
			return 0;
		if (nr < 0)
			return error_set(err, ENOTSUP,
					 "the system calls of process %d are filtered (seccomp), "
					 "and only root may see how: ours might be its end",
					 pid);
		if (!is_allowed(f, (size_t)nr, ours, sizeof(ours) / sizeof(*ours)))
			return error_set(err, ENOTSUP,
					 "process %d may not make the system calls that we need "
					 "(its seccomp filter forbids them)",
					 pid);
	}
	return 0;
}

/* SECCOMP_MODE_… of a thread; 0 also when it is gone. */
static int mode_of(int pid, int tid)
{
	cleanup(fclose) FILE *f = NULL;
	char path[64], line[256];
	int mode = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	return mode;
}

int filter_check(const struct tracee *t, struct error *err)
{
	int r = 0;

	vec_each (&t->threads, v) {
		int mode = mode_of(t->pid, v->tid);

		if (mode == SECCOMP_MODE_STRICT)
			return error_set(err, ENOTSUP,
					 "thread %d of process %d may make hardly any system call "
					 "(strict seccomp)",
					 v->tid, t->pid);
		if (mode && !v->is_stopped)
			return error_set(err, EBUSY,
					 "thread %d of process %d does not stop, and its system "
					 "calls are filtered (seccomp): try again",
					 v->tid, t->pid);
		if (mode)
			r = filters_check(t->pid, v->tid, err);
		if (r < 0)
			break;
	}
	return r;
}

static bool carry_is_let(int tid)
{
	cleanup(free) struct sock_filter *f = mem_alloc(mem_bytes(BPF_MAXINSNS, sizeof(*f)));

	for (long i = 0; i < FILTERS_MAX; i++) {
		long nr = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, f);

		if (nr < 0)
			return errno == ENOENT || (errno == EINVAL && !i);
		if (!is_allowed(f, (size_t)nr, of_carry, sizeof(of_carry) / sizeof(*of_carry)))
			return false;
	}
	return true;
}

bool filter_lets_carry(const struct tracee *t)
{
	vec_each (&t->threads, v)
		if (mode_of(t->pid, v->tid) && !carry_is_let(v->tid))
			return false;
	return true;
}
