#include "capture/weave/weave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/jvm/target.h"
#include "capture/probe/hold.h"
#include "capture/weave/clock.h"
#include "capture/weave/concern.h"
#include "capture/weave/said.h"
#include "capture/weave/weave_own.h"
#include "query/parse.h"

#define RUN_NS 100 /* what a run of advice in a Java machine takes, about */
#define ROW_CUT 2u /* ADVICE_ROW_CUT of lib/advice/vm.h */
/* slots of a bag up to those that are no query's (lib/advice/promise.h, waiting.h) */
#define QUERIES_MAX ((uint64_t)UINT32_MAX / ADVICE_STAGES - 1)

int weave_open(struct weave **out, const struct weave_options *o, struct error *err)
{
	struct weave *w = mem_zalloc(sizeof(*w));
	char name[256] = { 0 };
	int r = weave_clock_open(&w->clock, err);

	if (r >= 0)
		r = handover_table_open(&w->table, err);
	if (r < 0) {
		weave_close(w);
		return r;
	}
	if (o->host)
		strncpy(name, o->host, sizeof(name) - 1);
	else if (gethostname(name, sizeof(name) - 1) < 0)
		name[0] = 0;
	memcpy(w->host, name, ADVICE_TEXT);
	w->host_hash = str_hash(str_of(name)) ^ (uint64_t)time_now();
	w->session = (uint64_t)time_now();
	far_open(w, o->reaches_others);
	spill_open(w);
	offspring_open(&w->offspring);
	w->is_of_host = o->is_of_host;
	if (o->is_of_host)
		offspring_of(&w->offspring, BIRTHS_ALL);
	w->has_java_sockets = o->has_java_sockets;
	w->run_limit = (uint64_t)(o->overhead * NS_S / 2 / RUN_NS);
	*out = w;
	return 0;
}

static void query_free(struct weave_query *q)
{
	partial_done(&q->partial);
	advice_set_done(&q->advice);
	query_plan_done(&q->plan);
	arena_done(&q->arena);
	free(q);
}

void weave_close(struct weave *w)
{
	if (!w)
		return;
	offspring_hold(&w->offspring, false);
	onlooker_close(w->onlooker);
	vec_each (&w->processes, p)
		process_leave(p);
	vec_each (&w->queries, q)
		query_free(*q);
	vec_done(&w->processes);
	vec_done(&w->queries);
	programs_done(&w->programs);
	far_close(w);
	spill_close(w);
	offspring_close(&w->offspring);
	handover_table_close(&w->table);
	weave_clock_close(&w->clock);
	free(w);
}

/* Installing -----------------------------------------------------------------------------------*/

static void text_set(struct probe_advice *a, enum probe_text which, struct str text)
{
	size_t n = text.n < ADVICE_TEXT ? text.n : ADVICE_TEXT;

	memcpy(a->texts[which], text.p, n);
	a->lengths[which] = (uint8_t)n;
}

struct probe_advice *weave_advice(const struct weave *w, const struct weave_query *q,
				  const struct tracepoint *t, const struct woven *woven)
{
	struct probe_advice *a = mem_zalloc(sizeof(*a));

	a->flags = t->begins_request ? PROBE_ADVICE_EMPTIES : 0;
	text_set(a, PROBE_TEXT_HOST, str_of(w->host));
	text_set(a, PROBE_TEXT_TRACEPOINT, t->name);
	if (woven) {
		a->program = woven->program;
		a->which = (uint32_t)(woven - q->advice.v.v);
	}
	return a;
}

/* What all stages of a query read at a tracepoint: where each read its own, a Java machine would
 * have a place for each, and they would not run in their order. */
static uint64_t inputs_at(const struct weave_query *q, const struct tracepoint *t)
{
	uint64_t inputs = 0;

	vec_each (&q->advice.v, a)
		if (a->tracepoint == t)
			inputs |= a->program.inputs;
	return inputs;
}

