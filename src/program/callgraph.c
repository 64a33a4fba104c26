#include "program/callgraph.h"

#include <stdlib.h>

#include "base/crew.h"
#include "model/loss.h"
#include "program/handoff.h"
#include "program/insn.h"
#include "program/rpc.h"

enum {
	CHUNK = 128,
	TARGETS_MAX = 8,   /* of one call; more tell nothing */
	BELOW_MAX = 20000, /* classes looked at below one */
	FILLED_MAX = 4,    /* methods that a class fills in for what another thread runs */
	RELAYS_MAX = 3,    /* methods that hand over what they were handed, in a row */
};

/* A method that hands one of its parameters to another thread. */
struct relay {
	uint32_t method;
	int parameter;
};

struct own_edge {
	uint32_t from;
	struct call_edge edge;
};

struct chunk {
	VEC(struct own_edge) edges;
	VEC(struct wide_call) wide;
	uint64_t nr_wide; /* calls with too many targets */
	uint64_t nr_damaged;
	VEC(struct relay) relays;
};

struct search {
	struct program *program;
	struct chunk *chunks;
	struct rpc rpc;
	bool *is_named;
	int8_t *relays; /* by method: 1 + the parameter that it hands over, 0 for none */
	int8_t *fresh;  /* likewise, those found in the last round */
};

static void find_made(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	struct program *p = s->program;
	size_t end = ((size_t)item + 1) * CHUNK;
	struct insn i;

	for (size_t c = (size_t)item * CHUNK; c < end && c < p->classes.nr; c++) {
		const struct class *class = &p->classes.v[c].c;

		for (uint16_t k = 0; k < class->nr_methods; k++) {
			const struct code *code = class->methods[k].code;

			for (uint32_t pc = 0; code && pc < code->bytes.n; pc = i.next) {
				uint32_t made;

				if (!insn_read(code->bytes, pc, &i))
					break;
				if (i.op != OP_NEW)
					continue;
				made = program_class(p, class_named(class, (uint16_t)i.operand));
				if (made != NO_CLASS)
					__atomic_store_n(&p->classes.v[made].is_made, true,
							 __ATOMIC_RELAXED);
			}
		}
	}
}

/* Where the calls of one class lead; each constant is looked up once. */
struct lookup {
	struct search *search;
	const struct program *program;
	const struct class *class;
	uint32_t number;      /* of the class */
	uint32_t *first, *nr; /* by constant: in targets; nr is UINT32_MAX when not looked up */
	uint8_t *kinds;       /* by constant: enum edge_kind */
	uint32_t *wide; /* by constant: 1 + the method named, when there are too many targets */
	VEC(uint32_t) targets;
	VEC(uint32_t) open; /* classes to look at */
	uint64_t nr_wide;
};

static void add_target(struct lookup *l, uint32_t constant, uint32_t method)
{
	if (method == NO_METHOD)
		return;
	for (uint32_t i = l->first[constant]; i < l->targets.nr; i++)
		if (l->targets.v[i] == method)
			return;
	vec_push(&l->targets, method);
}

/* What the classes below make of the method. */
static void add_overrides(struct lookup *l, uint32_t constant, uint32_t class, sym_t name,
			  sym_t type)
{
	const struct program *p = l->program;
	uint32_t looked_at = 0;

	vec_clear(&l->open);
	vec_push(&l->open, class);
	while (l->open.nr && looked_at++ < BELOW_MAX &&
	       l->targets.nr - l->first[constant] <= TARGETS_MAX) {
		const struct program_class *c = &p->classes.v[l->open.v[--l->open.nr]];
		uint32_t own = (uint32_t)(c - p->classes.v);

		if (c->is_made)
			add_target(l, constant, program_resolve(p, own, name, type));
		for (uint32_t i = c->nr_below; i--;)
			vec_push(&l->open, c->below[i]);
	}
}

