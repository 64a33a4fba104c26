/* Loads capture/bpf/uprobes.bpf.c and attaches it to functions. Everything is detached when this
 * process ends, however it ends. */
#include "capture/uprobes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/bpf/uprobes.skel.h"
#include "capture/probe/kin.h"
#include "capture/spot.h"
#include "wire/static_record.h"
#include "wire/uprobe_record.h"

#define LATE_NS (2 * NS_MS) /* a record is in the buffer so long after its time, at most */
#define LINKS_MAX 1024
#define DEPTH 64
#define MEASURED 64

/* One function that is watched. */
struct watched_function {
	struct probe_function f;
	char *module;
	struct spot spot;
	uint32_t takes; /* of its entry; that of its ways out follows */
};

struct link {
	struct bpf_link *link;
	uint32_t id;
	int pid;
};

/* Calls of a thread that were not left yet. */
struct frames {
	struct {
		uint32_t function;
		int64_t start;
	} v[DEPTH];
	size_t nr;
};

struct uprobes {
	struct uprobes_bpf *bpf;
	struct ring_buffer *ring;
	VEC(struct watched_function) functions;
	VEC(struct link) links;
	VEC(int) pids;
	VEC(uint64_t) free_takes;
	uint32_t nr_takes;
	struct map by_id;     /* 1 + position of the function */
	struct map by_thread; /* 1 + position of its frames */
	VEC(struct frames) frames;
	VEC(struct function_call) calls;
	VEC(struct mark) marks;
	uint64_t nr_lost; /* calls too deep */
	double cost_ns;
};

/* libbpf would write to standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static struct watched_function *function_of(const struct uprobes *u, uint32_t id)
{
	const uint64_t *at = map_find(&u->by_id, id);

	return at && *at ? &u->functions.v[*at - 1] : NULL;
}

static void keep_mark(struct uprobes *u, const struct uprobe_record *r, enum mark_place place)
{
	vec_push(&u->marks, (struct mark){ .ns = (int64_t)r->ns,
					   .value = r->value,
					   .function = r->function,
					   .process = r->tgid,
					   .thread = r->tid,
					   .place = place,
					   .has_value = r->has_value });
}

static struct frames *frames_of(struct uprobes *u, uint32_t tid)
{
	uint64_t *at = map_at(&u->by_thread, tid);

	if (!*at) {
		vec_push(&u->frames, (struct frames){ 0 });
		*at = u->frames.nr;
	}
	return &u->frames.v[*at - 1];
}

/* Calls above the one that is left were left by an exception or a jump, unseen. */
static void left(struct uprobes *u, const struct uprobe_record *r)
{
	struct frames *s = frames_of(u, r->tid);
	size_t at = s->nr;

	while (at > 0 && s->v[at - 1].function != r->function)
		at--;
	if (!at)
		return; /* it was under way when it was first watched */
	for (size_t i = s->nr; i >= at; i--)
		vec_push(&u->calls, (struct function_call){ .start = s->v[i - 1].start,
							    .end = (int64_t)r->ns,
							    .function = s->v[i - 1].function,
							    .process = r->tgid,
							    .thread = r->tid,
							    .is_unwound = i > at,
							    .has_amount = i == at && r->has_value,
							    .amount = r->value });
	s->nr = at - 1;
}

static int keep_record(void *to, void *data, size_t size)
{
	const struct uprobe_record *r = data;
	struct uprobes *u = to;
	const struct watched_function *f;
	struct frames *s;

	if (size < sizeof(*r))
		return 0;
	f = function_of(u, r->function);
	if (!f)
		return 0;
	if (r->kind == UPROBE_LEFT) {
		if (f->f.is_call)
			left(u, r);
		if (f->f.is_mark_at_exit)
			keep_mark(u, r, MARK_EXIT);
		return 0;
	}
	if (f->f.is_mark_at_entry)
		keep_mark(u, r, MARK_ENTRY);
	s = frames_of(u, r->tid);
	if (f->f.is_call && s->nr == DEPTH) {
		/* frames that nobody left by a way that is known: the oldest go */
		memmove(s->v, s->v + DEPTH / 2, sizeof(s->v) / 2);
		s->nr = DEPTH / 2;
		u->nr_lost += DEPTH / 2;
	}
	if (f->f.is_call) {
		s->v[s->nr].function = r->function;
		s->v[s->nr++].start = (int64_t)r->ns;
	}
	return 0;
}

static struct static_take take_of(const struct probe_function *f, const struct probe_take *take)
{
	struct static_take t = { .function = f->id,
				 .is_taken =
					 take->from == TAKE_ARGUMENT || take->from == TAKE_RETURN,
				 .argument =
					 take->from == TAKE_RETURN ? UPROBE_RETURN : take->argument,
				 .nr_loads = take->nr_loads,
				 .bytes = take->bytes };

