/*
 * Tells when a thread passes a place that is watched from outside: a system call, a function, a
 * static probe. With what a tracepoint exports goes a copy of what the thread carries, which lies
 * in the process's own memory and cannot change while the thread is here. Only reads; drops,
 * counted for each place, what the tool does not fetch in time.
 */
#include "capture/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "wire/outside_record.h"
#include "wire/probe_region.h"

#define LEVELS 32             /* namespaces of numbers */
#define NOBODY OUTSIDE_PLACES /* whose a frame is that has ended */

uint64_t dropped[OUTSIDE_PLACES];
uint64_t passed[OUTSIDE_PLACES]; /* breakpoints */
uint64_t nr_unfollowed;          /* processes for which there was no room */
/* 1 + the first place at a system call, by its number: where it begins, where it ends; and the
 * place behind a place. */
uint32_t first_enter[OUTSIDE_CALLS], first_exit[OUTSIDE_CALLS], next[OUTSIDE_PLACES];
uint8_t is_timed[OUTSIDE_CALLS];
uint32_t nr_anyone; /* places that are for processes which nobody has named */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OUTSIDE_RING_BYTES);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OUTSIDE_PLACES);
	__type(key, uint32_t);
	__type(value, struct outside_place);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OUTSIDE_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, uint32_t);
	__type(value, struct outside_process);
} processes SEC(".maps");

/* A call of a function that has not ended. */
struct frame {
	uint64_t sp, start;
	uint64_t args[6];
	uint64_t place;
};

struct thread {
	uint64_t call_start; /* of the system call under way; 0: nobody saw it begin */
	uint32_t call, depth;
	struct frame frames[OUTSIDE_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* What is known where a place is passed: six arguments, or the registers by DWARF's numbers. */
struct moment {
	uint64_t v[16];
	uint64_t result, ns, start;
	uint32_t place;
	uint8_t has_result, is_site;
	uint8_t reserved[2];
};

/* Of a thread or process, as those in its namespace have it. */
static __always_inline uint32_t number_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	uint32_t level = BPF_CORE_READ(pid, level);
	const char *at = (const char *)__builtin_preserve_access_index(&pid->numbers[0].nr);
	int nr = 0;

	if (level >= LEVELS)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr), at + level * bpf_core_type_size(struct upid));
	return (uint32_t)nr;
}

/* Loops are the kernel's (bpf_loop), so that its verifier looks at what is in them once. */
struct search {
	uint64_t own, key, at;
	uint32_t i, is_found;
};

static int search_step(uint32_t n, struct search *s)
{
	uint64_t was = 0;

	s->at = s->own + (uint64_t)s->i * sizeof(struct probe_thread);
	/* a page that was never touched is not there: nobody is in it */
	if (bpf_probe_read_user(&was, sizeof(was), (const void *)s->at) || !was)
		return 1;
	s->is_found = was == s->key;
	if (!s->is_found)
		s->i = (s->i + 1) & (PROBE_THREADS - 1);
	return s->is_found;
}

/* Where the thread's bag is in the process, as capture/probe/guest finds it; 0: it has none. */
static __always_inline uint64_t bag_find(const struct outside_process *p, struct task_struct *task)
{
	struct search s = { .own = p->own, .key = THREAD_POINTER(task) };
	uint32_t tid = 0, who[2] = { 0 };

	s.i = ((uint32_t)s.key * 0x9e3779b1u) >> 21;
	bpf_loop(PROBE_THREADS, search_step, &s, 0);
	if (!s.is_found)
		return 0;
	bpf_probe_read_user(&tid, sizeof(tid), (const void *)(s.key + p->tid_offset));
	bpf_probe_read_user(who, sizeof(who), (const void *)(s.at + 8));
	/* another thread was there before; but who has just forked goes on with what it carried */
	if (who[0] != tid && !(task->pid == task->tgid && who[1] && who[1] != tid))
		return 0;
	return p->own + __builtin_offsetof(struct probe_own, bags) +
	       (uint64_t)s.i * sizeof(struct probe_bag);
}

struct bag_seen {
	uint64_t at; /* the bag itself */
	uint32_t bytes;
	uint8_t is;
};

