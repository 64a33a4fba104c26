#include "capture/weave/onlooker.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "capture/outside.h"
#include "capture/probe/kin.h"
#include "capture/weave/clock.h"
#include "capture/weave/sharing.h"
#include "lib/advice/bag.h"
#include "lib/advice/memory.h"
#include "lib/advice/promise.h"
#include "lib/advice/vm.h"
#include "model/loss.h"
#include "wire/outside_record.h"

#define KIN_MAX 4096
/* What breakpoints of one place may take of a processor is a fifth, at 20 us each. */
#define PASSES_MAX 10000
#define LOOK_NS NS_S

_Static_assert(offsetof(struct bag, entries) == OUTSIDE_BAG_HEAD && BAG_BYTES == OUTSIDE_BAG_BYTES,
	       "bags");

/* One piece of advice at one place. */
struct remark {
	int place;
	struct probe_advice advice;
	/* of a function: which one, where all that have its file are watched */
	bool is_wide;
	dev_t device;
	ino_t file;
	uint64_t address;
	enum piece_moment moment;
	uint64_t nr_dropped, nr_unread; /* as they were told last; bags */
	uint64_t now_unread;
	uint64_t nr_passed; /* when it was last looked at */
	bool is_left, is_left_told;
};

struct group {
	char name[ADVICE_TEXT + 1]; /* of the program */
	int pid;
};

struct onlooker {
	struct outside *outside;
	struct onlooker_options options;
	struct map by_place; /* 1 + position of the remark */
	VEC(struct remark *) remarks;
	VEC(struct group) groups; /* by number, from 1 on */
	int64_t looked;           /* when, at how often breakpoints are passed */
	int64_t wall;             /* how far the wall clock is ahead */
	struct bag bag;
};

static void record_take(void *to, const struct outside_record *r, size_t bytes);

int onlooker_open(struct onlooker **out, const struct onlooker_options *opts, struct error *err)
{
	struct onlooker *o = mem_zalloc(sizeof(*o));
	int got;

	o->options = *opts;
	got = outside_open(&o->outside, record_take, o, err);
	if (got < 0) {
		onlooker_close(o);
		return got;
	}
	*out = o;
	return 0;
}

void onlooker_close(struct onlooker *o)
{
	if (!o)
		return;
	outside_close(o->outside);
	vec_each (&o->remarks, r)
		free(*r);
	vec_done(&o->remarks);
	vec_done(&o->groups);
	map_done(&o->by_place);
	free(o);
}

/* --- processes -------------------------------------------------------------------------------- */

static bool is_same_program(int a, int b)
{
	char path[32], targets[2][PATH_MAX];
	ssize_t n[2];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/exe", i ? b : a);
		n[i] = readlink(path, targets[i], PATH_MAX);
	}
	return n[0] > 0 && n[0] == n[1] && memcmp(targets[0], targets[1], (size_t)n[0]) == 0;
}

/* Children that it made before anybody looked. Those that have another program by now have other
 * memory, and are families of their own when they were entered. */
static void kin_add(struct onlooker *o, int pid, const struct outside_process *p)
{
	int *pids = mem_alloc(mem_bytes(KIN_MAX, sizeof(*pids)));
	size_t nr = kin_below(pid, pids, KIN_MAX);
	const struct outside_process other = { .group = 0 };
	struct error ignored = { 0 };

	for (size_t i = 0; i < nr; i++) {
		bool is_known = false;

		vec_each (&o->groups, g)
			is_known |= g->pid == pids[i];
		if (!is_known)
			outside_process(o->outside, pids[i],
					is_same_program(pid, pids[i]) ? p : &other, &ignored);
	}
	free(pids);
}

void onlooker_family(struct onlooker *o, struct probe_view view, const char *name)
{
	const struct probe_region *g = view.region;
	struct outside_process p = { .own = g->own,
				     .session = o->options.session,
				     .code = g->code,
				     .code_bytes = g->code_bytes,
				     .tid_offset = g->tid_offset };
	struct group new = { .pid = view.pid };
	struct error ignored = { 0 };

	memcpy(new.name, name, strnlen(name, ADVICE_TEXT));
	vec_push(&o->groups, new);
	p.group = (uint32_t)o->groups.nr;
	outside_process(o->outside, view.pid, &p, &ignored);
	kin_add(o, view.pid, &p);
}

/* --- places ----------------------------------------------------------------------------------- */

/* What is to be told of it; NULL where that cannot be. */
static struct remark *remark_new(const struct probe_advice *a, struct outside_wish *of,
				 struct error *err)
{
	struct remark *r;

	if (a->flags & PROBE_ADVICE_EMPTIES) {
		error_set(err, EINVAL, "no request can begin where it is watched from outside");
		return NULL;
	}
	if (!(a->program.flags & ADVICE_EMITS)) {
		error_set(err, EINVAL,
			  "it cannot pack where it is watched from outside, as its "
			  "thread would have gone on");
		return NULL;
	}
	if (a->nr_inputs > OUTSIDE_TAKINGS) {
		error_set(err, E2BIG, "at most %d values are read from outside", OUTSIDE_TAKINGS);
		return NULL;
	}
	r = mem_zalloc(sizeof(*r));
	r->advice = *a;
	*of = (struct outside_wish){ .is_bagged = a->program.nr_children > 0,
				     .nr_takings = a->nr_inputs };
	memcpy(of->takings, a->inputs, a->nr_inputs * sizeof(*of->takings));
	return r;
}