/* All places of a tracepoint; without a program it only begins requests, and may be nowhere. */
static void want(struct weave *w, struct woven_process *p, const struct weave_query *q,
		 const struct tracepoint *t, const struct woven *woven, struct buf *told)
{
	struct weave_places places = { 0 };
	struct probe_advice *a = weave_advice(w, q, t, woven);
	struct buf ignored = { 0 };

	places_find(&w->programs, t, inputs_at(q, t), &places, told ? told : &ignored);
	vec_each (&places.v, place)
		if (process_has(p, place))
			process_want(p, place, q->number, woven ? woven->stage : 0, a);
	vec_done(&places.v);
	buf_done(&ignored);
	free(a);
}

static bool has_advice_at(const struct weave_query *q, const struct tracepoint *t)
{
	vec_each (&q->advice.v, a)
		if (a->tracepoint == t)
			return true;
	return false;
}

/* What hands bags on to threads that are made, and from those that end. */
static void want_threads(struct weave *w, struct woven_process *p, uint32_t query)
{
	static const char *const makes[] = { "pthread_create" }, *const waits[] = {
		"pthread_join"
	};
	struct weave_places places = { 0 };
	size_t nr_makes;

	for (size_t i = 0; i < sizeof(makes) / sizeof(*makes); i++)
		places_function(&w->programs, str_of(makes[i]), &places);
	nr_makes = places.v.nr;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		places_function(&w->programs, str_of(waits[i]), &places);
	for (size_t i = 0; i < places.v.nr; i++) {
		struct weave_place *at = &places.v.v[i];

		at->how.is_advised = false;
		at->how.is_birth = i < nr_makes;
		at->how.is_death = i >= nr_makes;
		process_want_helper(p, &at->how, query);
	}
	vec_done(&places.v);
}

/* … and over sockets. */
static void want_sockets(struct weave *w, struct woven_process *p, uint32_t query)
{
	struct carried_calls calls = { 0 };

	carried_calls_find(&calls, &w->programs.functions);
	vec_each (&calls.v, c)
		process_want_helper(p, c, query);
	vec_done(&calls.v);
}

/* Of a Java machine the agent in it knows better what its threads and messages hand on. */
static void want_helpers(struct weave *w, struct woven_process *p, uint32_t query)
{
	if (p->java)
		process_want_carriers(p, query);
	else
		want_threads(w, p, query);
	if (!p->java || w->has_java_sockets)
		want_sockets(w, p, query);
}

static void want_all(struct weave *w, struct woven_process *p, const struct weave_query *q,
		     struct buf *told)
{
	vec_each (&q->advice.v, a)
		want(w, p, q, a->tracepoint, a, told);
	for (size_t i = 0; q->packs && i < q->files.nr; i++)
		if (q->files.v[i].begins_request && !has_advice_at(q, &q->files.v[i]))
			want(w, p, q, &q->files.v[i], NULL, NULL);
	if (q->packs)
		want_helpers(w, p, q->number);
}

static int apply_in(struct weave *w, struct woven_process *p, const struct weave_query *q,
		    struct buf *told, struct error *err)
{
	const struct process_otherwise other = { w, outside_watch };

	return process_apply(p, q->number, &other, told, err);
}

static int install_in(struct weave *w, struct woven_process *p, const struct weave_query *q,
		      struct buf *told, struct error *err)
{
	want_all(w, p, q, told);
	return apply_in(w, p, q, told, err);
}

/* All queries at once: a Java machine that begins is to be asked before it has got far, and each
 * order to it takes its time. */
static int install_all(struct weave *w, struct woven_process *p, struct buf *told,
		       struct error *err)
{
	int r = 0;

	vec_each (&w->queries, q)
		if (!(*q)->is_removed)
			want_all(w, p, *q, told);
	vec_each (&w->queries, q)
		if (r >= 0 && !(*q)->is_removed)
			r = apply_in(w, p, *q, told, err);
	return r;
}

/* Machines that begin are held as long as somebody asks of classes. */
static void hold_tend(struct weave *w)
{
	bool is_wanted = false;

	vec_each (&w->queries, q)
		vec_each (&(*q)->advice.v, a)
			for (size_t i = 0; !(*q)->is_removed && i < a->tracepoint->nr_places; i++)
				is_wanted |= a->tracepoint->places[i].where == WHERE_CLASS;
	offspring_hold(&w->offspring, is_wanted);
}