/* A call of a service goes to who answers it. */
static void look_up_service(struct lookup *l, uint32_t constant, const struct member_ref *m)
{
	const struct rpc *r = &l->search->rpc;
	const struct rpc_answer *answers;
	uint32_t nr;

	if (r->is_generated[l->number])
		return;
	nr = rpc_answers(r, m, &answers);
	l->kinds[constant] = EDGE_REMOTE;
	for (uint32_t i = 0; i < nr && i < TARGETS_MAX; i++)
		add_target(l, constant, answers[i].method);
	l->nr[constant] = (uint32_t)l->targets.nr - l->first[constant];
	l->nr_wide += nr > TARGETS_MAX;
}

/* Other processes are not called, they are asked. */
static void look_beyond(struct lookup *l, uint32_t constant, uint32_t class)
{
	const struct rpc *r = &l->search->rpc;
	uint32_t *targets = l->targets.v + l->first[constant];
	uint32_t nr = (uint32_t)l->targets.nr - l->first[constant];
	uint32_t kept = rpc_choose(r, l->number, targets, nr);

	l->targets.nr = l->first[constant] + kept;
	if (kept == nr && r->is_remote[class] && !r->is_server[l->number])
		l->kinds[constant] = EDGE_REMOTE;
}

static void look_up_method(struct lookup *l, uint32_t constant, uint8_t op, uint32_t class,
			   sym_t name, sym_t type)
{
	uint32_t declared = program_resolve(l->program, class, name, type);

	if (declared != NO_METHOD)
		__atomic_store_n(&l->search->is_named[declared], true, __ATOMIC_RELAXED);
	if (op == OP_INVOKEVIRTUAL || op == OP_INVOKEINTERFACE)
		add_overrides(l, constant, class, name, type);
	if (l->targets.nr == l->first[constant]) /* none is made in what was given */
		add_target(l, constant, declared);
	if (l->targets.nr - l->first[constant] > TARGETS_MAX) {
		l->targets.nr = l->first[constant];
		l->nr_wide++;
		l->wide[constant] = declared + 1;
	}
	if (l->targets.nr > l->first[constant])
		look_beyond(l, constant, class);
	l->nr[constant] = (uint32_t)l->targets.nr - l->first[constant];
}

static void look_up(struct lookup *l, uint32_t constant, uint8_t op)
{
	const struct program *p = l->program;
	struct member_ref m;
	uint32_t class;
	sym_t name, type;

	l->first[constant] = (uint32_t)l->targets.nr;
	l->nr[constant] = 0;
	if (!class_member(l->class, (uint16_t)constant, &m))
		return;
	class = program_class(p, m.owner);
	if (rpc_is_service(m.type) && class != l->number && op != OP_INVOKESPECIAL) {
		look_up_service(l, constant, &m);
		return;
	}
	name = names_find(&p->names, m.name);
	type = names_find(&p->names, m.type);
	if (class != NO_CLASS && name && type)
		look_up_method(l, constant, op, class, name, type);
}

static void add_edge(struct chunk *c, uint32_t from, uint32_t to, uint32_t pc, enum edge_kind kind)
{
	if (to != NO_METHOD)
		vec_push(&c->edges, (struct own_edge){ from, { to, (uint16_t)pc, (uint8_t)kind } });
}

static void add_calls(struct chunk *c, struct lookup *l, uint32_t method, const struct code *code)
{
	struct insn i;

	for (uint32_t pc = 0; pc < code->bytes.n; pc = i.next) {
		if (!insn_read(code->bytes, pc, &i)) {
			c->nr_damaged++;
			return;
		}
		if (i.op < OP_INVOKEVIRTUAL || i.op > OP_INVOKEINTERFACE ||
		    i.operand >= l->class->nr_constants)
			continue;
		if (l->nr[i.operand] == UINT32_MAX)
			look_up(l, i.operand, i.op);
		for (uint32_t k = 0; k < l->nr[i.operand]; k++)
			add_edge(c, method, l->targets.v[l->first[i.operand] + k], pc,
				 l->kinds[i.operand]);
		if (l->wide[i.operand])
			vec_push(&c->wide, (struct wide_call){ method, l->wide[i.operand] - 1,
							       (uint16_t)pc });
	}
}