static __always_inline void bag_look(const struct outside_process *p, struct task_struct *task,
				     struct bag_seen *b)
{
	uint64_t at = p->own ? bag_find(p, task) : 0, session = 0, nr_lapses = 0;
	uint16_t head[4] = { 0 }; /* magic, flags, words, lost: see lib/advice/bag.h */
	uint8_t is_due = 0;

	b->is = OUTSIDE_BAG_EMPTY;
	b->bytes = 0;
	if (!at)
		return;
	b->at = at + __builtin_offsetof(struct probe_bag, bag);
	if (bpf_probe_read_user(&session, sizeof(session), (const void *)at) ||
	    bpf_probe_read_user(
		    &nr_lapses, sizeof(nr_lapses),
		    (const void *)(p->own + __builtin_offsetof(struct probe_own, nr_lapses))) ||
	    bpf_probe_read_user(&is_due, 1,
				(const void *)(at + __builtin_offsetof(struct probe_bag, carried) +
					       PROBE_CARRIED_DUE)) ||
	    bpf_probe_read_user(head, sizeof(head), (const void *)b->at)) {
		b->is = OUTSIDE_BAG_UNREAD;
		return;
	}
	/* see weave_session of guest/weave.h */
	if (session != p->session + nr_lapses)
		return;
	if (is_due) {
		b->is = OUTSIDE_BAG_DUE;
		return;
	}
	if (!head[1] && !head[2] && !head[3])
		return;
	b->is = OUTSIDE_BAG_COPIED;
	b->bytes = OUTSIDE_BAG_HEAD + 8u * head[2];
}

static __always_inline bool text_take(struct outside_record *r, uint64_t *nr_texts, uint64_t at,
				      uint64_t *value)
{
	uint64_t nr = *nr_texts;
	long n;

	if (nr >= OUTSIDE_TEXTS)
		return false;
	n = bpf_probe_read_user_str(r->texts[nr & (OUTSIDE_TEXTS - 1)], ADVICE_TEXT + 2,
				    (const void *)at);
	if (n <= 0)
		return false;
	*value = nr | (uint64_t)(n - 1) << 8;
	*nr_texts = nr + 1;
	return true;
}

static __always_inline uint32_t width_of(uint8_t memory)
{
	switch (memory) {
	case ADVICE_U8:
	case ADVICE_I8:
	case ADVICE_BOOLEAN:
		return 1;
	case ADVICE_U16:
	case ADVICE_I16:
		return 2;
	case ADVICE_U32:
	case ADVICE_I32:
	case ADVICE_F32:
		return 4;
	}
	return 8;
}

static __always_inline bool root_take(const struct moment *m, const struct advice_taking *k,
				      uint64_t *value)
{
	switch (k->from) {
	case ADVICE_FROM_ARGUMENT:
	case PROBE_FROM_REGISTER:
		*value = m->v[k->number & 15];
		return m->is_site == (k->from == PROBE_FROM_REGISTER);
	case ADVICE_FROM_RETURN:
		*value = m->result;
		return m->has_result;
	case ADVICE_FROM_DURATION:
		*value = m->ns - m->start;
		return m->start != 0;
	case ADVICE_FROM_CONSTANT:
		*value = (uint64_t)k->constant;
		return true;
	}
	return false;
}

static __always_inline bool value_take(struct outside_record *r, uint64_t *nr_texts,
				       const struct moment *m, const struct advice_taking *k,
				       uint64_t *value)
{
	uint64_t last;

	if (!root_take(m, k, value))
		return false;
	for (int i = 0; i < ADVICE_LOADS; i++) {
		uint64_t at = *value + (int64_t)k->offsets[i];
		uint64_t n = 8;

		if (i >= k->nr_loads)
			break;
		if (k->memory != ADVICE_CHARS && i + 1 == k->nr_loads)
			n = width_of(k->memory);
		*value = 0;
		barrier_var(n);
		if (n > 8 || bpf_probe_read_user(value, n, (const void *)at))
			return false;
	}
	last = k->nr_loads;
	barrier_var(last);
	if (k->memory == ADVICE_CHARS)
		return last <= ADVICE_LOADS &&
		       text_take(r, nr_texts, *value + (int64_t)k->offsets[last], value);
	return true;
}

struct filling {
	struct outside_record *r;
	const struct moment *m;
	const struct outside_place *place;
	uint64_t nr_texts;
	uint32_t was_read, reserved;
};