/* Whether the process has run nothing of its program so far; now it does. */
static bool hold_end(const struct woven_process *p)
{
	struct probe_region *r = p->families.nr ? p->families.v[0].pieces->view.region : NULL;

	return r && hold_wait(r, HOLD_ARRIVES_NS) && hold_let_go(r);
}

int weave_enter(struct weave *w, int pid, struct buf *told, struct error *err)
{
	struct probe_clock clock = weave_clock_now(&w->clock);
	struct woven_process p;
	int r = programs_look(&w->programs, pid, err);

	if (r < 0)
		return r;
	r = process_enter(&p, pid, w->host_hash, w->session, w->table.fd, &clock, err);
	if (r < 0) {
		process_leave(&p);
		return r;
	}
	process_limit(&p, w->run_limit);
	vec_push(&w->processes, p);
	addresses_look(w->table.here, pid);
	offspring_of(&w->offspring, pid);
	hold_tend(w);
	r = install_all(w, &w->processes.v[w->processes.nr - 1], told, err);
	outside_families(w);
	w->was_held = r >= 0 && hold_end(&w->processes.v[w->processes.nr - 1]);
	return r < 0 ? r : 0;
}

bool weave_concerns(const struct weave *w, int pid)
{
	vec_each (&w->processes, p)
		if (p->pid == pid)
			return false;
	vec_each (&w->queries, q)
		vec_each (&(*q)->advice.v, a)
			if (!(*q)->is_removed && concern_is(pid, a->tracepoint))
				return true;
	return false;
}

bool weave_awaits(struct weave *w, int pid)
{
	offspring_look(&w->offspring);
	return offspring_has(&w->offspring, pid);
}

static struct weave_query *query_of(const struct weave *w, uint64_t id)
{
	vec_each (&w->queries, q)
		if ((*q)->id == id)
			return *q;
	return NULL;
}

static int query_make(struct weave_query *q, const struct weave_request *r, struct error *err)
{
	struct queries parsed;
	struct partial_shape shape;
	int e = tracepoints_parse(arena_str(&q->arena, r->file),
				  arena_str(&q->arena, r->tracepoints), &q->arena, &q->files, err);

	if (e == 0)
		e = query_parse(arena_str(&q->arena, r->text), &q->arena, &parsed, err);
	if (e == 0)
		e = query_plan(&q->plan, &parsed, REWRITE_ALL, &q->arena, err);
	if (e == 0)
		e = advice_make(&q->advice, &q->plan, q->number, &q->files, 1, &q->arena, err);
	if (e < 0)
		return e;
	advice_shape_of(&q->plan, &q->shape);
	partial_shape_of(&shape, &q->plan);
	partial_init(&q->partial, &shape);
	q->is_of_calls = true;
	vec_each (&q->advice.v, a) {
		q->packs |= !(a->program.flags & ADVICE_EMITS);
		for (size_t i = 0; i < a->tracepoint->nr_places; i++)
			q->is_of_calls &= a->tracepoint->places[i].where == WHERE_SYSCALL;
	}
	return 0;
}

int weave_install(struct weave *w, const struct weave_request *r, struct buf *told,
		  struct error *err)
{
	struct weave_query *q;
	int e, nr = 0;

	if (query_of(w, r->id))
		return error_set(err, EEXIST, "a query of this number is there already");
	q = mem_zalloc(sizeof(*q));
	q->id = r->id;
	q->number = (uint32_t)(r->id % QUERIES_MAX) + 1;
	q->row = r->row;
	q->ctx = r->ctx;
	e = query_make(q, r, err);
	if (e < 0) {
		query_free(q);
		return e;
	}
	vec_each (&q->advice.warnings, v)
		buf_fmt(told, STR_FMT "\n", STR_ARG(v->text));
	vec_push(&w->queries, q);
	hold_tend(w);
	vec_each (&w->processes, p) {
		e = install_in(w, p, q, told, err);
		if (e < 0)
			break;
		nr += e;
	}
	/* last, so that what was patched for it is not told */
	nr += outside_install(w, q, told);
	said_fold(told);
	if (e < 0 && e != -EPIPE && e != -ESRCH) {
		weave_remove(w, r->id, NULL);
		weave_forget(w, r->id);
		return e;
	}
	return nr;
}