/* The method that another thread begins with; and what it is there to call. */
static void add_start(struct chunk *c, struct where call, uint32_t method)
{
	uint32_t filled[FILLED_MAX], nr = handoff_filled_in(call, method, filled, FILLED_MAX);

	add_edge(c, call.scope->method, method, where_value(call)->pc, EDGE_START);
	for (uint32_t i = 0; i < nr; i++)
		add_edge(c, call.scope->method, filled[i], where_value(call)->pc, EDGE_START);
}

/* What is run elsewhere, and lambdas. These need values, so only where there is something to find.
 */
static void add_handoffs(struct chunk *c, struct scopes *scopes, uint32_t method,
			 struct arena *scratch)
{
	struct scope s;

	if (!scope_init(&s, scopes, method))
		return;
	for (uint32_t i = 1; i < s.v->nr; i++) {
		struct where at = { &s, i };
		int parameter;

		if (s.v->v[i].kind != VALUE_CALL)
			continue;
		add_start(c, at, handoff_method(at, scratch));
		add_edge(c, method, handoff_lambda(at, scratch), s.v->v[i].pc, EDGE_CALL);
		parameter = handoff_relayed(at);
		if (parameter >= 0 && parameter < 100)
			vec_push(&c->relays, (struct relay){ method, parameter });
	}
	arena_reset(scratch);
}

static bool may_hand_over(const struct class *c, const struct code *code)
{
	struct insn i;

	for (uint32_t pc = 0; pc < code->bytes.n; pc = i.next) {
		struct member_ref m;

		if (!insn_read(code->bytes, pc, &i))
			return false;
		if (i.op == OP_INVOKEDYNAMIC)
			return true;
		if (i.op >= OP_INVOKEVIRTUAL && i.op <= OP_INVOKEINTERFACE &&
		    class_member(c, (uint16_t)i.operand, &m) &&
		    (str_eq(m.name, STR("start")) || str_eq(m.name, STR("fork")) ||
		     str_find(m.type, STR("java/lang/Runnable")) < m.type.n ||
		     str_find(m.type, STR("java/util/concurrent/")) < m.type.n ||
		     str_find(m.type, STR("java/util/function/")) < m.type.n ||
		     str_find(m.type, STR("java/util/TimerTask")) < m.type.n))
			return true;
	}
	return false;
}

static void look_at_class(struct search *s, struct chunk *c, struct scopes *scopes, size_t number,
			  struct arena *scratch)
{
	const struct program_class *class = &s->program->classes.v[number];
	size_t bytes = class->c.nr_constants * sizeof(uint32_t);
	struct lookup l = { .search = s,
			    .program = s->program,
			    .class = &class->c,
			    .number = (uint32_t)number,
			    .first = mem_zalloc(bytes),
			    .nr = mem_alloc(bytes),
			    .kinds = mem_zalloc(class->c.nr_constants),
			    .wide = mem_zalloc(bytes) };
	bool has_handoffs = handoff_may_happen(&class->c);

	memset(l.nr, 0xff, bytes);
	for (uint16_t k = 0; k < class->c.nr_methods; k++) {
		const struct code *code = class->c.methods[k].code;

		if (!code)
			continue;
		add_calls(c, &l, class->first_method + k, code);
		if (has_handoffs && may_hand_over(&class->c, code))
			add_handoffs(c, scopes, class->first_method + k, scratch);
	}
	c->nr_wide += l.nr_wide;
	free(l.first);
	free(l.nr);
	free(l.kinds);
	free(l.wide);
	vec_done(&l.targets);
	vec_done(&l.open);
}

static void find_edges(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	size_t end = ((size_t)item + 1) * CHUNK;
	struct scopes scopes;
	struct arena scratch = { 0 };

	scopes_init(&scopes, s->program);
	for (size_t i = (size_t)item * CHUNK; i < end && i < s->program->classes.nr; i++) {
		look_at_class(s, &s->chunks[item], &scopes, i, &scratch);
		scopes_trim(&scopes);
	}
	scopes_done(&scopes);
	arena_done(&scratch);
}

