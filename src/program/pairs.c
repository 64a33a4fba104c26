/*
 * lprof, section 4.4. A pair is made of a place that starts, asks, writes, puts or sends, and of
 * what runs, answers, reads, takes or handles; each place counts for the pieces of work that come
 * to it. Threads that do not log stand in pairs as links, for what they connect.
 *
 * Identifiers that both ends know are followed through what is handed over: constructors of tasks,
 * captured values, arguments of remote calls. What goes through bytes or through queues is not
 * followed; there a field of one class at both ends is taken to be the same (Block.blockId).
 */
#include "program/pairs.h"

#include <stdlib.h>

#include "model/loss.h"
#include "program/closure.h"
#include "program/ends.h"
#include "program/insn.h"
#include "program/origin.h"
#include "program/reach.h"
#include "program/tops.h"

enum {
	PRODUCT_MAX = 256, /* pairs of one channel; more tell nothing */
	SHARED_MAX = 16,   /* identifiers of one pair */
	BEHIND_MAX = 8,
	MAKERS_DEPTH_MAX = 3, /* constructors that call those above */
};

/* A pair before its identifiers are known. */
struct draft {
	uint32_t from, to;
	enum pair_kind kind;
	bool is_many, from_is_link, to_is_link, is_weak;
	bool is_made;             /* the place makes the object whose method is reached later */
	uint32_t method, answers; /* the place; the method that the place leads to, before others */
	uint16_t pc;
	const struct way *way;
	struct str through;
};

struct finder {
	struct pairs *out;
	const struct callgraph *g;
	const struct identifiers *ids;
	const struct program *program;
	struct reach reach;
	struct scopes scopes;
	struct arena scratch;
	VEC(struct draft) drafts;
	VEC(struct shared_id) shared;
	uint64_t nr_wide;
};

struct str pair_kind_name(enum pair_kind kind)
{
	static const struct str names[PAIR_KINDS] = { STR("local"), STR("queue"), STR("rpc"),
						      STR("socket") };

	return kind < PAIR_KINDS ? names[kind] : STR("");
}

static bool is_repeated(const struct finder *f, const struct draft *d)
{
	if (d->pc && reach_is_repeated(f->program, d->method, d->pc))
		return true;
	for (uint32_t i = 0; i < d->way->nr; i++)
		if (reach_is_repeated(f->program, d->way->steps[i].method, d->way->steps[i].pc))
			return true;
	return false;
}

/* For every piece of work that comes to the place. */
static void add_from(struct finder *f, struct draft d)
{
	const struct ways *ways = reach_to(&f->reach, d.method);

	f->nr_wide += ways->is_wide;
	for (uint32_t i = 0; i < ways->nr; i++) {
		d.way = &ways->v[i];
		d.from = ways->v[i].from;
		d.from_is_link = ways->v[i].is_link;
		if (d.from != d.to || d.kind == PAIR_SOCKET || d.kind == PAIR_RPC)
			vec_push(&f->drafts, d);
	}
}

/* Threads started and processes asked. */
static void add_edge(struct finder *f, uint32_t method, const struct call_edge *e)
{
	struct draft d = { .method = method, .pc = e->pc, .answers = e->to };
	uint32_t behind[BEHIND_MAX], nr = 0;

	d.kind = e->kind == EDGE_START ? PAIR_LOCAL : PAIR_RPC;
	d.through = program_class_of(f->program, e->to)->name;
	if (e->kind == EDGE_REMOTE)
		nr = tops_behind(f->ids, f->g, e->to, behind, BEHIND_MAX);
	if (!nr)
		behind[nr++] = e->to;
	for (uint32_t i = 0; i < nr; i++) {
		d.to = behind[i];
		d.to_is_link = f->ids->top[d.to] == TOP_NOT;
		add_from(f, d);
	}
}

static void add_edges(struct finder *f)
{
	for (uint32_t m = 0; m < f->program->methods.nr; m++)
		callgraph_each(f->g, m, e)
		{
			if (e->kind != EDGE_CALL)
				add_edge(f, m, e);
		}
}

/* What is taken in may at once be handed on to where the work on it begins. */
static uint32_t handed_on(const struct finder *f, const struct end *taker, struct way *to,
			  uint32_t max)
{
	uint32_t nr = 0;

	if (!taker->pc || f->ids->top[taker->method] != TOP_NOT)
		return 0;
	callgraph_each(f->g, taker->method, e)
	{
		bool is_new =
			e->kind == EDGE_CALL && e->pc > taker->pc && f->ids->top[e->to] == TOP_DROP;

		for (uint32_t i = 0; i < nr; i++)
			is_new &= to[i].from != e->to;
		if (is_new && nr < max)
			to[nr++] = (struct way){ .from = e->to };
	}
	return nr;
}

