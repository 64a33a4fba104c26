#include "capture/weave/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/name.h"
#include "capture/probe/hold.h"
#include "capture/weave/java_process.h"

#define TRIES 10
#define TRY_NS 100000000

static void program_name(int pid, char name[ADVICE_TEXT])
{
	char path[32], target[4096];
	const char *slash;
	ssize_t n;
	size_t length;

	memset(name, 0, ADVICE_TEXT);
	/* of a Java machine its program, which is not what the file is called */
	if (jvm_is(pid) && jvm_name(pid, target, sizeof(target)) >= 0 && target[0]) {
		length = strlen(target);
		memcpy(name, target, length < ADVICE_TEXT ? length : ADVICE_TEXT);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	slash = strrchr(target, '/');
	slash = slash ? slash + 1 : target;
	length = strcspn(slash, " ");
	memcpy(name, slash, length < ADVICE_TEXT ? length : ADVICE_TEXT);
}

static void advice_fit(struct probe_advice *a, const struct woven_family *f)
{
	memcpy(a->texts[PROBE_TEXT_PROCESS], f->name, ADVICE_TEXT);
	a->lengths[PROBE_TEXT_PROCESS] = (uint8_t)strnlen(f->name, ADVICE_TEXT);
}

static void stitch_put(struct woven_process *p, struct stitch *s, size_t family)
{
	struct woven_family *f = &p->families.v[family];
	struct probe_advice *a = s->advice;
	int number;

	if (!a) {
		vec_push(&s->numbers, -ENOENT);
		return;
	}
	advice_fit(a, f);
	number = pieces_add(f->pieces, s->function, s->moment, s->order, a);
	p->nr_full += number < 0;
	vec_push(&s->numbers, number);
}

static void clock_set(struct probe_region *g, const struct probe_clock *clock)
{
	uint64_t nr = g->clock_nr;

	if (memcmp(&g->clocks[nr & 1], clock, sizeof(*clock)) == 0)
		return;
	g->clocks[(nr + 1) & 1] = *clock;
	__atomic_store_n(&g->clock_nr, nr + 1, __ATOMIC_RELEASE);
}

static void family_add(struct woven_process *p, size_t i)
{
	struct probe_view v = probe_region(p->probe, i);
	struct woven_family f = { .pieces = pieces_new(v), .carried = v.region->carried };

	reap_init(&f.reap, v);
	program_name(v.pid, f.name);
	v.region->host = p->host;
	v.region->run_limit = p->run_limit;
	clock_set(v.region, &p->clock);
	__atomic_store_n(&v.region->bags, p->session, __ATOMIC_RELEASE);
	vec_push(&p->families, f);
	vec_each (&p->stitches, s)
		if (s->numbers.nr == i)
			stitch_put(p, s, i);
}

/* A machine that begins listens to us before it can do all that we ask for: one that is held is
 * made when its thread has come. */
static int machine_enter(struct woven_process *p, struct error *err)
{
	const struct probe_region *region = p->families.v[0].pieces->view.region;

	if (hold_is(region))
		hold_wait(region, HOLD_ARRIVES_NS);
	return java_process_enter(&p->java, p->pid, region, err);
}

int process_enter(struct woven_process *p, int pid, uint64_t host, uint64_t session, int handover,
		  const struct probe_clock *clock, struct error *err)
{
	const struct probe_options o = { .pid = pid, .follows = true, .handover = handover };
	int r;

	*p = (struct woven_process){
		.pid = pid, .host = host, .session = session, .clock = *clock
	};
	r = probe_open(&p->probe, &o, err);
	for (size_t i = 0; r >= 0 && i < probe_nr_regions(p->probe); i++)
		family_add(p, i);
	if (r >= 0 && p->families.nr)
		r = machine_enter(p, err);
	return r;
}

void process_limit(struct woven_process *p, uint64_t run_limit)
{
	p->run_limit = run_limit;
	vec_each (&p->families, f)
		f->pieces->view.region->run_limit = run_limit;
}

void process_leave(struct woven_process *p)
{
	java_process_leave(p->java);
	vec_each (&p->families, f)
		pieces_free(f->pieces);
	probe_close(p->probe);
	vec_each (&p->families, f)
		reap_done(&f->reap);
	vec_each (&p->stitches, s) {
		free(s->advice);
		vec_done(&s->numbers);
	}
	vec_done(&p->families);
	vec_done(&p->stitches);
	vec_done(&p->functions);
	map_done(&p->numbers);
	*p = (struct woven_process){ 0 };
}

static uint64_t place_hash(const struct probe_function *f, const char *java)
{
	if (java)
		return str_hash(str_of(java));

	uint64_t h = str_hash(str_of(f->module)) ^ f->address * 0x9e3779b97f4a7c15u;

	return f->is_site ? h ^ (f->site + 1) * 0xc2b2ae3d27d4eb4fu : h;
}

/* What is wanted of it besides; then it is patched anew. */
static void wants_add(struct woven_function *f, const struct probe_function *how)
{
	struct probe_function was = f->how;

	f->how.is_advised |= how->is_advised;
	f->how.is_birth |= how->is_birth;
	f->how.is_death |= how->is_death;
	f->how.arguments |= how->arguments;
	f->how.carry = f->how.carry ? f->how.carry : how->carry;
	f->is_stale |= f->is_on && memcmp(&was, &f->how, sizeof(was)) != 0;
}

/* The number that is the function's for good. */
static uint32_t function_of(struct woven_process *p, const struct probe_function *how,
			    const char *java)
{
	uint64_t *known = map_at(&p->numbers, place_hash(how, java));

	if (!*known) {
		vec_push(&p->functions, (struct woven_function){ .how = *how, .java = java });
		*known = p->functions.nr;
		p->functions.v[*known - 1].how.id = (uint32_t)*known - 1;
	}
	wants_add(&p->functions.v[*known - 1], how);
	return (uint32_t)*known - 1;
}

static void stitch_add(struct woven_process *p, const struct stitch *s)
{
	vec_push(&p->stitches, *s);
	p->functions.v[s->function].nr_uses++;
	for (size_t i = 0; i < p->families.nr; i++)
		stitch_put(p, &p->stitches.v[p->stitches.nr - 1], i);
}

static void want(struct woven_process *p, const struct weave_place *place, uint32_t query,
		 uint32_t stage, const struct probe_advice *advice)
{
	bool empties = advice->flags & PROBE_ADVICE_EMPTIES;
	struct stitch s = { .query = query,
			    .function = function_of(p, &place->how, place->java),
			    .moment = place->moment,
			    /* what forgets a request goes before what is of the next one */
			    .order = (uint64_t)!empties << 63 | (uint64_t)query * ADVICE_STAGES |
				     stage,
			    .advice = mem_alloc(sizeof(*s.advice)) };

	if (!p->functions.v[s.function].nr_uses)
		p->functions.v[s.function].inputs = 0;
	p->functions.v[s.function].inputs |= place->inputs;
	*s.advice = *advice;
	s.advice->is_used = 1;
	places_inputs(place->takings, s.advice);
	stitch_add(p, &s);
}

/* In a Java machine each tracepoint has a place of its own in a method, and places run one after
 * the other: a request begins before all of them, once, whoever says so. */
static void want_begin(struct woven_process *p, const struct weave_place *place, uint32_t query,
		       const struct probe_advice *advice)
{
	struct probe_advice *begin = mem_zalloc(sizeof(*begin));
	struct weave_place alone = { .moment = place->moment, .java = place->begins };
	struct stitch *last;

	begin->flags = PROBE_ADVICE_EMPTIES;
	memcpy(begin->texts, advice->texts, sizeof(begin->texts));
	memcpy(begin->lengths, advice->lengths, sizeof(begin->lengths));
	want(p, &alone, query, 0, begin);
	last = &p->stitches.v[p->stitches.nr - 1];
	last->is_beside = advice->program.magic == ADVICE_MAGIC;
	p->functions.v[last->function].is_begin = true;
	free(begin);
}

void process_want(struct woven_process *p, const struct weave_place *place, uint32_t query,
		  uint32_t stage, const struct probe_advice *advice)
{
	struct probe_advice *rest;

	if (!place->java || !(advice->flags & PROBE_ADVICE_EMPTIES)) {
		want(p, place, query, stage, advice);
		return;
	}
	want_begin(p, place, query, advice);
	if (advice->program.magic != ADVICE_MAGIC)
		return;
	rest = mem_alloc(sizeof(*rest));
	*rest = *advice;
	rest->flags &= ~PROBE_ADVICE_EMPTIES;
	want(p, place, query, stage, rest);
	free(rest);
}

bool process_has(const struct woven_process *p, const struct weave_place *place)
{
	return !place->java || p->java;
}

void process_want_carriers(struct woven_process *p, uint32_t query)
{
	java_process_carry(p->java, query);
}

void process_want_helper(struct woven_process *p, const struct probe_function *how, uint32_t query)
{
	stitch_add(p, &(struct stitch){ .query = query, .function = function_of(p, how, NULL) });
}

static void stitch_drop(struct woven_process *p, size_t i)
{
	struct stitch *s = &p->stitches.v[i];

	for (size_t k = 0; k < s->numbers.nr; k++)
		if (s->numbers.v[k] >= 0)
			pieces_remove(p->families.v[k].pieces, s->numbers.v[k]);
	p->functions.v[s->function].nr_uses--;
	free(s->advice);
	vec_done(&s->numbers);
	p->stitches.v[i] = p->stitches.v[--p->stitches.nr];
}

static int functions_patch(struct woven_process *p, struct error *err)
{
	VEC(struct probe_function) due = { 0 };
	cleanup(free) struct probe_verdict *verdicts = NULL;
	int r = 0;

	vec_each (&p->functions, f)
		if (f->is_stale) {
			r = probe_remove(p->probe, &f->how.id, 1, err);
			f->is_stale = f->is_on = false;
		}
	vec_each (&p->functions, f)
		if (f->nr_uses && !f->is_on && !f->java)
			vec_push(&due, f->how);
	verdicts = mem_zalloc(mem_bytes(due.nr + 1, sizeof(*verdicts)));
	for (int i = 0; due.nr && r >= 0 && i < TRIES; i++) {
		r = probe_add(p->probe, due.v, due.nr, verdicts, err);
		if (r != -EBUSY)
			break;
		/* others have the processors */
		nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
		r = i + 1 < TRIES ? 0 : r;
	}
	for (size_t i = 0; r >= 0 && i < due.nr; i++) {
		struct woven_function *f = &p->functions.v[due.v[i].id];

		f->is_on = verdicts[i].means == PROBE_PATCHED;
		f->why = f->is_on ? NULL : verdicts[i].why;
		f->has_another_way = verdicts[i].has_another_way;
	}
	vec_done(&due);
	return r;
}

/* A place that cannot be patched: whether it is watched otherwise. */
static bool is_otherwise(const struct woven_process *p, const struct stitch *s,
			 const struct process_otherwise *other, struct buf *told)
{
	const struct woven_function *f = &p->functions.v[s->function];
	struct error why = { 0 };
	bool is_watched = false;

	if (!s->advice)
		return false;
	buf_fmt(told, "process %d: %s+0x%llx cannot be patched: %s", p->pid, f->how.module,
		(unsigned long long)(f->how.is_site ? f->how.site : f->how.address),
		f->why ? f->why : "");
	if (f->has_another_way) {
		is_watched = other->watch(other->to, p->pid, &f->how, s->moment, s->advice, &why);
		buf_fmt(told, "; %s%s", is_watched ? "it is watched from outside" : why.msg,
			is_watched ? ", by a breakpoint of the kernel" : "");
	}
	buf_char(told, '\n');
	return is_watched;
}

int process_apply(struct woven_process *p, uint32_t query, const struct process_otherwise *other,
		  struct buf *told, struct error *err)
{
	int r = functions_patch(p, err), nr = 0;

	if (r >= 0)
		r = java_process_apply(p, told, err);
	if (r < 0)
		return r;
	for (size_t i = p->stitches.nr; i-- > 0;) {
		struct stitch *s = &p->stitches.v[i];
		const struct woven_function *f = &p->functions.v[s->function];

		if (s->query != query)
			continue;
		if (f->is_on) {
			nr += s->advice != NULL;
			continue;
		}
		nr += is_otherwise(p, s, other, told);
		stitch_drop(p, i);
	}
	return nr;
}

int process_remove(struct woven_process *p, uint32_t query, struct error *err)
{
	VEC(uint32_t) due = { 0 };
	int r = 0;

	for (size_t i = p->stitches.nr; i-- > 0;)
		if (p->stitches.v[i].query == query)
			stitch_drop(p, i);
	java_process_uncarry(p->java, query);
	vec_each (&p->functions, f)
		if (f->is_on && !f->nr_uses) {
			f->is_on = false;
			if (!f->java)
				vec_push(&due, f->how.id);
		}
	java_process_less(p->java);
	for (int i = 0; due.nr && !p->has_ended && i < TRIES; i++) {
		r = probe_remove(p->probe, due.v, due.nr, err);
		if (r != -EBUSY)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
	}
	vec_done(&due);
	return r;
}

static int no_calls(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	(void)to, (void)c, (void)nr, (void)err;
	return 0;
}

static int no_marks(void *to, const struct mark *m, size_t nr, struct error *err)
{
	(void)to, (void)m, (void)nr, (void)err;
	return 0;
}

int process_tend(struct woven_process *p, const struct probe_clock *clock, struct error *err)
{
	const struct probe_reader none = { NULL, no_calls, no_marks };
	int r = probe_read(p->probe, &none, NULL, err);

	if (r < 0)
		return r;
	p->has_ended = r > 0;
	java_process_tend(p);
	for (size_t i = p->families.nr; i < probe_nr_regions(p->probe); i++)
		family_add(p, i);
	p->clock = *clock;
	vec_each (&p->families, f)
		clock_set(f->pieces->view.region, clock);
	return r;
}
