/*
 * Loads and attaches capture/bpf/sched.bpf.c, and hands on what it tells in the order of time.
 * Everything is detached when this process ends, however it ends: nothing is pinned.
 */
#include "capture/sched.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/bpf/sched.skel.h"
#include "capture/sched_why.h"
#include "wire/sched_record.h"

#define LATE_NS INT64_C(1000000) /* a record is in the buffer so long after its time, at most */
#define BATCH 256
#define MEASURED 2000 /* changes whose cost is counted */
#define CHANGE_NS 200 /* where the kernel does not count it */

struct sched {
	struct sched_bpf *bpf;
	struct ring_buffer *ring;
	VEC(struct sched_record) waiting; /* for their turn */
	VEC(struct sched_record) sorted;
	struct map stopped; /* by thread: how it did last, as pack_stop has it */
	int64_t until;
	struct sched_counts counts;
	int stats; /* open while the kernel measures our programs, else -1 */
};

bool sched_is_built(void)
{
	return true;
}

/* libbpf would write to standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int explain(int r, const char *what, struct error *err)
{
	int code = r < 0 ? -r : EIO;

	if (code == EPERM || code == EACCES)
		return error_set(err, code,
				 "the kernel does not let this user watch how threads wait (eBPF): "
				 "run it as root, or with CAP_BPF and CAP_PERFMON");
	return error_set(err, code,
			 "cannot %s the programs that watch how threads wait (they need BTF in "
			 "/sys/kernel/btf/vmlinux and Linux 5.18 or newer): %s",
			 what, strerror(code));
}

static int keep_record(void *to, void *data, size_t size)
{
	struct sched *s = to;

	if (size >= sizeof(struct sched_record))
		vec_push(&s->waiting, *(const struct sched_record *)data);
	return 0;
}

static int open_all(struct sched *s, struct error *err)
{
	int r;

	libbpf_set_print(say_nothing);
	s->bpf = sched_bpf__open();
	if (!s->bpf)
		return explain(-errno, "open", err);
	sched_forms((uint8_t *)s->bpf->rodata->form_of_call);
	s->bpf->rodata->wake_bytes = SCHED_RING_BYTES / 4;
	s->bpf->rodata->is_following = true;
	r = sched_bpf__load(s->bpf);
	if (r < 0)
		return explain(r, "load", err);
	s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.records), keep_record, s, NULL);
	return s->ring ? 0 : explain(-errno, "read from", err);
}

int sched_add(struct sched *s, int pid, struct error *err)
{
	uint32_t tgid = (uint32_t)pid;
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.watched), &tgid, &one, 0))
		return error_set(err, errno, "cannot watch process %d as well: %s", pid,
				 strerror(errno));
	return 0;
}

int sched_open(struct sched **s, const int *pids, size_t nr, struct error *err)
{
	struct sched *new = mem_zalloc(sizeof(*new));
	int r;

	new->stats = -1;
	r = open_all(new, err);

	for (size_t i = 0; i < nr && r >= 0; i++)
		r = sched_add(new, pids[i], err);
	if (r >= 0) {
		r = sched_bpf__attach(new->bpf);
		if (r < 0)
			r = explain(r, "attach", err);
		else
			new->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
		new->counts.change_ns = new->stats < 0 ? CHANGE_NS : 0;
	}
	if (r < 0) {
		sched_close(new);
		return r;
	}
	*s = new;
	return 0;
}

/* ns that one run of the programs takes that see every switch, as the kernel has counted. */
static double run_ns(const struct sched *s)
{
	const struct bpf_program *programs[] = { s->bpf->progs.switch_threads,
						 s->bpf->progs.wake_thread };
	double ns = 0, nr = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(programs[i]), &info, &size))
			continue;
		ns += (double)info.run_time_ns;
		nr += (double)info.run_cnt;
	}
	return nr > 0 ? ns / nr : 0;
}

/* Counting costs, too: it is done for the first changes only. */
static void measure(struct sched *s)
{
	if (s->stats < 0 || s->counts.nr_changes < MEASURED)
		return;
	s->counts.change_ns = run_ns(s);
	close(s->stats);
	s->stats = -1;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS_S + t.tv_nsec;
}

