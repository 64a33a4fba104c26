/* Loads capture/bpf/outside.bpf.c and attaches it where something is to be watched. Everything is
 * detached when this process ends, however it ends. */
#include "capture/outside.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "capture/bpf/outside.skel.h"
#include "capture/probe/kin.h"
#include "capture/probe/probe.h"
#include "capture/spot.h"
#include "wire/outside_record.h"

#define LINKS_MAX 1024

_Static_assert(sizeof(((struct outside_wish *)0)->takings) ==
		       OUTSIDE_TAKINGS * sizeof(struct advice_taking),
	       "takings");

/* A place that is watched; free where it has no id. */
struct spied {
	uint64_t id;
	int call; /* -1: none */
	bool is_end, is_timed, is_open;
};

struct held_link {
	struct bpf_link *link;
	int place;
};

struct outside {
	struct outside_bpf *bpf;
	struct ring_buffer *ring;
	struct bpf_link *calls[2], *kin[3];
	struct spied places[OUTSIDE_PLACES];
	VEC(struct held_link) links;
	uint64_t last_id;
	outside_take *take;
	void *to;
};

/* libbpf would write to standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int hand_on(void *to, void *data, size_t size)
{
	struct outside *o = to;
	const struct outside_record *r = data;

	if (size >= sizeof(*r) && r->bag_bytes <= size - sizeof(*r) && r->place < OUTSIDE_PLACES &&
	    o->places[r->place].id == r->id)
		o->take(o->to, r, r->bag_bytes);
	return 0;
}

static int kin_attach(struct outside *o)
{
	struct bpf_program *const programs[] = { o->bpf->progs.process_make,
						 o->bpf->progs.process_exec,
						 o->bpf->progs.process_free };

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		o->kin[i] = bpf_program__attach(programs[i]);
		if (!o->kin[i])
			return -1;
	}
	return 0;
}

int outside_open(struct outside **out, outside_take *take, void *to, struct error *err)
{
	struct outside *o = mem_zalloc(sizeof(*o));
	const struct outside_process self = { .is_silent = 1 };
	int code = 0;

	o->take = take;
	o->to = to;
	libbpf_set_print(say_nothing);
	errno = 0;
	o->bpf = outside_bpf__open_and_load();
	if (o->bpf && kin_attach(o) == 0)
		o->ring = ring_buffer__new(bpf_map__fd(o->bpf->maps.records), hand_on, o, NULL);
	if (!o->ring)
		code = errno ? errno : EIO;
	/* what we do ourselves is not told */
	if (!code && outside_process(o, getpid(), &self, err) < 0)
		code = errno;
	if (code) {
		outside_close(o);
		return error_set(err, code,
				 "nothing can be watched from outside (that takes eBPF with BTF, "
				 "Linux 5.18, and root): %s",
				 strerror(code));
	}
	*out = o;
	return 0;
}

void outside_close(struct outside *o)
{
	if (!o)
		return;
	vec_each (&o->links, l)
		bpf_link__destroy(l->link);
	for (size_t i = 0; i < 2; i++)
		bpf_link__destroy(o->calls[i]);
	for (size_t i = 0; i < 3; i++)
		bpf_link__destroy(o->kin[i]);
	ring_buffer__free(o->ring);
	outside_bpf__destroy(o->bpf);
	vec_done(&o->links);
	free(o);
}

int outside_process(struct outside *o, int pid, const struct outside_process *p, struct error *err)
{
	uint32_t tgid = (uint32_t)pid;

	if (bpf_map_update_elem(bpf_map__fd(o->bpf->maps.processes), &tgid, p, 0))
		return error_set(err, errno, "process %d cannot be watched from outside: %s", pid,
				 strerror(errno));
	return 0;
}

static bool reads_duration(const struct outside_wish *w)
{
	for (size_t i = 0; i < w->nr_takings; i++)
		if (w->takings[i].from == ADVICE_FROM_DURATION)
			return true;
	return false;
}

static int place_new(struct outside *o, const struct outside_wish *w, uint32_t flags,
		     struct error *err)
{
	struct outside_place p = { .id = ++o->last_id,
				   .flags = flags | (w->is_bagged ? OUTSIDE_BAGGED : 0) |
					    (w->is_open ? OUTSIDE_ANYONE : 0),
				   .nr_takings = (uint32_t)w->nr_takings };
	uint32_t i = 0;