static int fill_step(uint64_t i, struct filling *f)
{
	uint64_t value = 0;

	if (i >= OUTSIDE_TAKINGS || i >= f->place->nr_takings)
		return 1;
	if (value_take(f->r, &f->nr_texts, f->m, &f->place->takings[i], &value))
		f->was_read |= 1u << (i & 31);
	f->r->values[i] = value;
	return 0;
}

static __always_inline void fill(struct outside_record *r, const struct moment *m,
				 const struct outside_place *place, const struct outside_process *p,
				 struct task_struct *task)
{
	struct filling f = { r, m, place, 0, 0, 0 };

	r->ns = m->ns;
	r->id = place->id;
	r->place = m->place;
	r->group = p ? p->group : 0;
	r->tid = number_of(task);
	r->pid = number_of(task->group_leader);
	r->reserved = 0;
	if (!r->group)
		bpf_probe_read_kernel(r->name, sizeof(r->name), task->group_leader->comm);
	bpf_loop(OUTSIDE_TAKINGS, fill_step, &f, 0);
	r->was_read = f.was_read;
}

/* The room is the record's, behind its fields: a number that the verifier knows. */
#define TELL(room) \
	do { \
		r = bpf_ringbuf_reserve(&records, sizeof(*r) + (room), 0); \
		if (!r) \
			break; \
		r->bag_is = bag.is; \
		r->bag_bytes = (uint16_t)bytes; \
		if ((room) > 0 && bpf_probe_read_user(r->bag, bytes, (const void *)bag.at)) { \
			r->bag_is = OUTSIDE_BAG_UNREAD; \
			r->bag_bytes = 0; \
		} \
		fill(r, m, place, p, task); \
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP); \
		is_told = true; \
	} while (0)

/* A function of its own, so that the verifier looks at it once. */
__noinline int tell(const struct moment *m)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct outside_process *p;
	const struct outside_place *place;
	struct bag_seen bag = { 0 };
	struct outside_record *r;
	bool is_told = false;
	uint32_t tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32), number;
	uint64_t bytes;

	if (!m)
		return 0;
	number = m->place;
	place = bpf_map_lookup_elem(&places, &number);
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!place || (p ? p->is_silent : !(place->flags & OUTSIDE_ANYONE)))
		return 0;
	if (p && place->flags & OUTSIDE_BAGGED)
		bag_look(p, task, &bag);
	bytes = bag.bytes;
	barrier_var(bytes); /* it is this one that is compared */
	if (!bytes)
		TELL(0);
	else if (bytes <= 512)
		TELL(512);
	else if (bytes <= 2048)
		TELL(2048);
	else if (bytes <= OUTSIDE_BAG_BYTES)
		TELL(OUTSIDE_BAG_BYTES);
	if (!is_told)
		__sync_fetch_and_add(&dropped[number & (OUTSIDE_PLACES - 1)], 1);
	return 0;
}

/* --- system calls ----------------------------------------------------------------------------- */

static __always_inline void call_fill(struct moment *m, struct pt_regs *regs)
{
	m->v[0] = PT_REGS_PARM1_CORE_SYSCALL(regs);
	m->v[1] = PT_REGS_PARM2_CORE_SYSCALL(regs);
	m->v[2] = PT_REGS_PARM3_CORE_SYSCALL(regs);
	m->v[3] = PT_REGS_PARM4_CORE_SYSCALL(regs);
	m->v[4] = PT_REGS_PARM5_CORE_SYSCALL(regs);
	m->v[5] = SIXTH_ARGUMENT(regs);
}

static __always_inline void call_tell(struct moment *m, uint32_t first)
{
	for (int i = 0; i < OUTSIDE_AT_ONE; i++) {
		if (!first || first > OUTSIDE_PLACES)
			return;
		m->place = first - 1;
		tell(m);
		first = next[m->place & (OUTSIDE_PLACES - 1)];
	}
}