static enum thread_change_kind kind_of(uint8_t act)
{
	switch ((enum sched_act)act) {
	case SCHED_ON:
		return THREAD_ON;
	case SCHED_WOKEN:
		return THREAD_WOKEN;
	case SCHED_BORN:
		return THREAD_BORN;
	case SCHED_GONE:
		return THREAD_GONE;
	case SCHED_OFF:
		break;
	}
	return THREAD_OFF;
}

/* The system call, and whether the wait may turn out to be for a queue. */
static uint64_t pack_stop(int16_t call, bool is_open)
{
	return (uint64_t)(uint16_t)call << 1 | is_open;
}

/* Who woke it is told where it surely did. */
static void tell_waker(struct sched *s, const struct sched_record *r, struct thread_change *c)
{
	const uint64_t *stop = map_find(&s->stopped, r->tid);

	if (!stop || !r->other_tid || !sched_is_waker((int16_t)(*stop >> 1), r->call))
		return;
	c->other = r->other_tid;
	c->other_process = r->other_tgid;
	if (*stop & 1 && r->flags & SCHED_KNOWN)
		c->why = WAIT_QUEUE;
}

static struct thread_change change_of(struct sched *s, const struct sched_record *r)
{
	struct thread_change c = { .ns = (int64_t)r->ns,
				   .process = r->tgid,
				   .thread = r->tid,
				   .kind = kind_of(r->act),
				   .call = -1 };
	bool is_open;

	if (c.kind == THREAD_OFF) {
		c.why = sched_why(r, &is_open);
		c.call = r->call;
		*map_at(&s->stopped, r->tid) = pack_stop(r->call, is_open);
	} else if (c.kind == THREAD_WOKEN) {
		tell_waker(s, r, &c);
	} else if (c.kind == THREAD_BORN) {
		c.other = r->other_tid;
		c.other_process = r->other_tgid;
	}
	return c;
}

static uint64_t ns_of(const void *record)
{
	return ((const struct sched_record *)record)->ns;
}

/* Those before the moment, in the order of time; the rest keeps waiting. */
static void take_due(struct sched *s, uint64_t before)
{
	size_t nr = 0;

	vec_clear(&s->sorted);
	for (size_t i = 0; i < s->waiting.nr; i++) {
		if (s->waiting.v[i].ns < before)
			vec_push(&s->sorted, s->waiting.v[i]);
		else
			s->waiting.v[nr++] = s->waiting.v[i];
	}
	s->waiting.nr = nr;
	if (s->sorted.nr)
		sort_records(s->sorted.v, s->sorted.nr, sizeof(*s->sorted.v), ns_of);
}

int sched_read(struct sched *s,
	       int (*take)(void *to, const struct thread_change *c, size_t nr, struct error *err),
	       void *to, int64_t *until, struct error *err)
{
	struct thread_change batch[BATCH];
	int64_t before = now() - LATE_NS;
	int r = ring_buffer__consume(s->ring);
	size_t nr = 0;

	if (r < 0 && r != -EINTR)
		return error_set(err, -r, "cannot read how threads wait: %s", strerror(-r));
	take_due(s, (uint64_t)before);
	r = 0;
	for (size_t i = 0; i < s->sorted.nr && r >= 0; i++) {
		s->counts.nr_late += (int64_t)s->sorted.v[i].ns < s->until;
		batch[nr++] = change_of(s, &s->sorted.v[i]);
		if (nr < BATCH && i + 1 < s->sorted.nr)
			continue;
		r = take(to, batch, nr, err);
		nr = 0;
	}
	s->counts.nr_changes += s->sorted.nr;
	measure(s);
	if (r >= 0)
		*until = s->until = before;
	return r;
}

void sched_pause(struct sched *s, bool is_paused)
{
	__atomic_store_n(&s->bpf->bss->is_paused, is_paused, __ATOMIC_RELAXED);
}

void sched_count(const struct sched *s, struct sched_counts *c)
{
	*c = s->counts;
	c->nr_dropped = s->bpf->bss->nr_dropped;
}

void sched_close(struct sched *s)
{
	if (!s)
		return;
	if (s->stats >= 0)
		close(s->stats);
	ring_buffer__free(s->ring);
	sched_bpf__destroy(s->bpf);
	vec_done(&s->waiting);
	vec_done(&s->sorted);
	map_done(&s->stopped);
	free(s);
}