	if (w->nr_takings > OUTSIDE_TAKINGS)
		return error_set(err, E2BIG, "at most %d values are read from outside",
				 OUTSIDE_TAKINGS);
	memcpy(p.takings, w->takings, w->nr_takings * sizeof(*p.takings));
	while (i < OUTSIDE_PLACES && o->places[i].id)
		i++;
	if (i == OUTSIDE_PLACES)
		return error_set(err, E2BIG, "no more than %d places are watched from outside",
				 OUTSIDE_PLACES);
	if (bpf_map_update_elem(bpf_map__fd(o->bpf->maps.places), &i, &p, 0))
		return error_set(err, errno, "it cannot be watched from outside: %s",
				 strerror(errno));
	o->bpf->bss->dropped[i] = o->bpf->bss->passed[i] = 0;
	o->bpf->bss->next[i] = 0;
	o->places[i] = (struct spied){
		.id = p.id, .call = -1, .is_end = w->is_end, .is_timed = reads_duration(w)
	};
	o->places[i].is_open = w->is_open;
	return (int)i;
}

/* --- system calls ----------------------------------------------------------------------------- */

/* Where the chain of places goes on behind the last one; -1 where it is as long as it may be. */
static int chain_put(struct outside *o, uint32_t *first, uint32_t number)
{
	uint32_t *at = first;

	for (int i = 0; i < OUTSIDE_AT_ONE; i++) {
		if (!*at) {
			__atomic_store_n(at, number, __ATOMIC_RELEASE);
			return 0;
		}
		at = &o->bpf->bss->next[(*at - 1) % OUTSIDE_PLACES];
	}
	return -1;
}

static void chain_cut(struct outside *o, uint32_t *first, uint32_t number)
{
	uint32_t *at = first;

	while (*at && *at != number)
		at = &o->bpf->bss->next[(*at - 1) % OUTSIDE_PLACES];
	if (*at)
		__atomic_store_n(at, o->bpf->bss->next[number - 1], __ATOMIC_RELEASE);
}

static uint32_t *first_of(struct outside *o, const struct spied *s)
{
	return s->is_end ? &o->bpf->bss->first_exit[s->call] : &o->bpf->bss->first_enter[s->call];
}

/* Only what is wanted is attached: each costs every system call of this machine something. */
static int calls_attach(struct outside *o, struct error *err)
{
	struct bpf_program *const programs[] = { o->bpf->progs.call_begin, o->bpf->progs.call_end };
	uint8_t is_timed[OUTSIDE_CALLS] = { 0 };
	uint32_t nr_anyone = 0;
	bool wanted[2] = { 0 };

	for (size_t i = 0; i < OUTSIDE_PLACES; i++) {
		const struct spied *s = &o->places[i];

		if (!s->id || s->call < 0)
			continue;
		wanted[s->is_end] = true;
		wanted[0] |= s->is_timed;
		is_timed[s->call] |= s->is_timed;
		nr_anyone += s->is_open;
	}
	memcpy(o->bpf->bss->is_timed, is_timed, sizeof(is_timed));
	o->bpf->bss->nr_anyone = nr_anyone;
	for (size_t i = 0; i < 2; i++) {
		if (wanted[i] == (o->calls[i] != NULL))
			continue;
		bpf_link__destroy(o->calls[i]);
		o->calls[i] = wanted[i] ? bpf_program__attach(programs[i]) : NULL;
		if (wanted[i] && !o->calls[i])
			return error_set(err, errno, "system calls cannot be watched: %s",
					 strerror(errno));
	}
	return 0;
}

int outside_call(struct outside *o, int call, const struct outside_wish *w, struct error *err)
{
	int place = call < 0 || call >= OUTSIDE_CALLS
			    ? error_set(err, EINVAL, "no system call has this number")
			    : place_new(o, w, 0, err),
	    got;

	if (place < 0)
		return place;
	o->places[place].call = call;
	got = chain_put(o, first_of(o, &o->places[place]), (uint32_t)place + 1);
	if (got < 0)
		got = error_set(err, E2BIG,
				"no more than %d tracepoints of queries at once are at "
				"one system call",
				OUTSIDE_AT_ONE);
	else
		got = calls_attach(o, err);
	if (got < 0)
		outside_leave(o, place);
	return got < 0 ? got : place;
}