static int remark_add(struct onlooker *o, struct remark *r)
{
	int place = r->place;

	if (place < 0) {
		free(r);
		return place;
	}
	vec_push(&o->remarks, r);
	*map_at(&o->by_place, (uint64_t)place) = o->remarks.nr;
	return 0;
}

int onlooker_call(struct onlooker *o, const struct tracepoint_place *at, bool is_open,
		  const struct probe_advice *a, struct error *err)
{
	struct outside_wish of;
	struct remark *r = remark_new(a, &of, err);

	if (!r)
		return -err->code;
	of.is_end = at->moment == MOMENT_EXIT;
	of.is_open = is_open;
	r->place = outside_call(o->outside, at->call, &of, err);
	return remark_add(o, r);
}

/* The same advice at the same function of another process with the same file. */
static bool is_there(const struct onlooker *o, const struct remark *new)
{
	vec_each (&o->remarks, e) {
		const struct remark *r = *e;

		if (r->is_wide && r->device == new->device && r->file == new->file &&
		    r->address == new->address && r->moment == new->moment &&
		    r->advice.program.query == new->advice.program.query &&
		    r->advice.program.stage == new->advice.program.stage)
			return true;
	}
	return false;
}

int onlooker_function(struct onlooker *o, int pid, const struct probe_function *how,
		      enum piece_moment moment, const struct probe_advice *a, struct error *err)
{
	struct outside_wish of;
	struct remark *r = remark_new(a, &of, err);
	struct sharing s;

	if (!r)
		return -err->code;
	sharing_look(&s, pid, how->module);
	of.is_end = moment == PIECE_EXIT;
	r->is_wide = !s.nr_strangers;
	r->device = s.device;
	r->file = s.file;
	r->address = how->is_site ? how->site : how->address;
	r->moment = moment;
	if (moment == PIECE_UNWOUND)
		r->place = error_set(err, ENOTSUP, "exceptions are not seen from outside");
	else if (r->is_wide && is_there(o, r)) {
		sharing_done(&s);
		free(r);
		return 0;
	} else
		r->place = outside_function(o->outside, how, &of, pid, s.ours.v,
					    r->is_wide ? 0 : s.ours.nr, err);
	sharing_done(&s);
	return remark_add(o, r);
}

static void places_number(struct onlooker *o)
{
	map_clear(&o->by_place);
	for (size_t i = 0; i < o->remarks.nr; i++)
		*map_at(&o->by_place, (uint64_t)o->remarks.v[i]->place) = i + 1;
}

void onlooker_remove(struct onlooker *o, uint32_t query)
{
	for (size_t i = o->remarks.nr; i-- > 0;) {
		struct remark *r = o->remarks.v[i];

		if (r->advice.program.query != query)
			continue;
		outside_leave(o->outside, r->place);
		free(r);
		o->remarks.v[i] = o->remarks.v[--o->remarks.nr];
		places_number(o);
	}
}

/* --- what was told ---------------------------------------------------------------------------- */

static struct advice_value text_of(const char *text, size_t length)
{
	return (struct advice_value){ .type = ADVICE_TEXTUAL,
				      .length = (uint16_t)length,
				      .text = text };
}

static void value_of(const struct remark *r, const struct outside_record *from, size_t i,
		     struct advice_value *v)
{
	uint64_t bits = from->values[i], which = bits & 0xff, length = bits >> 8;
	uint8_t memory = memory_known(r->advice.inputs[i].memory);

	*v = (struct advice_value){ .type = ADVICE_NULL };
	if (!(from->was_read >> i & 1))
		return;
	if (memory != ADVICE_CHARS) {
		memory_number(memory, bits, v);
		return;
	}
	if (which >= OUTSIDE_TEXTS)
		return;
	*v = text_of(from->texts[which], length < ADVICE_TEXT ? length : ADVICE_TEXT);
	v->flags = length > ADVICE_TEXT ? ADVICE_CUT : 0;
}

