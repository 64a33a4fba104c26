#include "capture/probe/guest/weave.h"

#include "capture/probe/guest/carry.h"
#include "capture/probe/guest/heir.h"
#include "capture/probe/guest/results.h"
#include "lib/advice/memory.h"
#include "lib/advice/spill.h"
#include "lib/advice/vm.h"
#include "lib/advice/waiting.h"

#define TEXTS_MAX 8 /* texts that one piece of advice reads in memory */
#define PAGE 4096u

_Static_assert(sizeof(struct bag) <= PROBE_BAG_BYTES && sizeof(struct bag_writer) == 32, "bags");

/* What advice may read. */
struct moment {
	const uint64_t *args;      /* of registers, or NULL: */
	const uint64_t *registers; /* all of them, of a site, or NULL: */
	const struct probe_met *met;
	uint64_t result, tick, start;
	bool has_result;
};

/* What inputs borrow. */
struct reading {
	struct probe_thread *thread;
	const struct moment *at;
	uint64_t time_ns, duration_ns;
	unsigned nr_texts;
	uint64_t nr_unread;
	bool has_times;
	char texts[TEXTS_MAX][ADVICE_TEXT];
	struct advice_value inputs[ADVICE_INPUTS];
};

struct bag *weave_bag(struct probe_thread *t)
{
	struct probe_bag *b = weave_place(t);
	struct bag *bag = (struct bag *)b->bag;
	uint64_t session = weave_session();

	if (b->session != session) {
		/* of this session, from before we slept; before a gap they were of queries that are
		 * gone */
		if (b->session >= culprit_code.region->bags &&
		    b->session < culprit_code.region->bags + culprit_code.own->slept &&
		    !bag_is_empty(bag) && t->ring)
			t->ring->results.tally.nr_lost++;
		b->session = session;
		for (size_t i = 0; i < sizeof(b->carried) / 8; i++)
			b->carried[i] = 0;
		bag_begin(bag);
	}
	return bag;
}

struct bag_writer *weave_writer(struct probe_thread *t)
{
	return (struct bag_writer *)weave_place(t)->writer;
}

struct bag_spill *weave_spill(const struct probe_thread *t, struct bag_spill *s)
{
	if (!t->ring)
		return NULL;
	s->to = &t->ring->results;
	s->begin = results_spill_begin;
	s->end = results_spill_end;
	s->room = BAG_WORDS;
	return s;
}

bool weave_bag_is_empty(const struct probe_thread *t)
{
	const struct probe_bag *b = weave_place(t);

	return b->session != weave_session() || bag_is_empty((const struct bag *)b->bag);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static void writer_begin(struct probe_thread *t, uint64_t number)
{
	bag_writer_begin(weave_writer(t),
			 mix(mix(mix(culprit_code.region->host, t->pid), number), now()));
}

void weave_renew(struct probe_thread *t, bool is_forked)
{
	if (is_forked)
		heir_forget();
	else
		heir_leave(t);
	writer_begin(t, t->tid);
	weave_place(t)->number = 0;
	__atomic_store_n(&weave_place(t)->tid, t->tid, __ATOMIC_RELEASE);
}

void weave_self_keep(struct probe_thread *t, struct probe_self *to)
{
	const struct probe_bag *b = weave_place(t);

	to->session = b->session;
	to->nr_begun = b->nr_begun;
	for (size_t i = 0; i < 4; i++) {
		to->writer[i] = b->writer[i];
		to->carried[i] = b->carried[i];
	}
	to->nr = (uint64_t)bag_serialize((const struct bag *)b->bag, to + 1, PROBE_BAG_BYTES);
}

void weave_self_be(struct probe_thread *t, uint64_t number, const struct probe_self *is)
{
	struct probe_bag *b = weave_place(t);

	b->number = number;
	b->session = is ? is->session : weave_session();
	b->nr_begun = is ? is->nr_begun : 0;
	for (size_t i = 0; i < 4; i++) {
		b->writer[i] = is ? is->writer[i] : 0;
		b->carried[i] = is ? is->carried[i] : 0;
	}
	if (!is) {
		writer_begin(t, number);
		bag_begin((struct bag *)b->bag);
	} else if (!bag_deserialize((struct bag *)b->bag, is + 1, is->nr) && t->ring) {
		t->ring->results.tally.nr_lost++;
	}
}

static uint64_t ns_of(uint64_t ticks, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)ticks * rate >> 32);
}

