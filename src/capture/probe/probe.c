#include "capture/probe/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/probe/cost.h"
#include "capture/probe/guardian.h"
#include "capture/probe/kin.h"
#include "capture/probe/opened.h"
#include "capture/probe/relocate.h"
#include "capture/probe/rings.h"
#include "capture/probe/ticks.h"

#define UNTIL_NS 1000000 /* what ended so long ago is in its ring */

struct probe {
	struct probe_options options;
	int socket;
	pid_t guardian;
	struct guardian_shared *shared;
	struct ticks ticks;
	VEC(struct rings) families;
	struct sites sites;
	struct rings_counts counts;
	uint64_t nr_unseen_before, nr_generated_before,
		nr_units_before; /* of families that are gone */
	struct cost cost;
};

bool probe_is_built(void)
{
	return true;
}

static int guardian_start(struct probe *p, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "cannot make a socket: %s", strerror(errno));
	p->guardian = fork();
	if (p->guardian == 0) {
		close(pair[0]);
		guardian_run(pair[1], p->shared);
	}
	close(pair[1]);
	p->socket = pair[0];
	if (p->guardian < 0)
		return error_set(err, errno, "cannot start a process: %s", strerror(errno));
	return 0;
}

/* One message; a file may come with it. */
static int message(struct probe *p, struct guardian_answer *a, int *fd, int flags)
{
	struct iovec part = { a, sizeof(*a) };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(p->socket, &m, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	if ((size_t)n < sizeof(*a) &&
	    guardian_receive(p->socket, (char *)a + n, sizeof(*a) - (size_t)n) < 0)
		return -EPIPE;
	return 1;
}

static int region_take(struct probe *p, const struct guardian_answer *a, int fd, struct error *err)
{
	struct rings r;
	int e = rings_open(&r, fd, a->bytes, a->code, err);

	if (e < 0)
		return e;
	r.number = (uint32_t)p->families.nr;
	r.pid = a->code;
	r.only = p->options.follows ? 0 : p->options.pid;
	vec_push(&p->families, r);
	return 0;
}

/* Takes what has come; with kind 0 only what is there already. */
static int answer_wait(struct probe *p, uint32_t kind, struct guardian_answer *a, struct error *err)
{
	int fd, r;

	for (;;) {
		r = message(p, a, &fd, kind ? 0 : MSG_DONTWAIT);
		if (r < 0)
			return error_set(err, EPIPE, "the process that patches has ended");
		if (r == 0)
			return 0;
		if (a->kind == GUARDIAN_REGION) {
			r = region_take(p, a, fd, err);
			if (r < 0)
				return r;
		} else if (a->kind == GUARDIAN_GONE) {
			if (a->nr && a->nr <= p->families.nr)
				p->families.v[a->nr - 1].is_over = true;
		} else if (a->kind == kind) {
			a->msg[sizeof(a->msg) - 1] = 0;
			return a->code ? error_set(err, a->code, "%s", a->msg) : 0;
		} else {
			return error_set(err, EPIPE, "the process that patches is out of step");
		}
	}
}

static int ask(struct probe *p, struct guardian_ask *a, const void *body, struct error *err)
{
	if (p->socket < 0 || guardian_send(p->socket, a, sizeof(*a)) < 0 ||
	    guardian_send(p->socket, body, a->bytes) < 0)
		return error_set(err, EPIPE, "the process that patches has ended");
	return 0;
}

int probe_open(struct probe **out, const struct probe_options *o, struct error *err)
{
	struct guardian_ask a = { .kind = GUARDIAN_OPEN,
				  .pid = o->pid,
				  .root = o->root,
				  .follows = o->follows,
				  .max_bytes = o->max_bytes };
	struct probe *p = mem_zalloc(sizeof(*p));
	struct guardian_answer s;
	int r;

	p->options = *o;
	p->socket = -1;
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		free(p);
		return error_set(err, errno, "cannot map memory: %s", strerror(errno));
	}
	r = ticks_init(&p->ticks, err);
	if (r == 0) {
		p->shared->handover = o->handover;
		p->shared->ticks_per_ns = 1 / p->ticks.rate;
		p->cost = cost_measure(&p->ticks);
		r = guardian_start(p, err);
	}
	if (r == 0)
		r = ask(p, &a, NULL, err);
	if (r == 0)
		r = answer_wait(p, GUARDIAN_OPEN, &s, err);
	if (r < 0) {
		probe_close(p);
		return r;
	}
	*out = p;
	return 0;
}

