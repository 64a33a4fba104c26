/*
 * Tells when a thread passes a static probe (USDT), and the value that names its interval there.
 * Only reads; drops, counted, what the tool does not fetch in time.
 */
#include "capture/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

#include "capture/bpf/take.h"

uint64_t nr_dropped;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STATIC_RING_BYTES);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STATIC_PROBES_MAX);
	__type(key, uint32_t);
	__type(value, struct static_take);
} takes SEC(".maps");

SEC("usdt")
int pass(struct pt_regs *ctx)
{
	uint32_t number = (uint32_t)bpf_usdt_cookie(ctx);
	const struct static_take *t = bpf_map_lookup_elem(&takes, &number);
	uint64_t id = bpf_get_current_pid_tgid();
	struct static_record *r;
	long value = 0;

	if (!t)
		return 0;
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&nr_dropped, 1);
		return 0;
	}
	r->ns = bpf_ktime_get_ns();
	r->tgid = id >> 32;
	r->tid = (uint32_t)id;
	r->function = t->function;
	r->has_value = 0;
	r->value = 0;
	if (t->is_taken && !bpf_usdt_arg(ctx, t->argument, &value)) {
		r->value = (uint64_t)value;
		r->has_value = take_load(t, &r->value);
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

char statics_license[] SEC("license") = "Dual BSD/GPL";