/* Gathering ------------------------------------------------------------------------------------*/

static struct value value_of(struct partial *p, const struct advice_value *v)
{
	double real;

	switch (v->type) {
	case ADVICE_BOOL:
		return value_bool(v->i);
	case ADVICE_INT:
		return value_int(v->i);
	case ADVICE_REAL:
		memcpy(&real, &v->real, sizeof(real));
		return value_double(real);
	case ADVICE_TEXTUAL:
		return value_text(names_add(&p->names, (struct str){ v->text, v->length }));
	}
	return VALUE_NONE;
}

static void total_put(struct partial *p, size_t group, size_t cell, const struct probe_total *from)
{
	struct value v = value_of(p, &from->value);
	struct total half = { .nr = from->nr };

	switch (p->shape.functions[cell]) {
	case AGGREGATE_MIN:
		half.least = v;
		break;
	case AGGREGATE_MAX:
		half.most = v;
		break;
	default:
		half.sum = v;
	}
	partial_add_total(p, group, cell, &half);
}

void weave_row(void *ctx, const struct reaped *row)
{
	struct weave *w = ctx;
	struct value keys[ADVICE_COLUMNS];
	struct weave_query *q = NULL;
	struct partial *p;
	size_t group;

	vec_each (&w->queries, e)
		if ((*e)->number == row->query)
			q = *e;
	if (q && row->held) {
		w->counts.nr_broken += !held_add(&w->held, q->number, row->held, time_tick());
		return;
	}
	if (!q || row->nr_columns < q->partial.shape.nr_keys) {
		w->counts.nr_broken += q != NULL;
		return;
	}
	if (q->row) {
		q->row(q->ctx, row);
		return;
	}
	p = &q->partial;
	for (size_t i = 0; i < row->nr_columns; i++)
		keys[i] = value_of(p, &row->columns[i]);
	p->losses.count[LOSS_ROWS_INCOMPLETE] += row->nr_incomplete;
	p->losses.count[LOSS_ROWS_CUT] += row->flags & ROW_CUT ? row->times : 0;
	group = partial_group(p, keys, row->times);
	for (size_t i = 0; group != GROUP_NONE && i < p->shape.nr_cells; i++) {
		uint32_t total = q->shape.total_of[i], column = q->shape.column_of[i];

		if (total != UINT32_MAX && total < row->nr_totals)
			total_put(p, group, i, &row->totals[total]);
		else if (total == UINT32_MAX && column < row->nr_columns)
			partial_add(p, group, i, keys[column], row->times);
		else
			w->counts.nr_broken++;
	}
}

/* What became of bags on connections since it was told last. */
static void carried_tell(struct weave *w, struct losses *lost)
{
	struct carry_counts sum = { 0 };

	vec_each (&w->processes, p)
		vec_each (&p->families, f) {
			struct carry_counts now = f->reap.view.region->carried;

			for (size_t i = 0; i < sizeof(sum) / 8; i++)
				((uint64_t *)&sum)[i] +=
					((uint64_t *)&now)[i] - ((uint64_t *)&f->carried)[i];
			f->carried = now;
		}
	w->health.nr_bags_sent += sum.nr_sent;
	w->health.nr_bags_received += sum.nr_received;
	lost->count[LOSS_BAGS_GONE] = sum.nr_gone + sum.nr_not_put;
	lost->count[LOSS_BAGS_UNPLACED] = sum.nr_unplaced + sum.nr_crossed + sum.nr_beyond;
	lost->count[LOSS_BAGS_DOUBTED] = sum.nr_doubted;
	lost->count[LOSS_BAGS_GUESSED] = sum.nr_guessed;
	lost->count[LOSS_BAGS_MIXED] = sum.nr_batched;
	lost->count[LOSS_BAGS_CORRECTED] = sum.nr_corrected;
	lost->count[LOSS_BAGS_FOREIGN] = sum.nr_foreign;
	lost->count[LOSS_BAGS_UNKEPT] = sum.nr_unkept;
	lost->count[LOSS_BAGS_SHARED] = sum.nr_shared;
	lost->count[LOSS_MACHINES_MISSED] = w->nr_unentered;
	lost->count[LOSS_MACHINES_LATE] = w->nr_late;
	w->nr_unentered = w->nr_late = 0;
}