/* Calls of methods that hand over what they are given. */
static void add_relayed(struct search *s, struct chunk *c, struct scopes *scopes, uint32_t method,
			struct arena *scratch)
{
	struct scope scope;

	if (!scope_init(&scope, scopes, method))
		return;
	for (uint32_t i = 1; i < scope.v->nr; i++) {
		struct where at = { &scope, i }, arg;
		uint32_t callee;

		if (scope.v->v[i].kind != VALUE_CALL || (callee = where_callee(at)) == NO_METHOD ||
		    !s->fresh[callee])
			continue;
		arg = where_source(where_arg(at, (uint32_t)s->fresh[callee] - 1));
		if (where_value(arg)->kind == VALUE_PARAMETER)
			vec_push(&c->relays,
				 (struct relay){ method, (int)where_value(arg)->number });
		add_start(c, at, handoff_runs(arg, scratch));
	}
	arena_reset(scratch);
}

static bool calls_fresh(const struct search *s, const struct class *c, const struct code *code)
{
	const struct program *p = s->program;
	struct member_ref m;
	struct insn i;

	for (uint32_t pc = 0; pc < code->bytes.n; pc = i.next) {
		uint32_t callee;

		if (!insn_read(code->bytes, pc, &i))
			return false;
		if (i.op < OP_INVOKEVIRTUAL || i.op > OP_INVOKEINTERFACE ||
		    !class_member(c, (uint16_t)i.operand, &m) ||
		    str_find_char(m.type, ';') == m.type.n)
			continue;
		callee =
			program_resolve(p, program_class(p, m.owner), names_find(&p->names, m.name),
					names_find(&p->names, m.type));
		if (callee != NO_METHOD && s->fresh[callee])
			return true;
	}
	return false;
}

static void find_relayed(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	const struct program *p = s->program;
	size_t end = ((size_t)item + 1) * CHUNK;
	struct scopes scopes;
	struct arena scratch = { 0 };

	scopes_init(&scopes, p);
	for (size_t i = (size_t)item * CHUNK; i < end && i < p->classes.nr; i++) {
		const struct program_class *c = &p->classes.v[i];

		for (uint16_t k = 0; k < c->c.nr_methods; k++)
			if (c->c.methods[k].code && calls_fresh(s, &c->c, c->c.methods[k].code))
				add_relayed(s, &s->chunks[item], &scopes, c->first_method + k,
					    &scratch);
		scopes_trim(&scopes);
	}
	scopes_done(&scopes);
	arena_done(&scratch);
}

/* Takes in what the last round found; false when that was nothing new. */
static bool take_relays(struct search *s, uint32_t nr_chunks)
{
	bool is_new = false;

	memset(s->fresh, 0, s->program->methods.nr + 1);
	for (uint32_t i = 0; i < nr_chunks; i++) {
		vec_each (&s->chunks[i].relays, r) {
			if (s->relays[r->method])
				continue;
			s->relays[r->method] = s->fresh[r->method] = (int8_t)(r->parameter + 1);
			is_new = true;
		}
		vec_clear(&s->chunks[i].relays);
	}
	return is_new;
}

static void follow_relays(struct search *s, uint32_t nr_chunks)
{
	s->relays = mem_zalloc(s->program->methods.nr + 1);
	s->fresh = mem_zalloc(s->program->methods.nr + 1);
	for (unsigned round = 0; round < RELAYS_MAX && take_relays(s, nr_chunks); round++)
		crew_run_with(s->program->threads, nr_chunks, find_relayed, s);
	for (uint32_t i = 0; i < nr_chunks; i++)
		vec_done(&s->chunks[i].relays);
	free(s->relays);
	free(s->fresh);
}

