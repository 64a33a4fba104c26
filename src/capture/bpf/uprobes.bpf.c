/*
 * Tells when a thread enters or leaves a function, and the value that names its interval there.
 * Only reads; drops, counted, what the tool does not fetch in time.
 */
#include "capture/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "capture/bpf/take.h"
#include "wire/uprobe_record.h"

uint64_t nr_dropped;
uint64_t nr_hits;
uint64_t hits[UPROBE_TAKES_MAX];

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, UPROBE_RING_BYTES);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UPROBE_TAKES_MAX);
	__type(key, uint32_t);
	__type(value, struct static_take);
} takes SEC(".maps");

static __always_inline uint64_t argument(struct pt_regs *ctx, uint8_t nr)
{
	switch (nr) {
	case 0:
		return PT_REGS_PARM1_CORE(ctx);
	case 1:
		return PT_REGS_PARM2_CORE(ctx);
	case 2:
		return PT_REGS_PARM3_CORE(ctx);
	case 3:
		return PT_REGS_PARM4_CORE(ctx);
	case 4:
		return PT_REGS_PARM5_CORE(ctx);
	case 5:
		return SIXTH_ARGUMENT(ctx);
	}
	return PT_REGS_RC_CORE(ctx);
}

static __always_inline int pass(struct pt_regs *ctx, uint8_t kind)
{
	uint32_t number = (uint32_t)bpf_get_attach_cookie(ctx);
	const struct static_take *t = bpf_map_lookup_elem(&takes, &number);
	uint64_t id = bpf_get_current_pid_tgid();
	struct uprobe_record *r;

	__sync_fetch_and_add(&nr_hits, 1);
	if (!t)
		return 0;
	__sync_fetch_and_add(&hits[number & (UPROBE_TAKES_MAX - 1)], 1);
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&nr_dropped, 1);
		return 0;
	}
	r->ns = bpf_ktime_get_ns();
	r->tgid = id >> 32;
	r->tid = (uint32_t)id;
	r->function = t->function;
	r->kind = kind;
	r->value = r->has_value = r->reserved = 0;
	r->is_taken = t->is_taken;
	if (t->is_taken) {
		r->value = argument(ctx, t->argument);
		r->has_value = take_load(t, &r->value);
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("uprobe")
int enter(struct pt_regs *ctx)
{
	return pass(ctx, UPROBE_ENTERED);
}

SEC("uprobe")
int leave(struct pt_regs *ctx)
{
	return pass(ctx, UPROBE_LEFT);
}

char uprobes_license[] SEC("license") = "Dual BSD/GPL";