/* Places that were left alone since, of this query. */
static uint64_t places_left(const struct weave *w, const struct weave_query *q)
{
	uint64_t nr = 0;

	vec_each (&w->processes, p)
		vec_each (&p->stitches, s)
			if (s->query == q->number && s->advice)
				nr += p->functions.v[s->function].nr_left;
	return nr;
}

static void left_told(struct weave *w)
{
	vec_each (&w->processes, p)
		vec_each (&p->functions, f)
			f->nr_left = 0;
}

/* What is missing is missing from all queries that it may have been of. */
static void counts_tell(struct weave *w)
{
	const struct probe_tally *t = &w->counts.tally;
	struct losses lost = { 0 };

	lost.count[LOSS_ROWS_DROPPED] = t->nr_dropped;
	lost.count[LOSS_TUPLES_LOST] = t->nr_lost;
	lost.count[LOSS_VALUES_UNREAD] = t->nr_unread;
	lost.count[LOSS_VALUES_NO_NUMBER] = t->nr_mistyped;
	lost.count[LOSS_ADVICE_CUT] = t->nr_beyond + t->nr_damaged;
	lost.count[LOSS_ADVICE_UNSEEN] = w->counts.nr_unseen;
	lost.count[LOSS_ADVICE_LIMITED] = w->counts.nr_limited;
	lost.count[LOSS_ADVICE_ASLEEP] = t->nr_asleep;
	lost.count[LOSS_ROWS_BROKEN] = w->counts.nr_broken;
	carried_tell(w, &lost);
	losses_add(&w->health.losses, &lost);
	vec_each (&w->queries, q) {
		losses_add(&(*q)->partial.losses, &lost);
		(*q)->partial.losses.count[LOSS_PLACES_LEFT] += places_left(w, *q);
		outside_losses(w, *q);
	}
	left_told(w);
	w->health.nr_runs += t->nr_runs;
	w->health.nr_emitted += t->nr_emitted;
	w->health.nr_packed += t->nr_packed;
	w->health.nr_spilled += t->nr_spilled;
	w->counts = (struct reap_counts){ 0 };
}

static bool has_query(const struct weave *w)
{
	vec_each (&w->queries, q)
		if (!(*q)->is_removed)
			return true;
	return false;
}

static void process_forget(struct weave *w, int pid)
{
	for (size_t i = w->processes.nr; i-- > 0;)
		if (w->processes.v[i].pid == pid) {
			offspring_gone(&w->offspring, pid);
			process_leave(&w->processes.v[i]);
			w->processes.v[i] = w->processes.v[--w->processes.nr];
		}
}