/* The clock as it is said now. */
static struct probe_clock clock_read(void)
{
	const struct probe_region *g = culprit_code.region;
	struct probe_clock c;
	uint64_t nr;

	do {
		nr = __atomic_load_n(&g->clock_nr, __ATOMIC_ACQUIRE);
		const volatile struct probe_clock *v = &g->clocks[nr & 1];

		c.at_tick = v->at_tick;
		c.at_ns = v->at_ns;
		c.rate = v->rate;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&g->clock_nr, __ATOMIC_RELAXED) != nr);
	return c;
}

static uint64_t time_at(const struct probe_clock *c, uint64_t tick)
{
	return c->at_ns + (tick >= c->at_tick ? ns_of(tick - c->at_tick, c->rate) : 0);
}

uint64_t weave_time(uint64_t tick)
{
	const struct probe_clock c = clock_read();

	return time_at(&c, tick);
}

static void times_read(struct reading *r)
{
	const struct probe_clock c = clock_read();
	const struct moment *m = r->at;

	r->time_ns = time_at(&c, m->tick);
	r->has_times = true;
	r->duration_ns = m->start ? ns_of(m->tick - m->start, c.rate) : 0;
}

static bool text_read(struct reading *r, uint64_t at, struct advice_value *v)
{
	char *to = r->texts[r->nr_texts];
	size_t n = 0;

	if (r->nr_texts == TEXTS_MAX)
		return false;
	for (;;) {
		const char *from = (const char *)at;
		size_t room = PAGE - (at & (PAGE - 1));

		if (!guest_memory_is_there(r->thread, at, 1))
			return false;
		for (; room && n < ADVICE_TEXT && *from; room--)
			to[n++] = *from++;
		at = (uint64_t)from;
		if (room)
			break;
	}
	*v = (struct advice_value){ .type = ADVICE_TEXTUAL, .length = (uint16_t)n, .text = to };
	if (n == ADVICE_TEXT && *(const char *)at)
		v->flags = ADVICE_CUT;
	r->nr_texts++;
	return true;
}

static uint64_t loaded(uint64_t at, size_t bytes)
{
	return bytes == 1   ? *(const uint8_t *)at
	       : bytes == 2 ? *(const uint16_t *)at
	       : bytes == 4 ? *(const uint32_t *)at
			    : *(const uint64_t *)at;
}

/* False: it is not there, or not to be read. */
static bool input_take(struct reading *r, const struct advice_taking *k, struct advice_value *v)
{
	const struct moment *m = r->at;
	uint8_t memory = memory_known(k->memory);
	uint64_t at;

	if (k->from == PROBE_FROM_REGISTER && m->registers)
		at = m->registers[k->number & 15];
	else if (k->from == ADVICE_FROM_ARGUMENT && m->args && k->number < 6)
		at = m->args[k->number];
	else if (k->from == ADVICE_FROM_RETURN && m->has_result)
		at = m->result;
	else
		return false;
	for (size_t i = 0; i < k->nr_loads && i < ADVICE_LOADS; i++) {
		size_t n =
			memory != ADVICE_CHARS && i + 1 == k->nr_loads ? memory_bytes[memory] : 8;

		at += (uint64_t)(int64_t)k->offsets[i];
		if (!guest_memory_is_there(r->thread, at, n))
			return false;
		at = loaded(at, n);
	}
	if (memory == ADVICE_CHARS)
		return text_read(r, at + (uint64_t)(int64_t)k->offsets[k->nr_loads % 5], v);
	memory_number(memory, at, v);
	return true;
}