	memcpy(t.offsets, take->offsets, sizeof(t.offsets));
	return t;
}

static int takes_set(struct uprobes *u, struct watched_function *w, struct error *err)
{
	struct static_take in = take_of(&w->f, &w->f.at_entry), out = take_of(&w->f, &w->f.at_exit);
	uint32_t next;

	if (w->f.at_exit.from == TAKE_ARGUMENT)
		out.is_taken = 0; /* it is not there any more */
	if (u->free_takes.nr) {
		w->takes = (uint32_t)u->free_takes.v[--u->free_takes.nr];
	} else if (u->nr_takes + 2 <= UPROBE_TAKES_MAX) {
		w->takes = u->nr_takes;
		u->nr_takes += 2;
	} else {
		return error_set(err, E2BIG, "no more than %d functions by uprobes",
				 UPROBE_TAKES_MAX / 2);
	}
	next = w->takes + 1;
	u->bpf->bss->hits[w->takes] = u->bpf->bss->hits[next] = 0;
	if (bpf_map_update_elem(bpf_map__fd(u->bpf->maps.takes), &w->takes, &in, 0) ||
	    bpf_map_update_elem(bpf_map__fd(u->bpf->maps.takes), &next, &out, 0))
		return error_set(err, errno, "uprobes cannot be used: %s", strerror(errno));
	return 0;
}

static int attach_at(struct uprobes *u, struct bpf_program *program, int pid, const char *path,
		     uint64_t at, uint32_t cookie, uint32_t id, struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link;

	if (u->links.nr >= LINKS_MAX)
		return error_set(err, E2BIG, "no more than %d uprobes", LINKS_MAX);
	link = bpf_program__attach_uprobe_opts(program, pid, path, at, &opts);
	if (!link)
		return error_set(err, errno, "the kernel refuses a uprobe: %s", strerror(errno));
	vec_push(&u->links, (struct link){ link, id, pid });
	return 0;
}

/* Ways out first: a call is told only when it was seen to begin. */
static int attach(struct uprobes *u, int pid, const struct watched_function *w, struct error *err)
{
	char path[4096];
	int got = 0;

	spot_path(pid, w->f.module, path);
	for (size_t i = 0; i < w->spot.nr_outs && got >= 0; i++)
		got = attach_at(u, u->bpf->progs.leave, pid, path, w->spot.at + w->spot.outs[i],
				w->takes + 1, w->f.id, err);
	if (got >= 0)
		got = attach_at(u, u->bpf->progs.enter, pid, path, w->spot.at, w->takes, w->f.id,
				err);
	return got;
}

/* Detaches from those that are to go. */
static void links_drop(struct uprobes *u, bool (*is_out)(const struct link *l, uint32_t id),
		       uint32_t id)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->links.nr; i++)
		if (is_out(&u->links.v[i], id))
			bpf_link__destroy(u->links.v[i].link);
		else
			u->links.v[kept++] = u->links.v[i];
	u->links.nr = kept;
}

static bool is_dead(const struct link *l, uint32_t id)
{
	(void)id;
	return !kin_started(l->pid);
}

static bool is_of(const struct link *l, uint32_t id)
{
	return l->id == id;
}

static void pids_sweep(struct uprobes *u)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->pids.nr; i++)
		if (kin_started(u->pids.v[i]))
			u->pids.v[kept++] = u->pids.v[i];
	if (kept < u->pids.nr)
		links_drop(u, is_dead, 0);
	u->pids.nr = kept;
}

int uprobes_add(struct uprobes *u, const struct probe_function *f, struct error *err)
{
	struct watched_function w = { .f = *f };
	int got, nr = 0;

	pids_sweep(u);
	if (f->is_site || !u->pids.nr)
		return error_set(err, EINVAL, "no function of a process that lives");
	got = spot_find(&w.spot, u->pids.v[0], f->module, f->address, f->size, err);
	if (got >= 0)
		got = takes_set(u, &w, err);
	if (got < 0)
		return got;
	w.module = strdup(f->module);
	w.f.module = w.module;
	vec_push(&u->functions, w);
	*map_at(&u->by_id, f->id) = u->functions.nr;
	vec_each (&u->pids, pid)
		nr += attach(u, *pid, &w, err) >= 0;
	if (nr)
		return 0;
	uprobes_remove(u, f->id);
	return -err->code;
}