/* --- functions and static probes -------------------------------------------------------------- */

static int attach_at(struct outside *o, struct bpf_program *program, int pid, const char *path,
		     uint64_t at, uint64_t semaphore, int place, struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = (uint64_t)place,
		    .ref_ctr_offset = semaphore);
	struct bpf_link *link;

	if (o->links.nr >= LINKS_MAX)
		return error_set(err, E2BIG, "no more than %d uprobes", LINKS_MAX);
	link = bpf_program__attach_uprobe_opts(program, pid, path, at, &opts);
	if (!link)
		return error_set(err, errno, "the kernel refuses a uprobe: %s", strerror(errno));
	vec_push(&o->links, (struct held_link){ link, place });
	return 0;
}

static int site_attach(struct outside *o, int pid, int target, const struct probe_function *how,
		       int place, struct error *err)
{
	uint64_t at = 0, semaphore = 0;
	char path[SPOT_PATH];
	int got = spot_offset(pid, how->module, how->site, &at, err);

	if (got >= 0 && how->semaphore)
		got = spot_offset(pid, how->module, how->semaphore, &semaphore, err);
	spot_path(pid, how->module, path);
	return got < 0 ? got
		       : attach_at(o, o->bpf->progs.site, target, path, at, semaphore, place, err);
}

/* Ways out first: an end is told only when the call was seen to begin. */
static int function_attach(struct outside *o, int pid, int target, const struct probe_function *how,
			   bool is_end, int place, struct error *err)
{
	struct spot s = { 0 };
	char path[SPOT_PATH];
	int got = is_end ? spot_find(&s, pid, how->module, how->address, how->size, err)
			 : spot_offset(pid, how->module, how->address, &s.at, err);

	spot_path(pid, how->module, path);
	for (size_t i = 0; i < s.nr_outs && got >= 0; i++)
		got = attach_at(o, o->bpf->progs.leave, target, path, s.at + s.outs[i], 0, place,
				err);
	return got < 0 ? got : attach_at(o, o->bpf->progs.enter, target, path, s.at, 0, place, err);
}

int outside_function(struct outside *o, const struct probe_function *how,
		     const struct outside_wish *w, int pid, const int *pids, size_t nr,
		     struct error *err)
{
	int place = place_new(o, w, w->is_end ? OUTSIDE_KEEPS : 0, err), got = place;

	for (size_t i = 0; got >= 0 && i < (nr ? nr : 1); i++) {
		int target = nr ? pids[i] : -1;

		got = how->is_site ? site_attach(o, pid, target, how, place, err)
				   : function_attach(o, pid, target, how, w->is_end, place, err);
		/* it may have ended meanwhile */
		if (got < 0 && nr && target != pid && !kin_started(target))
			got = 0;
	}
	if (got < 0 && place >= 0)
		outside_leave(o, place);
	return got < 0 ? got : place;
}

void outside_stop(struct outside *o, int place)
{
	struct spied *s = &o->places[place];
	size_t kept = 0;

	if (s->call >= 0) {
		chain_cut(o, first_of(o, s), (uint32_t)place + 1);
		s->call = -1;
		calls_attach(o, &(struct error){ 0 });
	}
	for (size_t i = 0; i < o->links.nr; i++)
		if (o->links.v[i].place == place)
			bpf_link__destroy(o->links.v[i].link);
		else
			o->links.v[kept++] = o->links.v[i];
	o->links.nr = kept;
}

void outside_leave(struct outside *o, int place)
{
	outside_stop(o, place);
	/* what was told by then */
	ring_buffer__consume(o->ring);
	o->places[place] = (struct spied){ 0 };
}

int outside_read(struct outside *o, struct error *err)
{
	int got = ring_buffer__consume(o->ring);

	if (got < 0)
		return error_set(err, -got, "what is watched from outside cannot be read: %s",
				 strerror(-got));
	return 0;
}

uint64_t outside_dropped(const struct outside *o, int place)
{
	return o->bpf->bss->dropped[place];
}

uint64_t outside_passed(const struct outside *o, int place)
{
	return o->bpf->bss->passed[place];
}