/* A handler is called by its dispatcher; what calls it from afar does so for reasons of its own. */
static bool is_near(const struct end *taker, const struct way *w)
{
	return taker->pc || w->nr <= 1;
}

/* One end that takes: for each piece of work that comes there, all that give. */
static void add_taker(struct finder *f, const struct end *gives, size_t nr, const struct end *taker)
{
	const struct ways *ways = reach_to(&f->reach, taker->method);
	struct way below[BEHIND_MAX];
	struct ways own = { .v = below, .nr = handed_on(f, taker, below, BEHIND_MAX) };

	f->nr_wide += ways->is_wide;
	/* a handler that nothing calls is where its thread comes from the dispatcher */
	if (!taker->pc && !ways->nr && !ways->is_wide)
		below[own.nr++] = (struct way){ .from = taker->method, .is_link = true };
	if (own.nr)
		ways = &own;
	for (uint32_t i = 0; i < ways->nr; i++)
		for (size_t k = 0; k < nr && is_near(taker, &ways->v[i]); k++)
			add_from(f, (struct draft){ .to = ways->v[i].from,
						    .to_is_link = ways->v[i].is_link,
						    .answers = taker->method,
						    .kind = taker->kind,
						    .is_weak = taker->is_weak,
						    .method = gives[k].method,
						    .pc = gives[k].pc,
						    .through = taker->channel });
}

static void add_channel(struct finder *f, const struct end *ends, size_t nr)
{
	size_t before = f->drafts.nr, nr_gives = 0;

	while (nr_gives < nr && !ends[nr_gives].takes)
		nr_gives++;
	for (size_t i = nr_gives; i < nr && f->drafts.nr - before <= PRODUCT_MAX; i++)
		add_taker(f, ends, nr_gives, &ends[i]);
	if (f->drafts.nr - before > PRODUCT_MAX) {
		f->drafts.nr = before;
		f->nr_wide++;
	}
}

static void add_channels(struct finder *f, const struct ends *e)
{
	for (size_t from = 0, to; from < e->v.nr; from = to) {
		for (to = from + 1; to < e->v.nr && e->v.v[to].kind == e->v.v[from].kind &&
				    str_eq(e->v.v[to].channel, e->v.v[from].channel);)
			to++;
		add_channel(f, e->v.v + from, to - from);
	}
}

/* The places that make an object of the class, or of one below; a constructor is none. */
static void add_makers(struct finder *f, uint32_t class, struct draft d, unsigned depth)
{
	const struct program_class *c = &f->program->classes.v[class];

	for (uint16_t k = 0; k < c->c.nr_methods; k++) {
		uint32_t m = c->first_method + k;

		if (!str_eq(c->c.methods[k].name, STR("<init>")))
			continue;
		for (uint32_t i = f->g->first_in[m]; i < f->g->first_in[m + 1]; i++) {
			uint32_t maker = f->g->in[i], own = f->program->methods.v[maker].class;

			d.method = maker;
			d.pc = 0;
			callgraph_each(f->g, maker, e) if (e->to == m) d.pc = e->pc;
			if (!str_eq(f->program->methods.v[maker].member->name, STR("<init>")))
				add_from(f, d);
			else if (own != class && depth < MAKERS_DEPTH_MAX)
				add_makers(f, own, d, depth + 1);
		}
	}
}

/* An object made in one place whose method something unseen calls: it was handed to a framework. */
static void add_made(struct finder *f)
{
	vec_each (&f->ids->tops, top) {
		const struct program_method *m = &f->program->methods.v[*top];
		struct draft d = { .to = *top,
				   .answers = *top,
				   .kind = PAIR_QUEUE,
				   .is_weak = true,
				   .is_made = true };
		size_t before = f->drafts.nr;

		if (f->ids->top[*top] != TOP_ROOT || m->member->access & ACCESS_STATIC)
			continue;
		d.through = f->program->classes.v[m->class].c.name;
		add_makers(f, m->class, d, 0);
		if (f->drafts.nr - before > PRODUCT_MAX)
			f->drafts.nr = before;
	}
}

static int by_ends(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->way->nr != y->way->nr)
		return x->way->nr < y->way->nr ? -1 : 1;
	if (x->method != y->method)
		return x->method < y->method ? -1 : 1;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return str_cmp(x->through, y->through);
}