static void input_read(struct reading *r, const struct advice_taking *k, struct advice_value *v)
{
	*v = (struct advice_value){ .type = ADVICE_INT };
	if (k->from == ADVICE_FROM_DURATION && r->at->start) {
		v->i = (int64_t)r->duration_ns;
	} else if (k->from == ADVICE_FROM_CONSTANT) {
		v->i = k->memory == ADVICE_BOOLEAN ? k->constant != 0 : k->constant;
		v->type = k->memory == ADVICE_BOOLEAN ? ADVICE_BOOL : ADVICE_INT;
	} else if (k->from == PROBE_FROM_VALUE && r->at->met) {
		if (k->number < r->at->met->nr)
			*v = r->at->met->values[k->number];
		else
			v->type = ADVICE_NULL;
	} else if (!input_take(r, k, v)) {
		v->type = ADVICE_NULL;
		r->nr_unread++;
	}
}

static void inputs_read(struct reading *r, const struct probe_advice *a)
{
	static const uint8_t texts[PROBE_TEXTS] = { ADVICE_INPUT_HOST, ADVICE_INPUT_PROC_NAME,
						    ADVICE_INPUT_TRACEPOINT };
	struct advice_value *v = r->inputs;
	uint64_t wanted = a->program.inputs, number = weave_place(r->thread)->number;

	number = number ? number : r->thread->tid;
	r->nr_texts = 0;
	for (size_t i = 0; i < PROBE_TEXTS; i++)
		if (wanted >> texts[i] & 1)
			v[texts[i]] = (struct advice_value){ .type = ADVICE_TEXTUAL,
							     .length = a->lengths[i],
							     .text = a->texts[i] };
	v[ADVICE_INPUT_TIME] =
		(struct advice_value){ .type = ADVICE_INT, .i = (int64_t)r->time_ns };
	v[ADVICE_INPUT_PROC_ID] =
		(struct advice_value){ .type = ADVICE_INT, .i = (int64_t)r->thread->pid };
	v[ADVICE_INPUT_THREAD] = (struct advice_value){ .type = ADVICE_INT, .i = (int64_t)number };
	for (size_t i = 0; i < a->nr_inputs && i < PROBE_INPUTS; i++)
		input_read(r, &a->inputs[i], &v[a->numbers[i] % ADVICE_INPUTS]);
}

static void out_begin(struct advice_out *o, struct results_to *to)
{
	o->to = to;
	o->emit = results_emit;
	/* one by one: the compiler would take its time to clear all of it at once */
	o->nr_emitted = o->nr_packed = o->nr_incomplete = o->nr_lost = 0;
	o->nr_cut = o->nr_mistyped = o->nr_beyond = o->nr_damaged = 0;
	o->nr_spilled = o->nr_deferred = o->nr_dropped = 0;
}

static void counts_add(struct probe_tally *r, const struct advice_out *o, const struct reading *in)
{
	r->nr_runs++;
	r->nr_emitted += o->nr_emitted;
	r->nr_packed += o->nr_packed;
	if (__builtin_expect(!(o->nr_lost | o->nr_incomplete | o->nr_cut | o->nr_mistyped |
			       o->nr_beyond | o->nr_damaged | o->nr_spilled | o->nr_deferred |
			       o->nr_dropped | in->nr_unread),
			     1))
		return;
	r->nr_spilled += o->nr_spilled;
	r->nr_deferred += o->nr_deferred;
	r->nr_dropped += o->nr_dropped;
	r->nr_lost += o->nr_lost;
	r->nr_incomplete += o->nr_incomplete;
	r->nr_cut += o->nr_cut;
	r->nr_mistyped += o->nr_mistyped;
	r->nr_beyond += o->nr_beyond;
	r->nr_damaged += o->nr_damaged;
	r->nr_unread += in->nr_unread;
}