void uprobes_process(struct uprobes *u, int pid)
{
	struct error ignored = { 0 };

	pids_sweep(u);
	vec_each (&u->pids, p)
		if (*p == pid)
			return;
	vec_push(&u->pids, pid);
	vec_each (&u->functions, w)
		if (w->module)
			attach(u, pid, w, &ignored);
}

void uprobes_remove(struct uprobes *u, uint32_t id)
{
	struct watched_function *w = function_of(u, id);

	if (!w)
		return;
	links_drop(u, is_of, id);
	vec_push(&u->free_takes, w->takes);
	free(w->module);
	w->module = NULL;
	*map_at(&u->by_id, id) = 0;
}

int uprobes_read(struct uprobes *u, const struct probe_reader *r, int64_t *until, struct error *err)
{
	int64_t now = time_tick();
	int got = ring_buffer__consume(u->ring);

	if (got < 0)
		return error_set(err, -got, "uprobes cannot be read: %s", strerror(-got));
	got = u->calls.nr ? r->call(r->to, u->calls.v, u->calls.nr, err) : 0;
	if (got >= 0 && u->marks.nr)
		got = r->mark(r->to, u->marks.v, u->marks.nr, err);
	vec_clear(&u->calls);
	vec_clear(&u->marks);
	*until = now - LATE_NS;
	return got < 0 ? got : 0;
}

uint64_t uprobes_hits(const struct uprobes *u)
{
	return u->bpf->bss->nr_hits;
}

uint64_t uprobes_hits_of(const struct uprobes *u, uint32_t id)
{
	const struct watched_function *w = function_of(u, id);

	return w ? u->bpf->bss->hits[w->takes] + u->bpf->bss->hits[w->takes + 1] : 0;
}

uint64_t uprobes_dropped(const struct uprobes *u)
{
	return u->bpf->bss->nr_dropped + u->nr_lost;
}

double uprobes_cost_ns(const struct uprobes *u)
{
	return u->cost_ns;
}

/* A function of our own, to be watched. */
static __attribute__((noinline)) long measured(long x)
{
	__asm__ volatile("lea 1(%0), %0" : "+r"(x));
	return x;
}

static bool own_place(char path[4096], uint64_t *offset)
{
	uint64_t start, end, from, at = (uint64_t)(uintptr_t)measured;
	cleanup(fclose) FILE *f = fopen("/proc/self/maps", "re");
	char line[4352];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &from, path) ==
			    4 &&
		    at >= start && at < end) {
			*offset = at - start + from;
			return true;
		}
	return false;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median of some, less what the clock itself takes. */
static double cost_measure(struct uprobes *u)
{
	int64_t v[MEASURED];
	struct error ignored = { 0 };
	uint64_t offset = 0;
	char path[4096];
	long x = 0;

	if (!own_place(path, &offset) || attach_at(u, u->bpf->progs.enter, getpid(), path, offset,
						   UPROBE_TAKES_MAX, UINT32_MAX, &ignored) < 0)
		return 0;
	for (int i = 0; i < MEASURED; i++) {
		int64_t before = time_tick();

		x = measured(x);
		v[i] = time_tick() - before;
	}
	bpf_link__destroy(u->links.v[--u->links.nr].link);
	qsort(v, MEASURED, sizeof(*v), by_size);
	u->bpf->bss->nr_hits = 0;
	return (double)v[MEASURED / 2];
}

int uprobes_open(struct uprobes **out, struct error *err)
{
	struct uprobes *u = mem_zalloc(sizeof(*u));
	int code = 0;

	libbpf_set_print(say_nothing);
	u->bpf = uprobes_bpf__open_and_load();
	if (u->bpf)
		u->ring = ring_buffer__new(bpf_map__fd(u->bpf->maps.records), keep_record, u, NULL);
	if (!u->ring)
		code = errno ? errno : EIO;
	if (!code) {
		u->cost_ns = cost_measure(u);
		code = u->cost_ns > 0 ? 0 : ENOTSUP;
	}
	if (code) {
		uprobes_close(u);
		return error_set(err, code,
				 "uprobes cannot be used (that takes eBPF, and root): %s",
				 strerror(code));
	}
	*out = u;
	return 0;
}

void uprobes_close(struct uprobes *u)
{
	if (!u)
		return;
	vec_each (&u->links, l)
		bpf_link__destroy(l->link);
	vec_each (&u->functions, w)
		free(w->module);
	ring_buffer__free(u->ring);
	uprobes_bpf__destroy(u->bpf);
	vec_done(&u->links);
	vec_done(&u->pids);
	vec_done(&u->functions);
	vec_done(&u->free_takes);
	vec_done(&u->frames);
	vec_done(&u->calls);
	vec_done(&u->marks);
	map_done(&u->by_id);
	map_done(&u->by_thread);
	free(u);
}