/* Whether a call of the thread that runs may be told. Our code in the process calls, too. */
static __always_inline bool is_asked(struct task_struct *task, struct pt_regs *regs)
{
	uint32_t tgid = task->tgid;
	const struct outside_process *p = bpf_map_lookup_elem(&processes, &tgid);

	if (IS_32_BIT(task))
		return false;
	if (!p)
		return nr_anyone != 0;
	return !p->is_silent && PT_REGS_IP_CORE(regs) - p->code >= p->code_bytes;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begin, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct moment m = { 0 };
	struct thread *t;
	uint32_t first;

	if (number < 0 || number >= OUTSIDE_CALLS)
		return 0;
	number &= OUTSIDE_CALLS - 1;
	first = first_enter[number];
	if ((!first && !is_timed[number]) || !is_asked(task, regs))
		return 0;
	m.ns = bpf_ktime_get_ns();
	if (is_timed[number]) {
		t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (t) {
			t->call = (uint32_t)number;
			t->call_start = m.ns;
		}
	}
	if (!first)
		return 0;
	call_fill(&m, regs);
	call_tell(&m, first);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_end, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	long number = CALL_NUMBER(regs);
	struct moment m = { 0 };
	struct thread *t;

	if (number < 0 || number >= OUTSIDE_CALLS)
		return 0;
	number &= OUTSIDE_CALLS - 1;
	if (!first_exit[number] || !is_asked(task, regs))
		return 0;
	m.ns = bpf_ktime_get_ns();
	m.result = (uint64_t)result;
	m.has_result = 1;
	if (is_timed[number]) {
		t = bpf_task_storage_get(&threads, task, 0, 0);
		if (t && t->call == number) {
			m.start = t->call_start;
			t->call_start = 0;
		}
	}
	call_fill(&m, regs);
	call_tell(&m, first_exit[number]);
	return 0;
}

/* --- functions and static probes -------------------------------------------------------------- */

/* Whether it is told; counted in any case, as a breakpoint costs whoever comes there. */
static __always_inline bool is_named(uint32_t place)
{
	uint32_t tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32);

	__sync_fetch_and_add(&passed[place & (OUTSIDE_PLACES - 1)], 1);
	return bpf_map_lookup_elem(&processes, &tgid) != NULL;
}

static __always_inline void arguments_fill(uint64_t v[6], struct pt_regs *ctx)
{
	v[0] = PT_REGS_PARM1_CORE(ctx);
	v[1] = PT_REGS_PARM2_CORE(ctx);
	v[2] = PT_REGS_PARM3_CORE(ctx);
	v[3] = PT_REGS_PARM4_CORE(ctx);
	v[4] = PT_REGS_PARM5_CORE(ctx);
	v[5] = SIXTH_ARGUMENT(ctx);
}

/* How many frames are left when those on top are taken away that have ended: told, or left by an
 * exception or a jump, so that they lie below where the stack is now. */
static __always_inline uint32_t frames_above(const struct thread *t, uint64_t sp)
{
	uint32_t depth = t->depth;

	for (int i = 0; i < OUTSIDE_DEPTH; i++) {
		const struct frame *f = &t->frames[(depth - 1) & (OUTSIDE_DEPTH - 1)];

		if (!depth || (f->sp >= sp && f->place != NOBODY))
			break;
		depth--;
	}
	return depth;
}

/* Where the call is kept: of one that was left unseen the place is taken over. */
static __always_inline uint32_t frame_for(const struct thread *t, uint32_t depth, uint64_t sp,
					  uint32_t place)
{
	uint32_t at = depth;

	for (int i = 0; i < OUTSIDE_DEPTH; i++) {
		const struct frame *f = &t->frames[(at - 1) & (OUTSIDE_DEPTH - 1)];

		if (!at || f->sp != sp)
			break;
		at--;
		if (f->place == place)
			return at;
	}
	return depth;
}

static __always_inline void keep(struct pt_regs *ctx, uint32_t place)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
						BPF_LOCAL_STORAGE_GET_F_CREATE);
	uint64_t sp = PT_REGS_SP_CORE(ctx);
	struct frame *f;
	uint32_t depth = t ? frames_above(t, sp) : 0;
	uint32_t at = t ? frame_for(t, depth, sp, place) : OUTSIDE_DEPTH;

	if (!t || at >= OUTSIDE_DEPTH) {
		__sync_fetch_and_add(&dropped[place & (OUTSIDE_PLACES - 1)], 1);
		return;
	}
	f = &t->frames[at & (OUTSIDE_DEPTH - 1)];
	arguments_fill(f->args, ctx);
	f->sp = sp;
	f->start = bpf_ktime_get_ns();
	f->place = place;
	t->depth = at < depth ? depth : at + 1;
}