/* What reads a bag of which a part has not come yet is run by who reads our results, when it has;
 * what would pack of it waits in the bag. */
static void run_one(struct probe_thread *t, const struct probe_advice *a, const struct reading *in,
		    struct advice_out *out)
{
	const struct advice_program *p = &a->program;
	struct bag *bag = weave_bag(t);

	if (__builtin_expect(!bag_is_promised(bag) || !p->nr_children, 1)) {
		advice_run(p, in->inputs, bag, weave_writer(t), in->time_ns, out);
	} else if (p->flags & ADVICE_EMITS) {
		results_hold(out->to, a, in->inputs, in->time_ns, bag);
	} else if (!bag_wait(bag, weave_writer(t), p, a->which, in->inputs, in->time_ns)) {
		out->nr_lost++;
	}
}

/* All pieces of one place, in their order. */
__attribute__((noinline)) static void run(struct probe_thread *t, const uint16_t *list,
					  const struct moment *m)
{
	struct probe_region *g = culprit_code.region;
	struct reading in; /* most of it is not used: it is not to be cleared */
	struct advice_out out;
	struct bag_spill spill;
	struct results_to to;
	bool is_emptied = false;
	uint16_t first;

	if (!t->ring) {
		__atomic_fetch_add(&g->nr_advice_unseen, 1, __ATOMIC_RELAXED);
		return;
	}
	carry_settle(t);
	results_begin(&to, &t->ring->results, g);
	in.thread = t;
	in.at = m;
	in.nr_unread = in.time_ns = 0;
	in.has_times = false;
	out_begin(&out, &to);
	out.spill = weave_spill(t, &spill);
	/* what is taken away from now on stays as it is until we are done */
	first = __atomic_load_n(list, __ATOMIC_SEQ_CST);
	for (unsigned nr = 0; first && first <= PROBE_ADVICES && nr < PROBE_ADVICES; nr++) {
		const struct probe_advice *a = &g->advices[first - 1];

		if (a->flags & PROBE_ADVICE_EMPTIES && !is_emptied) {
			carry_begin(t);
			is_emptied = true;
		}
		if (a->flags & PROBE_ADVICE_TIMES && !in.has_times)
			times_read(&in);
		if (a->program.magic == ADVICE_MAGIC) {
			inputs_read(&in, a);
			run_one(t, a, &in, &out);
		}
		first = __atomic_load_n(&a->next, __ATOMIC_ACQUIRE);
	}
	counts_add(&t->ring->results.tally, &out, &in);
	results_end(&to);
}

/* Functions ------------------------------------------------------------------------------------*/

/* What was carried before a time in which calls were not seen is not believed. */
static inline void gaps_look(void)
{
	struct probe_own *own = culprit_code.own;
	uint64_t nr = __atomic_load_n(&culprit_code.region->nr_gaps, __ATOMIC_ACQUIRE);

	if (__builtin_expect(__atomic_load_n(&own->gaps_seen, __ATOMIC_ACQUIRE) == nr, 1))
		return;
	/* first, as below */
	__atomic_fetch_add(&own->nr_lapses, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&own->gaps_seen, nr, __ATOMIC_RELEASE);
}

static bool has_advice(uint64_t what)
{
	const struct probe_woven *w = &culprit_code.region->woven[what & 0xffff];

	return what & PROBE_WANT_ADVICE && (w->entry || w->exit || w->unwound);
}

void weave_unseen(uint64_t what)
{
	if (has_advice(what))
		__atomic_fetch_add(&culprit_code.region->nr_advice_unseen, 1, __ATOMIC_RELAXED);
}