/* The identifier of the method that the path is, if it logs it. */
static const struct path *known_as(const struct finder *f, uint32_t method, const struct path *p)
{
	const struct summary *s = &f->ids->of[method];

	for (uint32_t i = 0; i < s->nr; i++)
		if (path_is_same(&s->ids[i].path, p))
			return &s->ids[i].path;
	return NULL;
}

/* The identifier that ends in the same field of the same class; the most logged one. */
static const struct path *ending_as(const struct finder *f, uint32_t method, const struct path *p)
{
	const struct summary *s = &f->ids->of[method];

	for (uint32_t i = 0; p->nr && i < s->nr; i++) {
		const struct path *own = &s->ids[i].path;

		if (own->nr && str_eq(own->fields[own->nr - 1], p->fields[p->nr - 1]))
			return own;
	}
	return NULL;
}

static uint32_t call_at(const struct values *v, uint16_t pc)
{
	for (uint32_t i = 1; i < v->nr; i++)
		if (v->v[i].kind == VALUE_CALL && v->v[i].pc == pc)
			return i;
	return 0;
}

/* Where the place makes what will run: the constructor of the task, or the lambda. */
static uint32_t making(struct finder *f, const struct scope *s, uint32_t runs)
{
	struct str class = program_class_of(f->program, runs)->name;

	for (uint32_t i = 1; i < s->v->nr; i++) {
		struct where at = { s, i };
		const struct scope *body;
		struct member_ref m;

		if (s->v->v[i].kind != VALUE_CALL || !where_member(at, &m))
			continue;
		if (s->v->v[i].op == OP_INVOKEDYNAMIC) {
			if (closure_method(at, STR(""), &f->scratch, &body) == runs)
				return i;
		} else if (str_eq(m.name, STR("<init>")) && str_eq(m.owner, class)) {
			return i;
		}
	}
	return 0;
}

/* A value of what is reached, as one of the method with the place; ROOT_LOCAL when not known. */
static struct path at_place(struct finder *f, const struct draft *d, const struct scope *s,
			    const struct path *of)
{
	const struct program_method *asks = &f->program->methods.v[d->method];
	const struct program_method *answers = &f->program->methods.v[d->to];
	struct path none = { .root = ROOT_LOCAL }, same = *of;
	uint32_t call = 0;

	if (of->root < 0 || (d->kind == PAIR_QUEUE && !d->is_made) || d->kind == PAIR_SOCKET)
		return none;
	if (d->kind == PAIR_LOCAL || d->is_made) {
		call = making(f, s, d->to);
	} else if (of->root) {
		/* a translator has the very method that it translates for */
		same.method = d->method;
		if (asks->name == answers->name && asks->type == answers->type)
			return same;
		call = d->answers == d->to ? call_at(s->v, d->pc) : 0;
	}
	if (!call)
		return none;
	return identifiers_in_caller(of, (struct where){ s, call }, false, &f->scratch);
}

/* Up the way to the method that the pair is from. */
static struct path at_from(struct finder *f, const struct draft *d, struct path p)
{
	for (uint32_t i = 0; i < d->way->nr && p.root >= 0; i++) {
		struct scope s;
		uint32_t call;

		if (!scope_init(&s, &f->scopes, d->way->steps[i].method) ||
		    !(call = call_at(s.v, d->way->steps[i].pc)))
			return (struct path){ .root = ROOT_LOCAL };
		p = identifiers_in_caller(&p, (struct where){ &s, call }, false, &f->scratch);
	}
	return p;
}

static void add_shared(struct finder *f, const struct path *from, const struct path *to)
{
	vec_each (&f->shared, s)
		if (path_is_same(&s->from, from) && path_is_same(&s->to, to))
			return;
	if (f->shared.nr < SHARED_MAX)
		vec_push(&f->shared, (struct shared_id){ *from, *to });
}

static void find_shared(struct finder *f, const struct draft *d)
{
	const struct summary *to = &f->ids->of[d->to];
	struct scope s;
	bool has_scope = scope_init(&s, &f->scopes, d->method);

	vec_clear(&f->shared);
	for (uint32_t i = 0; i < to->nr; i++) {
		const struct path *own = &to->ids[i].path, *known = NULL;
		struct path p = { .root = ROOT_LOCAL };

		if (has_scope)
			p = at_from(f, d, at_place(f, d, &s, own));
		if (p.root >= 0)
			known = d->from_is_link ? &p : known_as(f, d->from, &p);
		if (!known && !d->is_made)
			known = ending_as(f, d->from, own);
		if (known)
			add_shared(f, known, own);
	}
}

static struct path keep_path(struct arena *a, const struct path *p)
{
	struct path kept = *p;