SEC("uprobe")
int enter(struct pt_regs *ctx)
{
	uint32_t number = (uint32_t)bpf_get_attach_cookie(ctx);
	const struct outside_place *place = bpf_map_lookup_elem(&places, &number);
	struct moment m = { .place = number };

	if (!is_named(number) || !place)
		return 0;
	if (place->flags & OUTSIDE_KEEPS) {
		keep(ctx, number);
		return 0;
	}
	m.ns = bpf_ktime_get_ns();
	arguments_fill(m.v, ctx);
	tell(&m);
	return 0;
}

SEC("uprobe")
int leave(struct pt_regs *ctx)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	struct moment m = { .place = (uint32_t)bpf_get_attach_cookie(ctx) };
	uint64_t sp = PT_REGS_SP_CORE(ctx);
	uint32_t depth;

	if (!is_named(m.place) || !t)
		return 0;
	depth = frames_above(t, sp);
	for (int i = 0; i < OUTSIDE_DEPTH; i++) {
		struct frame *f = &t->frames[(depth - 1 - i) & (OUTSIDE_DEPTH - 1)];

		if ((uint32_t)i >= depth || f->sp != sp)
			return 0;
		if (f->place != m.place)
			continue;
		m.ns = bpf_ktime_get_ns();
		m.start = f->start;
		m.result = PT_REGS_RC_CORE(ctx);
		m.has_result = 1;
		for (int k = 0; k < 6; k++)
			m.v[k] = f->args[k];
		f->place = NOBODY;
		tell(&m);
		return 0;
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline void registers_fill(uint64_t v[16], struct pt_regs *ctx)
{
	v[0] = BPF_CORE_READ(ctx, ax);
	v[1] = BPF_CORE_READ(ctx, dx);
	v[2] = BPF_CORE_READ(ctx, cx);
	v[3] = BPF_CORE_READ(ctx, bx);
	v[4] = BPF_CORE_READ(ctx, si);
	v[5] = BPF_CORE_READ(ctx, di);
	v[6] = BPF_CORE_READ(ctx, bp);
	v[7] = BPF_CORE_READ(ctx, sp);
	v[8] = BPF_CORE_READ(ctx, r8);
	v[9] = BPF_CORE_READ(ctx, r9);
	v[10] = BPF_CORE_READ(ctx, r10);
	v[11] = BPF_CORE_READ(ctx, r11);
	v[12] = BPF_CORE_READ(ctx, r12);
	v[13] = BPF_CORE_READ(ctx, r13);
	v[14] = BPF_CORE_READ(ctx, r14);
	v[15] = BPF_CORE_READ(ctx, r15);
}
#else
static __always_inline void registers_fill(uint64_t v[16], struct pt_regs *ctx)
{
	struct user_pt_regs *regs = (struct user_pt_regs *)ctx;

	for (int i = 0; i < 16; i++)
		v[i] = BPF_CORE_READ(regs, regs[i]);
}
#endif

SEC("uprobe")
int site(struct pt_regs *ctx)
{
	struct moment m = { .place = (uint32_t)bpf_get_attach_cookie(ctx), .is_site = 1 };

	if (!is_named(m.place))
		return 0;
	m.ns = bpf_ktime_get_ns();
	registers_fill(m.v, ctx);
	tell(&m);
	return 0;
}

/* --- processes -------------------------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_make, struct task_struct *parent, struct task_struct *child)
{
	uint32_t from = parent->tgid, to = child->tgid;
	const struct outside_process *p;
	struct outside_process copy;

	if (from == to)
		return 0;
	p = bpf_map_lookup_elem(&processes, &from);
	if (!p)
		return 0;
	copy = *p;
	if (bpf_map_update_elem(&processes, &to, &copy, 0))
		__sync_fetch_and_add(&nr_unfollowed, 1);
	return 0;
}

/* Its memory is another one now: nothing is carried before it was entered anew. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	uint32_t tgid = task->tgid;
	struct outside_process *p = bpf_map_lookup_elem(&processes, &tgid);

	if (p && p->is_silent) {
		/* no longer what we are */
		bpf_map_delete_elem(&processes, &tgid);
	} else if (p) {
		p->own = p->code = p->code_bytes = 0;
		p->group = 0;
	}
	return 0;
}

/* The last thread of a process is gone when its leader is freed: its number may be used again. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *task)
{
	uint32_t tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&processes, &tgid);
	return 0;
}

char outside_license[] SEC("license") = "Dual BSD/GPL";
