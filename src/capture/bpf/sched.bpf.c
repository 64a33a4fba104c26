/*
 * Watches how threads of chosen processes run, wait and wake each other: where the kernel switches
 * from one thread to another, and where a thread is woken. Only reads, and writes one small record
 * for each; drops, counted, what the tool does not fetch in time.
 *
 * The system call that a thread waits in is read from its saved registers when it stops running:
 * system calls themselves cost nothing.
 */
#include "capture/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "wire/sched_record.h"

#define STATE_UNINTERRUPTIBLE 2
#define FLAG_KERNEL 0x00200000

const volatile uint8_t form_of_call[SCHED_CALLS_MAX];
const volatile uint64_t wake_bytes;
const volatile bool is_following;

uint64_t nr_dropped;
uint32_t is_paused;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SCHED_RING_BYTES);
} records SEC(".maps");

/* Processes that are watched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCHED_PROCESSES_MAX);
	__type(key, uint32_t);
	__type(value, uint8_t);
} watched SEC(".maps");

static __always_inline bool is_watched(uint32_t tgid)
{
	return bpf_map_lookup_elem(&watched, &tgid) != NULL;
}

static __always_inline struct sched_record *begin(struct task_struct *task, uint8_t act)
{
	struct sched_record *r;

	if (is_paused)
		return NULL;
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&nr_dropped, 1);
		return NULL;
	}
	r->ns = bpf_ktime_get_ns();
	r->tgid = task->tgid;
	r->tid = task->pid;
	r->other_tgid = r->other_tid = 0;
	r->call = -1;
	r->act = act;
	r->flags = 0;
	r->detail = r->more = r->reserved = 0;
	return r;
}

static __always_inline void submit(struct sched_record *r)
{
	uint64_t waiting = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);

	/* the tool comes by itself; it is called only when much is waiting */
	bpf_ringbuf_submit(r, waiting > wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* What kind of file the descriptor is; of a socket, which family. */
static __always_inline void tell_file(struct sched_record *r, struct task_struct *task, uint64_t fd)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;
	struct socket *socket;

	if (fd >= table->max_fds)
		return;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	if (!file)
		return;
	r->detail = BPF_CORE_READ(file, f_inode, i_mode) & MODE_KIND;
	if (r->detail != MODE_SOCKET)
		return;
	socket = BPF_CORE_READ(file, private_data);
	r->more = BPF_CORE_READ(socket, sk, __sk_common.skc_family);
}

/* The system call that the thread is in, -1 for none. */
static __always_inline int16_t number_of_call(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	long number = CALL_NUMBER(regs);

	return number < 0 || number >= SCHED_CALLS_MAX ? -1 : (int16_t)number;
}

static __always_inline void tell_call(struct sched_record *r, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	r->call = number_of_call(task);
	if (r->call < 0)
		return;
	switch (form_of_call[r->call & (SCHED_CALLS_MAX - 1)]) {
	case SCHED_FUTEX:
		r->detail = (uint32_t)PT_REGS_PARM2_CORE_SYSCALL(regs);
		r->more = (uint32_t)PT_REGS_PARM3_CORE_SYSCALL(regs);
		break;
	case SCHED_FILE:
		tell_file(r, task, PT_REGS_PARM1_CORE_SYSCALL(regs));
		break;
	case SCHED_NUMBER:
		r->more = (uint32_t)PT_REGS_PARM2_CORE_SYSCALL(regs);
		break;
	case SCHED_FIRST:
		r->more = (uint32_t)PT_REGS_PARM1_CORE_SYSCALL(regs);
		break;
	}
}

static __always_inline void stops(struct task_struct *task, bool is_blocked, uint32_t state)
{
	struct sched_record *r = begin(task, SCHED_OFF);

	if (!r)
		return;
	if (is_blocked) {
		r->flags = SCHED_BLOCKED;
		if (state & STATE_UNINTERRUPTIBLE)
			r->flags |= SCHED_BOUND;
		if (BPF_CORE_READ_BITFIELD(task, in_iowait))
			r->flags |= SCHED_DISK;
		tell_call(r, task);
	}
	submit(r);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_threads, bool is_preempted, struct task_struct *before,
	     struct task_struct *after, uint32_t state)
{
	struct sched_record *r;

	if (is_paused)
		return 0;
	if (before->pid && is_watched(before->tgid))
		stops(before, !is_preempted && state, state);
	if (after->pid && is_watched(after->tgid)) {
		r = begin(after, SCHED_ON);
		if (r)
			submit(r);
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(wake_thread, struct task_struct *task)
{
	struct sched_record *r;
	struct task_struct *by;

	if (is_paused || !is_watched(task->tgid))
		return 0;
	r = begin(task, SCHED_WOKEN);
	if (!r)
		return 0;
	by = bpf_get_current_task_btf();
	if (by->pid && !(by->flags & FLAG_KERNEL)) {
		r->other_tgid = by->tgid;
		r->other_tid = by->pid;
		r->call = number_of_call(by);
		if (is_watched(by->tgid))
			r->flags = SCHED_KNOWN;
	}
	submit(r);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(make_thread, struct task_struct *parent, struct task_struct *child)
{
	uint32_t tgid = child->tgid;
	uint8_t one = 1;
	struct sched_record *r;

	if (!is_watched(parent->tgid))
		return 0;
	if (parent->tgid != child->tgid) {
		if (!is_following)
			return 0;
		if (bpf_map_update_elem(&watched, &tgid, &one, 0))
			__sync_fetch_and_add(&nr_dropped, 1);
	}
	r = begin(child, SCHED_BORN);
	if (!r)
		return 0;
	r->other_tgid = parent->tgid;
	r->other_tid = parent->pid;
	submit(r);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(end_thread, struct task_struct *task)
{
	struct sched_record *r;

	if (!is_watched(task->tgid))
		return 0;
	r = begin(task, SCHED_GONE);
	if (r)
		submit(r);
	return 0;
}

/* The last thread of a process is gone when its leader is freed: its number may be used again. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(free_thread, struct task_struct *task)
{
	uint32_t tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&watched, &tgid);
	return 0;
}

char sched_license[] SEC("license") = "Dual BSD/GPL";