	kept.fields = arena_array(a, struct str, p->nr + 1U);
	for (uint16_t i = 0; i < p->nr; i++)
		kept.fields[i] = arena_str(a, p->fields[i]);
	return kept;
}

/* "OpWriteBlockProto" of what carries it; the number behind a class of events is our own. */
static struct str carrier(struct str through)
{
	return str_head(origin_simple(through), str_find_char(origin_simple(through), ' '));
}

static void keep_pair(struct finder *f, const struct draft *d)
{
	struct arena *a = &f->out->arena;
	const struct code *code = f->program->methods.v[d->method].member->code;
	struct pair p = { .from = d->from,
			  .to = d->to,
			  .kind = d->kind,
			  .is_many = d->is_many,
			  .from_is_link = d->from_is_link,
			  .to_is_link = d->to_is_link,
			  .method = d->method,
			  .pc = d->pc,
			  .line = code ? code_line(code, d->pc) : 0,
			  .through = arena_str(a, carrier(d->through)) };

	find_shared(f, d);
	if (d->is_weak && !f->shared.nr) {
		arena_reset(&f->scratch);
		return;
	}
	p.nr_shared = (uint32_t)f->shared.nr;
	p.shared = arena_array(a, struct shared_id, p.nr_shared + 1U);
	for (uint32_t i = 0; i < p.nr_shared; i++)
		p.shared[i] = (struct shared_id){ keep_path(a, &f->shared.v[i].from),
						  keep_path(a, &f->shared.v[i].to) };
	vec_push(&f->out->v, p);
	arena_reset(&f->scratch);
	scopes_trim(&f->scopes);
}

/* Each pair once, with the shortest way; of the others it is known whether they repeat. */
static void merge_drafts(struct finder *f)
{
	size_t kept = 0;

	if (f->drafts.nr)
		qsort(f->drafts.v, f->drafts.nr, sizeof(*f->drafts.v), by_ends);
	for (size_t from = 0, to; from < f->drafts.nr; from = to) {
		struct draft d = f->drafts.v[from];

		for (to = from; to < f->drafts.nr && f->drafts.v[to].from == d.from &&
				f->drafts.v[to].to == d.to && f->drafts.v[to].kind == d.kind;
		     to++) {
			d.is_many = d.is_many || is_repeated(f, &f->drafts.v[to]);
			d.is_weak &= f->drafts.v[to].is_weak;
		}
		f->drafts.v[kept++] = d;
	}
	f->drafts.nr = kept;
}

/* A link that nothing comes to, or that leads to nothing, connects nothing. */
static void drop_loose_links(struct finder *f)
{
	bool *leads = mem_alloc(f->program->methods.nr + 1);
	bool *is_led_to = mem_alloc(f->program->methods.nr + 1);
	size_t before;

	do {
		before = f->drafts.nr;
		memset(leads, 0, f->program->methods.nr + 1);
		memset(is_led_to, 0, f->program->methods.nr + 1);
		vec_each (&f->drafts, d) {
			leads[d->from] |= d->from != d->to;
			is_led_to[d->to] |= d->from != d->to;
		}
		f->drafts.nr = 0;
		for (size_t i = 0; i < before; i++) {
			const struct draft *d = &f->drafts.v[i];

			if ((!d->from_is_link || is_led_to[d->from]) &&
			    (!d->to_is_link || leads[d->to]))
				f->drafts.v[f->drafts.nr++] = *d;
		}
	} while (f->drafts.nr != before);
	free(leads);
	free(is_led_to);
}

void pairs_find(struct pairs *p, const struct callgraph *g, const struct identifiers *ids,
		struct losses *losses)
{
	struct finder f = { .out = p, .g = g, .ids = ids, .program = g->program };
	struct ends ends;

	*p = (struct pairs){ 0 };
	reach_init(&f.reach, g, ids);
	scopes_init(&f.scopes, g->program);
	ends_find(&ends, g);
	add_edges(&f);
	add_channels(&f, &ends);
	add_made(&f);
	merge_drafts(&f);
	drop_loose_links(&f);
	vec_each (&f.drafts, d)
		keep_pair(&f, d);
	losses->count[LOSS_CHANNELS_WIDE] += f.nr_wide;
	ends_done(&ends);
	scopes_done(&f.scopes);
	reach_done(&f.reach);
	arena_done(&f.scratch);
	vec_done(&f.drafts);
	vec_done(&f.shared);
}

void pairs_done(struct pairs *p)
{
	arena_done(&p->arena);
	vec_done(&p->v);
}