static void inputs_fill(const struct onlooker *o, const struct remark *r,
			const struct outside_record *from, struct advice_value *v)
{
	const char *name = from->name;
	size_t length = strnlen(from->name, OUTSIDE_NAME);

	if (from->group && from->group <= o->groups.nr) {
		name = o->groups.v[from->group - 1].name;
		length = strlen(name);
	}
	v[ADVICE_INPUT_HOST] = text_of(o->options.host, strnlen(o->options.host, ADVICE_TEXT));
	v[ADVICE_INPUT_PROC_NAME] = text_of(name, length);
	v[ADVICE_INPUT_TRACEPOINT] = text_of(r->advice.texts[PROBE_TEXT_TRACEPOINT],
					     r->advice.lengths[PROBE_TEXT_TRACEPOINT]);
	v[ADVICE_INPUT_TIME] =
		(struct advice_value){ .type = ADVICE_INT, .i = (int64_t)from->ns + o->wall };
	v[ADVICE_INPUT_PROC_ID] = (struct advice_value){ .type = ADVICE_INT, .i = from->pid };
	v[ADVICE_INPUT_THREAD] = (struct advice_value){ .type = ADVICE_INT, .i = from->tid };
	for (size_t i = 0; i < r->advice.nr_inputs; i++) {
		struct advice_value *to = &v[r->advice.numbers[i]];

		value_of(r, from, i, to);
		o->options.counts->tally.nr_unread += to->type == ADVICE_NULL;
	}
}

/* False: what the thread carried is not known, and all that is joined may lack something. */
static bool bag_fill(struct onlooker *o, const struct outside_record *from, size_t bytes)
{
	bag_begin(&o->bag);
	if (from->bag_is == OUTSIDE_BAG_EMPTY)
		return true;
	if (from->bag_is == OUTSIDE_BAG_COPIED && bag_deserialize(&o->bag, from->bag, bytes))
		return true;
	bag_begin(&o->bag);
	o->bag.flags = BAG_ALL_LOST;
	return false;
}

/* What it reads has not come from another host yet: it is run when it has. */
static void run_hold(struct onlooker *o, const struct probe_advice *a,
		     const struct advice_value *inputs, uint64_t time, size_t bytes)
{
	struct reaped_run run = {
		.which = a->which, .time_ns = time, .bag = &o->bag, .bag_bytes = bytes
	};

	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		if (a->program.inputs >> i & 1)
			run.inputs[run.nr_inputs++] = inputs[i];
	o->options.row(o->options.to, &(struct reaped){ .query = a->program.query, .held = &run });
}

static void counts_add(struct probe_tally *t, const struct advice_out *out)
{
	t->nr_runs++;
	t->nr_emitted += out->nr_emitted;
	t->nr_incomplete += out->nr_incomplete;
	t->nr_cut += out->nr_cut;
	t->nr_mistyped += out->nr_mistyped;
	t->nr_beyond += out->nr_beyond;
	t->nr_damaged += out->nr_damaged;
	t->nr_dropped += out->nr_dropped;
}

static void record_take(void *to, const struct outside_record *from, size_t bytes)
{
	struct onlooker *o = to;
	const uint64_t *at = map_find(&o->by_place, from->place);
	struct advice_value inputs[ADVICE_INPUTS] = { 0 };
	struct advice_out out = { .to = o->options.to,
				  .emit = o->options.emit,
				  .spill = o->options.spill };
	struct bag_writer writer;
	struct remark *r = at && *at ? o->remarks.v[*at - 1] : NULL;
	uint64_t time;

	if (!r)
		return;
	inputs_fill(o, r, from, inputs);
	if (!bag_fill(o, from, bytes))
		r->now_unread++;
	time = (uint64_t)((int64_t)from->ns + o->wall);
	if (bag_is_promised(&o->bag) && r->advice.program.nr_children) {
		run_hold(o, &r->advice, inputs, time, bag_bytes(&o->bag));
	} else {
		o->options.writer(o->options.to, &writer);
		advice_run(&r->advice.program, inputs, &o->bag, &writer, time, &out);
	}
	counts_add(&o->options.counts->tally, &out);
}

/* Places whose breakpoints cost too much are left alone, which is told. */
static void costs_look(struct onlooker *o)
{
	int64_t now = time_tick(), since = now - o->looked;

	if (since < LOOK_NS)
		return;
	vec_each (&o->remarks, e) {
		struct remark *r = *e;
		uint64_t passed = r->is_left ? 0 : outside_passed(o->outside, r->place);

		if (o->looked && !r->is_left &&
		    (double)(passed - r->nr_passed) * (double)NS_S / (double)since > PASSES_MAX) {
			outside_stop(o->outside, r->place);
			r->is_left = true;
		}
		r->nr_passed = passed;
	}
	o->looked = now;
}

int onlooker_read(struct onlooker *o, struct error *err)
{
	o->wall = weave_clock_ahead();
	costs_look(o);
	return outside_read(o->outside, err);
}

void onlooker_lost(struct onlooker *o, uint32_t query, struct losses *lost)
{
	vec_each (&o->remarks, e) {
		struct remark *r = *e;
		uint64_t now = outside_dropped(o->outside, r->place);

		if (r->advice.program.query != query)
			continue;
		lost->count[LOSS_PASSES_DROPPED] += now - r->nr_dropped;
		lost->count[LOSS_BAGS_UNREAD] += r->now_unread - r->nr_unread;
		r->nr_dropped = now;
		r->nr_unread = r->now_unread;
		lost->count[LOSS_PLACES_LEFT] += r->is_left && !r->is_left_told;
		r->is_left_told = r->is_left;
	}
}

size_t onlooker_nr_places(const struct onlooker *o)
{
	return o->remarks.nr;
}