void weave_asleep(struct probe_thread *t, uint64_t what, uint64_t until)
{
	struct probe_own *own = culprit_code.own;

	/* it is all over, on purpose */
	if (!until)
		return;
	/* first, so that nobody goes on with what was carried; twice does no harm */
	if (__atomic_load_n(&own->lapsed_at, __ATOMIC_ACQUIRE) != until) {
		__atomic_store_n(&own->slept,
				 __atomic_add_fetch(&own->nr_lapses, 1, __ATOMIC_SEQ_CST),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&own->lapsed_at, until, __ATOMIC_RELEASE);
	}
	if (t->ring && has_advice(what))
		t->ring->results.tally.nr_asleep++;
}

bool weave_enter(struct probe_thread *t, struct entered *e, uint64_t tick)
{
	const struct probe_region *g = culprit_code.region;
	uint32_t id = e->what & 0xffff;
	const uint64_t args[6] = { e->rdi, e->rsi, e->rdx, e->rcx, e->r8, e->r9 };
	bool wants_end = false;

	gaps_look();
	if (e->what & PROBE_WANT_CARRY)
		wants_end |= carry_enter(t, g->taken[id].carry, args);
	if (e->what & PROBE_WANT_BIRTH)
		wants_end |= heir_begin(t, e);
	if (e->what & PROBE_WANT_DEATH) {
		t->awaited = heir_awaited(t, e->rdi);
		wants_end = true;
	}
	if (e->what & PROBE_WANT_ADVICE) {
		const struct probe_woven *w = &g->woven[id];
		const struct moment m = { .args = args, .tick = tick };

		if (w->entry)
			run(t, &w->entry, &m);
		wants_end |= w->exit || w->unwound;
	}
	return wants_end;
}

void weave_leave(struct probe_thread *t, const struct probe_frame *f, uint64_t result, uint64_t end,
		 bool is_unwound)
{
	const struct probe_region *g = culprit_code.region;
	uint64_t until = __atomic_load_n(&g->alive_until, __ATOMIC_RELAXED);
	uint32_t id = f->what & 0xffff;
	const uint64_t *args =
		culprit_code.own->kept[guest_thread_number(t)][f->kept % PROBE_KEPT].v;

	t->nr_kept = f->kept;
	if (f->what & PROBE_WANT_BIRTH && (uint32_t)result)
		heir_undo(args[3]);
	if (until < end) {
		weave_asleep(t, f->what, until);
		if (f->what & PROBE_WANT_CARRY && !is_unwound)
			carry_asleep(t, g->taken[id].carry, args, (int64_t)result);
		return;
	}
	gaps_look();
	if (f->what & PROBE_WANT_ADVICE) {
		const struct moment m = { .args = args,
					  .result = result,
					  .has_result = !is_unwound,
					  .tick = end,
					  .start = f->start };
		const uint16_t *list = is_unwound ? &g->woven[id].unwound : &g->woven[id].exit;

		if (*list)
			run(t, list, &m);
	}
	if (f->what & PROBE_WANT_DEATH && !(uint32_t)result && !is_unwound)
		heir_join(t, args[0], args[5], f->start);
	if (f->what & PROBE_WANT_CARRY && !is_unwound)
		carry_leave(t, g->taken[id].carry, args, (int64_t)result);
}

void weave_site(struct probe_thread *t, uint32_t function, const uint64_t *registers)
{
	const struct moment m = { .registers = registers, .tick = t->tick };
	const uint16_t *list = &culprit_code.region->woven[function].entry;

	gaps_look();
	if (*list)
		run(t, list, &m);
}

void weave_met(struct probe_thread *t, uint32_t function, uint32_t moment,
	       const struct probe_met *met)
{
	const struct probe_woven *w = &culprit_code.region->woven[function % PROBE_FUNCTIONS];
	const uint16_t *list = moment == PROBE_AT_ENTRY  ? &w->entry
			       : moment == PROBE_AT_EXIT ? &w->exit
							 : &w->unwound;
	const struct moment m = { .met = met, .tick = t->tick, .start = met->start };

	if (*list)
		run(t, list, &m);
}