static int by_place(const void *a, const void *b)
{
	const struct own_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->edge.pc != y->edge.pc)
		return x->edge.pc < y->edge.pc ? -1 : 1;
	if (x->edge.kind != y->edge.kind)
		return x->edge.kind < y->edge.kind ? -1 : 1;
	return (x->edge.to > y->edge.to) - (x->edge.to < y->edge.to);
}

static void gather(struct callgraph *g, struct search *s, uint32_t nr_chunks, struct losses *losses)
{
	size_t nr_methods = s->program->methods.nr, total = 0, at = 0;

	for (uint32_t i = 0; i < nr_chunks; i++)
		total += s->chunks[i].edges.nr;
	g->first = mem_zalloc(mem_bytes(nr_methods + 1, sizeof(*g->first)));
	g->edges = mem_alloc(mem_bytes(total + 1, sizeof(*g->edges)));
	for (uint32_t i = 0; i < nr_chunks; i++) {
		struct chunk *c = &s->chunks[i];

		if (c->edges.nr)
			qsort(c->edges.v, c->edges.nr, sizeof(*c->edges.v), by_place);
		vec_each (&c->edges, e) {
			g->first[e->from + 1]++;
			g->edges[at++] = e->edge;
		}
		losses->count[LOSS_CALLS_WIDE] += c->nr_wide;
		losses->count[LOSS_METHODS_BROKEN] += c->nr_damaged;
		vec_each (&c->wide, w)
			vec_push(&g->wide, *w);
		vec_done(&c->edges);
		vec_done(&c->wide);
	}
	for (size_t i = 0; i < nr_methods; i++)
		g->first[i + 1] += g->first[i];
}

/* The same edges from the other end, each caller once. */
static void turn_around(struct callgraph *g)
{
	size_t nr = g->program->methods.nr;
	uint32_t *last = mem_alloc(mem_bytes(nr + 1, sizeof(*last)));

	g->first_in = mem_zalloc(mem_bytes(nr + 2, sizeof(*g->first_in)));
	g->in = mem_alloc(mem_bytes(g->first[nr] + 1U, sizeof(*g->in)));
	g->in_kinds = mem_zalloc(g->first[nr] + 1U);
	memset(last, 0xff, (nr + 1) * sizeof(*last));
	for (uint32_t m = 0; m < nr; m++)
		callgraph_each(g, m, e)
		{
			g->first_in[e->to + 2] += last[e->to] != m;
			last[e->to] = m;
		}
	for (size_t i = 2; i < nr + 2; i++)
		g->first_in[i] += g->first_in[i - 1];
	memset(last, 0xff, (nr + 1) * sizeof(*last));
	for (uint32_t m = 0; m < nr; m++)
		callgraph_each(g, m, e)
		{
			if (last[e->to] != m)
				g->in[g->first_in[e->to + 1]++] = m;
			g->in_kinds[g->first_in[e->to + 1] - 1] |= (uint8_t)(1U << e->kind);
			last[e->to] = m;
		}
	free(last);
}

void callgraph_init(struct callgraph *g, struct program *p, struct losses *losses)
{
	uint32_t nr_chunks = (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK);
	struct search s = { .program = p };

	s.chunks = mem_zalloc(mem_bytes(nr_chunks + 1U, sizeof(*s.chunks)));
	*g = (struct callgraph){ .program = p };
	g->is_named = s.is_named = mem_zalloc(p->methods.nr + 1);
	rpc_init(&s.rpc, p);
	crew_run_with(p->threads, nr_chunks, find_made, &s);
	crew_run_with(p->threads, nr_chunks, find_edges, &s);
	follow_relays(&s, nr_chunks);
	gather(g, &s, nr_chunks, losses);
	turn_around(g);
	rpc_done(&s.rpc);
	free(s.chunks);
}

void callgraph_done(struct callgraph *g)
{
	free(g->first);
	free(g->edges);
	free(g->first_in);
	free(g->in);
	free(g->in_kinds);
	free(g->is_named);
	vec_done(&g->wide);
}