/* Whether our code is in there: it is gone when the process becomes another program. */
static bool is_in(const struct woven_process *p)
{
	uint64_t magic = 0;

	for (size_t i = 0; i < probe_nr_regions(p->probe); i++) {
		const struct probe_view v = probe_region(p->probe, i);
		struct iovec to = { &magic, sizeof(magic) };
		struct iovec from = { (void *)(uintptr_t)v.region->here, sizeof(magic) };

		if (v.pid == p->pid &&
		    process_vm_readv(p->pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(magic) &&
		    magic == PROBE_REGION_MAGIC)
			return true;
	}
	return false;
}

static bool has_advice(const struct woven_process *p)
{
	vec_each (&p->stitches, s)
		if (s->advice)
			return true;
	return false;
}

/* What a process was is told to its end; what it has become is watched anew. A native program that
 * is started again is followed where it is patched (capture/probe/members.c). */
static void changed_enter(struct weave *w)
{
	int pid;

	while ((pid = offspring_changed(&w->offspring)))
		vec_each (&w->processes, p) {
			if (p->pid != pid || is_in(p) || (has_advice(p) && !jvm_is_launcher(pid)))
				continue;
			vec_each (&p->families, f) {
				reap_rows(&f->reap, weave_row, weave_spilled, w, &w->counts);
				reap_groups(&f->reap, true, weave_row, w, &w->counts);
			}
			process_forget(w, pid);
			offspring_anew(&w->offspring, pid);
			break;
		}
}

/* Machines that processes here have started: at once, before they do what is asked of. */
static void offspring_enter(struct weave *w)
{
	struct error err = { 0 };
	struct buf told = { 0 };
	int pid;

	offspring_look(&w->offspring);
	changed_enter(w);
	while (has_query(w) && (pid = offspring_next(&w->offspring))) {
		if (weave_concerns(w, pid)) {
			bool is_in = weave_enter(w, pid, &told, &err) >= 0;

			if (!is_in)
				process_forget(w, pid);
			w->nr_late += is_in && !w->was_held;
			w->nr_unentered += !is_in && !offspring_again(&w->offspring);
		}
		offspring_look(&w->offspring);
	}
	w->nr_unentered += w->offspring.nr_gone;
	w->offspring.nr_gone = 0;
	buf_done(&told);
}

int weave_gather(struct weave *w, bool with_groups, struct error *err)
{
	struct probe_clock clock = weave_clock_now(&w->clock);
	bool is_over = true;
	int r = 0;

	vec_each (&w->processes, p) {
		r = process_tend(p, &clock, err);
		if (r < 0)
			return r;
		is_over &= p->has_ended;
		vec_each (&p->families, f) {
			reap_rows(&f->reap, weave_row, weave_spilled, w, &w->counts);
			if (with_groups || p->has_ended)
				reap_groups(&f->reap, p->has_ended, weave_row, w, &w->counts);
		}
	}
	r = outside_tend(w, err);
	if (r < 0)
		return r;
	far_tend(w);
	spill_tend(w, is_over ? SPILLS_ALL : 0);
	counts_tell(w);
	for (size_t i = w->processes.nr; i-- > 0;)
		if (w->processes.v[i].has_ended) {
			process_forget(w, w->processes.v[i].pid);
			w->nr_ended++;
		}
	offspring_enter(w);
	return w->nr_ended && !w->processes.nr;
}

int weave_remove(struct weave *w, uint64_t id, struct error *err)
{
	struct weave_query *q = query_of(w, id);
	struct error ignored = { 0 };
	int r = 0;

	if (!q)
		return error_set(err, ENOENT, "no query of this number is there");
	vec_each (&w->processes, p) {
		int e = process_remove(p, q->number, err ? err : &ignored);

		r = e < 0 ? e : r;
	}
	q->is_removed = true;
	hold_tend(w);
	outside_remove(w, q);
	/* both tables */
	weave_gather(w, true, &ignored);
	weave_gather(w, true, &ignored);
	spill_tend(w, q->number);
	counts_tell(w);
	return r;
}

void weave_forget(struct weave *w, uint64_t id)
{
	for (size_t i = w->queries.nr; i-- > 0;)
		if (w->queries.v[i]->id == id && w->queries.v[i]->is_removed) {
			query_free(w->queries.v[i]);
			w->queries.v[i] = w->queries.v[--w->queries.nr];
		}
}

struct partial *weave_partial(struct weave *w, uint64_t id)
{
	struct weave_query *q = query_of(w, id);

	return q ? &q->partial : NULL;
}

const struct plan *weave_plan(const struct weave *w, uint64_t id)
{
	const struct weave_query *q = query_of(w, id);

	return q ? &q->plan : NULL;
}

void weave_health(const struct weave *w, struct weave_health *h)
{
	*h = w->health;
	h->nr_processes = (uint32_t)w->processes.nr;
	h->nr_queries = (uint32_t)w->queries.nr;
	h->nr_unfinished = spills_waiting(w->spills);
	vec_each (&w->processes, p) {
		h->nr_families += (uint32_t)p->families.nr;
		vec_each (&p->stitches, s)
			h->nr_places += s->advice && !s->is_beside;
	}
	h->nr_outside = (uint32_t)(w->onlooker ? onlooker_nr_places(w->onlooker) : 0);
	h->nr_places += h->nr_outside;
}