/* True when it did not end as it should. */
static bool guardian_end(struct probe *p)
{
	int status = 0;

	if (p->socket >= 0)
		close(p->socket);
	p->socket = -1;
	if (p->guardian > 0)
		while (waitpid(p->guardian, &status, 0) < 0 && errno == EINTR)
			;
	p->guardian = 0;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

void probe_close(struct probe *p)
{
	if (!p)
		return;
	if (guardian_end(p) && p->families.nr) {
		/* it was killed: another one finds what it has left behind */
		struct guardian_ask a = { .kind = GUARDIAN_OPEN, .pid = p->options.pid };
		struct guardian_answer s;

		if (guardian_start(p, NULL) == 0 && ask(p, &a, NULL, NULL) == 0)
			answer_wait(p, GUARDIAN_OPEN, &s, NULL);
		guardian_end(p);
	}
	vec_each (&p->families, f)
		rings_close(f);
	vec_done(&p->families);
	sites_done(&p->sites);
	map_done(&p->counts.processes);
	ticks_done(&p->ticks);
	munmap(p->shared, sizeof(*p->shared));
	free(p);
}

static struct probe_taking taking(const struct probe_take *t, bool is_mark)
{
	struct probe_taking k = { .from = (uint8_t)t->from,
				  .argument = t->argument,
				  .nr_loads = t->nr_loads,
				  .bytes = t->bytes,
				  .is_mark = is_mark || t->from != TAKE_NOTHING };

	memcpy(k.offsets, t->offsets, sizeof(k.offsets));
	return k;
}

static struct guardian_function function_of(const struct probe_function *f, uint32_t module)
{
	struct guardian_function g = { .address = f->address,
				       .size = f->size,
				       .id = f->id,
				       .site = f->site,
				       .semaphore = f->semaphore,
				       .module = module,
				       .what = f->id,
				       .taken = { taking(&f->at_entry, f->is_mark_at_entry),
						  taking(&f->at_exit, f->is_mark_at_exit),
						  .carry = f->carry, .arguments = f->arguments } };

	g.what |= g.taken.at_entry.is_mark ? PROBE_WANT_ENTRY : 0;
	g.what |= g.taken.at_exit.is_mark ? PROBE_WANT_EXIT : 0;
	g.what |= f->is_call ? 0 : PROBE_WANT_SILENT;
	if (f->is_site)
		g.what = f->id | PROBE_WANT_SITE;
	g.what |= f->is_advised ? PROBE_WANT_ADVICE : 0;
	g.what |= f->is_birth ? PROBE_WANT_BIRTH : 0;
	g.what |= f->is_death ? PROBE_WANT_DEATH : 0;
	g.what |= f->carry ? PROBE_WANT_CARRY : 0;
	g.what |= f->is_unit ? PROBE_WANT_UNIT : 0;
	return g;
}

/* Where only patching is not possible. */
static bool has_another_way(enum probe_why why)
{
	return why != WHY_NONE && why != WHY_UNMAPPED && why != WHY_OUTSIDE && why != WHY_TWICE &&
	       why != WHY_LEAVES && why != WHY_WALKS && !(why & WHY_FINAL);
}

int probe_add(struct probe *p, const struct probe_function *v, size_t nr,
	      struct probe_verdict *verdicts, struct error *err)
{
	struct guardian_ask a = { .kind = GUARDIAN_ADD, .nr = (uint32_t)nr };
	cleanup(free) uint8_t *whys = mem_alloc(nr + 1);
	struct buf body = { 0 }, text = { 0 };
	struct guardian_answer s;
	int r;

	if (nr > PROBE_FUNCTIONS)
		return error_set(err, E2BIG, "too many functions at once");
	for (size_t i = 0; i < nr; i++) {
		struct guardian_function g = function_of(&v[i], (uint32_t)text.n);

		buf_add(&body, (struct str){ (const char *)&g, sizeof(g) });
		buf_add(&text, (struct str){ v[i].module, strlen(v[i].module) + 1 });
	}
	buf_char(&text, 0);
	buf_add(&body, buf_str(&text));
	a.bytes = body.n;
	r = ask(p, &a, body.p, err);
	buf_done(&body);
	buf_done(&text);
	if (r == 0)
		r = answer_wait(p, GUARDIAN_ADD, &s, err);
	if (r < 0 && r != -EPIPE && guardian_receive(p->socket, whys, nr) == 0)
		return r;
	if (r == 0 && guardian_receive(p->socket, whys, nr) < 0)
		r = error_set(err, EPIPE, "the process that patches has ended");
	for (size_t i = 0; r == 0 && i < nr; i++)
		verdicts[i] = (struct probe_verdict){ whys[i] ? PROBE_REFUSED : PROBE_PATCHED,
						      probe_why_text(whys[i] & ~WHY_FINAL),
						      has_another_way(whys[i]) };
	return r;
}

int probe_remove(struct probe *p, const uint32_t *ids, size_t nr, struct error *err)
{
	struct guardian_ask a = { .kind = GUARDIAN_REMOVE,
				  .nr = (uint32_t)nr,
				  .bytes = nr * sizeof(*ids) };
	struct guardian_answer s;
	int r = ask(p, &a, ids, err);

	return r < 0 ? r : answer_wait(p, GUARDIAN_REMOVE, &s, err);
}

static bool has_ended(const struct probe *p)
{
	if (p->options.follows && p->shared->nr_members)
		return false;
	return !kin_started(p->options.pid) && !(p->options.root && kin_started(p->options.root));
}

void probe_pause(struct probe *p, bool is_paused)
{
	uint64_t until = ticks_now() + (uint64_t)(GUARDIAN_ALIVE_NS * p->shared->ticks_per_ns);

	/* the guardian, which renews it, is told first */
	__atomic_store_n(&p->shared->is_paused, is_paused, __ATOMIC_SEQ_CST);
	vec_each (&p->families, f)
		if (f->region)
			__atomic_store_n(&f->region->alive_until, is_paused ? 0 : until,
					 __ATOMIC_RELAXED);
}

int probe_read(struct probe *p, const struct probe_reader *r, int64_t *until, struct error *err)
{
	bool ended = has_ended(p);
	uint64_t tick = ticks_now();
	struct guardian_answer s;
	int e = answer_wait(p, 0, &s, err);

	p->counts.nr_unseen = p->nr_unseen_before;
	p->counts.nr_generated = p->nr_generated_before;
	for (size_t i = 0; e >= 0 && i < p->families.nr; i++) {
		struct rings *f = &p->families.v[i];

		if (!f->region)
			continue;
		e = rings_read(f, &p->ticks, &p->sites, r, &p->counts, err);
		p->counts.nr_unseen += f->region->nr_unseen - f->nr_unseen;
		p->counts.nr_generated += f->region->nr_generated - f->nr_generated;
		if (f->is_over && p->options.forgets) {
			p->nr_unseen_before += f->region->nr_unseen - f->nr_unseen;
			p->nr_generated_before += f->region->nr_generated - f->nr_generated;
			p->nr_units_before += f->region->nr_units;
			rings_close(f);
		}
	}
	if (until)
		*until = ticks_ns(&p->ticks, tick) - (ended ? 0 : UNTIL_NS);
	ticks_keep(&p->ticks);
	return e < 0 ? e : ended;
}

int probe_read_open(struct probe *p, const struct probe_reader *r, struct error *err)
{
	int e = 0;

	for (size_t i = 0; e >= 0 && i < p->families.nr; i++)
		if (p->families.v[i].region)
			e = opened_read(&p->families.v[i], &p->ticks, &p->sites, r, err);
	return e < 0 ? e : 0;
}

bool probe_site(const struct probe *p, uint32_t site, const char **module, uint64_t *address)
{
	if (!site || site > p->sites.v.nr || !p->sites.v.v[site - 1].module)
		return false;
	*module = p->sites.v.v[site - 1].module;
	*address = p->sites.v.v[site - 1].address;
	return true;
}

static uint64_t patcher_ns(const struct probe *p)
{
	struct timespec t;
	clockid_t clock;

	if (p->guardian <= 0 || clock_getcpuclockid(p->guardian, &clock) ||
	    clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t nr_units(const struct probe *p)
{
	uint64_t nr = p->nr_units_before;

	vec_each (&p->families, f)
		if (f->region)
			nr += __atomic_load_n(&f->region->nr_units, __ATOMIC_RELAXED);
	return nr;
}

void probe_count(const struct probe *p, struct probe_counts *c)
{
	*c = (struct probe_counts){ .nr_calls = p->counts.nr_calls,
				    .nr_marks = p->counts.nr_marks,
				    .nr_dropped = p->counts.nr_dropped + p->counts.nr_unseen,
				    .nr_too_deep = p->counts.nr_too_deep,
				    .nr_generated = p->counts.nr_generated,
				    .nr_unwound = p->counts.nr_unwound,
				    .nr_processes = p->counts.processes.nr,
				    .nr_threads = p->counts.nr_threads,
				    .held_ns = p->shared->held_ns,
				    .lost_ns = p->shared->lost_ns,
				    .patcher_ns = patcher_ns(p),
				    .nr_units = nr_units(p),
				    .nr_processes_refused = p->shared->nr_refused,
				    .nr_damaged = p->counts.nr_damaged,
				    .guest_ns = (uint64_t)((double)p->counts.nr_records *
							   p->cost.call_ns) };
}

size_t probe_nr_regions(const struct probe *p)
{
	return p->families.nr;
}

struct probe_view probe_region(const struct probe *p, size_t i)
{
	const struct rings *r = &p->families.v[i];

	return (struct probe_view){ r->region, r->nr, r->pid };
}

double probe_cost_ns(const struct probe *p)
{
	return p->cost.call_ns;
}

double probe_paused_ns(const struct probe *p)
{
	return p->cost.paused_ns;
}
