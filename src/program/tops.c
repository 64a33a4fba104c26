/*
 * lprof, section 4.2: where the count of identifiers drops on the way to a caller, the callee is
 * where the work on one request begins. Besides, work begins where a thread begins, where another
 * process is answered, and where something calls that is not given: main, a callback, an override
 * of a foreign or abstract method. Public methods that merely nobody calls are the API of a
 * library; they count only when nothing else leads to what they log. And a thread that goes from
 * one request to the next, of several kinds, is not the beginning of any of them.
 */
#include "program/tops.h"

#include <stdlib.h>

#include "program/class.h"
#include "program/rpc.h"

enum {
	DROP_MIN = 2,    /* identifiers logged, for a drop to mean something */
	BETWEEN_MAX = 3, /* methods made by the compiler, in a row */
	KINDS_MIN = 2,   /* of requests that a thread works on, to be the beginning of none */
	KINDS_DEEP = 4,  /* calls on the way to them */
};

struct finder {
	struct identifiers *out;
	const struct callgraph *g;
	const struct program *program;
	bool *covered; /* by method: some top-level method leads to it */
};

static bool has_points(const struct identifiers *ids, uint32_t method)
{
	return ids->points_first[method] != ids->points_first[method + 1];
}

static bool is_reached(const struct callgraph *g, uint32_t method, enum edge_kind kind)
{
	for (uint32_t i = g->first_in[method]; i < g->first_in[method + 1]; i++)
		if (g->in[i] != method && callgraph_in_is(g, i, kind))
			return true;
	return false;
}

static bool is_synthetic(const struct program *p, uint32_t method)
{
	return p->methods.v[method].member->access & ACCESS_SYNTHETIC;
}

/* How many callers there are, and how many of them are left with less than half of it. */
struct tally {
	uint32_t total;
	uint32_t nr_callers, nr_losing;
};

/* What the compiler put between a method and its callers is no caller. */
static void tally_callers(const struct finder *f, uint32_t method, struct tally *t, unsigned depth)
{
	const struct callgraph *g = f->g;

	for (uint32_t i = g->first_in[method]; i < g->first_in[method + 1]; i++) {
		uint32_t caller = g->in[i];

		if (caller == method || !callgraph_in_is(g, i, EDGE_CALL))
			continue;
		if (is_synthetic(f->program, caller) && depth < BETWEEN_MAX) {
			tally_callers(f, caller, t, depth + 1);
			continue;
		}
		t->nr_callers++;
		t->nr_losing += 2 * f->out->of[caller].total < t->total;
	}
}

static bool is_dropped(const struct finder *f, uint32_t method)
{
	struct tally t = { .total = f->out->of[method].total };

	if (t.total < DROP_MIN || is_synthetic(f->program, method))
		return false;
	tally_callers(f, method, &t, 0);
	return 2 * t.nr_losing > t.nr_callers;
}

uint32_t tops_behind(const struct identifiers *ids, const struct callgraph *g, uint32_t method,
		     uint32_t *behind, uint32_t max)
{
	const struct program *p = g->program;
	uint32_t nr = 0;

	if (has_points(ids, method))
		return 0;
	callgraph_each(g, method, e)
	{
		bool is_new = e->kind == EDGE_CALL && ids->speaks[e->to] &&
			      p->methods.v[e->to].name == p->methods.v[method].name &&
			      p->methods.v[e->to].class != p->methods.v[method].class;

		for (uint32_t i = 0; i < nr; i++)
			is_new &= behind[i] != e->to;
		if (is_new && nr < max)
			behind[nr++] = e->to;
	}
	return nr;
}

/* Foreign types whose methods are called by what is not given, and by which name; empty for all. */
static bool is_callback(struct str type, struct str method)
{
	static const struct {
		struct str type, method;
	} callbacks[] = {
		{ STR("java/lang/Runnable"), STR("run") },
		{ STR("java/lang/Thread"), STR("run") },
		{ STR("java/util/TimerTask"), STR("run") },
		{ STR("java/util/concurrent/"), STR("") },
		{ STR("java/security/Privileged"), STR("run") },
		{ STR("java/lang/reflect/InvocationHandler"), STR("invoke") },
		{ STR("java/lang/Thread$UncaughtExceptionHandler"), STR("uncaughtException") },
	};

	for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		if (str_starts(type, callbacks[i].type) &&
		    (!callbacks[i].method.n || str_eq(method, callbacks[i].method)))
			return true;
	return !str_starts(type, STR("java/"));
}

static bool is_foreign(const struct program *p, struct str type)
{
	return type.n && program_class(p, type) == NO_CLASS;
}

/* Something foreign above the class may call a method of this name. */
static bool is_called_back(const struct program *p, const struct class *c, struct str name)
{
	if (is_foreign(p, c->super) && is_callback(c->super, name))
		return true;
	for (uint16_t i = 0; i < c->nr_interfaces; i++)
		if (is_foreign(p, c->interfaces[i]) && is_callback(c->interfaces[i], name))
			return true;
	return false;
}

/* Whether a class above the method's own asks for it: declared and called, abstract, or foreign. */
static bool is_override(const struct finder *f, const struct program_method *m)
{
	const struct program *p = f->program;
	uint32_t kin[KIN_MAX], nr = program_kin(p, m->class, kin);

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t above = i ? program_declared(p, kin[i], m->name, m->type) : NO_METHOD;

		if (is_called_back(p, &p->classes.v[kin[i]].c, m->member->name))
			return true;
		if (above != NO_METHOD &&
		    (f->g->is_named[above] || p->methods.v[above].member->access & ACCESS_ABSTRACT))
			return true;
	}
	return false;
}

static bool is_main(const struct program_method *m)
{
	return m->member->access & ACCESS_STATIC && str_eq(m->member->name, STR("main")) &&
	       str_eq(m->member->type, STR("([Ljava/lang/String;)V"));
}

static bool is_bridge(const struct program *p, uint32_t method)
{
	return p->methods.v[method].member->access & ACCESS_BRIDGE;
}

/* By anything but a bridge that itself is not called. */
static bool is_called(const struct finder *f, uint32_t method, unsigned depth)
{
	const struct callgraph *g = f->g;

	for (uint32_t i = g->first_in[method]; i < g->first_in[method + 1]; i++) {
		if (g->in[i] == method || !callgraph_in_is(g, i, EDGE_CALL))
			continue;
		if (!is_bridge(f->program, g->in[i]) || depth == BETWEEN_MAX ||
		    is_called(f, g->in[i], depth + 1))
			return true;
	}
	return false;
}

/* A generic method above is overridden by a bridge to the one with the narrower type. */
static bool is_bridged_override(const struct finder *f, uint32_t method)
{
	const struct program_method *m = &f->program->methods.v[method];
	const struct callgraph *g = f->g;

	for (uint32_t i = g->first_in[method]; i < g->first_in[method + 1]; i++) {
		const struct program_method *b = &f->program->methods.v[g->in[i]];

		if (b->class == m->class && is_bridge(f->program, g->in[i]) && is_override(f, b))
			return true;
	}
	return false;
}

/* Nothing given calls it, yet something must; and it has something to say. */
static bool is_entry(const struct finder *f, uint32_t method)
{
	const struct program_method *m = &f->program->methods.v[method];

	if (is_main(m))
		return true;
	if (!f->out->of[method].total && !has_points(f->out, method))
		return false;
	if (m->member->access & (ACCESS_STATIC | ACCESS_PRIVATE))
		return false;
	return is_override(f, m) || is_bridged_override(f, method);
}

static bool is_initializer(const struct program *p, uint32_t method)
{
	struct str name = p->methods.v[method].member->name;

	return str_eq(name, STR("<clinit>")) || str_eq(name, STR("<init>"));
}

/* Another process, whether or not the asking side is given. */
static bool answers(const struct finder *f, uint32_t method)
{
	return is_reached(f->g, method, EDGE_REMOTE) ||
	       (rpc_is_service(f->program->methods.v[method].member->type) &&
		!is_called(f, method, 0));
}

static enum top_why top_of(const struct finder *f, uint32_t method)
{
	uint32_t behind;

	if (!f->out->speaks[method] || is_initializer(f->program, method) ||
	    is_bridge(f->program, method))
		return TOP_NOT;
	if (is_reached(f->g, method, EDGE_START))
		return TOP_START;
	if (answers(f, method))
		return tops_behind(f->out, f->g, method, &behind, 1) ? TOP_NOT : TOP_REMOTE;
	if (is_called(f, method, 0))
		return is_dropped(f, method) ? TOP_DROP : TOP_NOT;
	return is_entry(f, method) ? TOP_ROOT : TOP_NOT;
}

static void cover(struct finder *f, uint32_t from)
{
	VEC(uint32_t) open = { 0 };

	if (f->covered[from])
		return;
	f->covered[from] = true;
	vec_push(&open, from);
	while (open.nr) {
		uint32_t at = open.v[--open.nr];

		callgraph_each(f->g, at, e)
		{
			if (e->kind != EDGE_CALL || f->covered[e->to] || !f->out->speaks[e->to])
				continue;
			f->covered[e->to] = true;
			vec_push(&open, e->to);
		}
	}
	vec_done(&open);
}

/* Marks the methods on the way to points that nothing leads to so far. */
static void find_forgotten(struct finder *f, bool *leads)
{
	const struct callgraph *g = f->g;
	VEC(uint32_t) open = { 0 };

	for (uint32_t m = 0; m < f->program->methods.nr; m++) {
		if (f->covered[m] || !has_points(f->out, m))
			continue;
		leads[m] = true;
		vec_push(&open, m);
	}
	while (open.nr) {
		uint32_t m = open.v[--open.nr];

		for (uint32_t i = g->first_in[m]; i < g->first_in[m + 1]; i++) {
			if (leads[g->in[i]] || !callgraph_in_is(g, i, EDGE_CALL))
				continue;
			leads[g->in[i]] = true;
			vec_push(&open, g->in[i]);
		}
	}
	vec_done(&open);
}

/* Their points would belong to nothing; with_circles: those that only call each other as well. */
static void add_rest(struct finder *f, bool with_circles)
{
	bool *leads = mem_zalloc(f->program->methods.nr + 1);

	find_forgotten(f, leads);
	for (uint32_t m = 0; m < f->program->methods.nr; m++) {
		if (!leads[m] || f->covered[m] ||
		    (!with_circles && (is_bridge(f->program, m) || is_called(f, m, 0))))
			continue;
		cover(f, m);
		f->out->top[m] = TOP_REST;
	}
	free(leads);
}

/* What stands behind a method that only answers is what does the work. */
static void move_behind(struct finder *f, uint32_t method)
{
	uint32_t behind[8], nr;

	if (!f->out->speaks[method] || f->out->top[method] == TOP_REMOTE || !answers(f, method))
		return;
	nr = tops_behind(f->out, f->g, method, behind, 8);
	for (uint32_t i = 0; i < nr; i++)
		f->out->top[behind[i]] = TOP_REMOTE;
}

/* Adds how many methods that lose their identifiers on the way here are called from the method. */
static uint32_t count_kinds(const struct finder *f, uint32_t method, uint32_t own, unsigned depth)
{
	uint32_t nr = 0;

	callgraph_each(f->g, method, e)
	{
		if (nr >= KINDS_MIN)
			break;
		if (e->kind != EDGE_CALL || !f->out->speaks[e->to] || e->to == method)
			continue;
		if (f->out->top[e->to] == TOP_DROP)
			nr += f->out->of[e->to].total > own;
		else if (f->out->top[e->to] == TOP_NOT && depth < KINDS_DEEP)
			nr += count_kinds(f, e->to, own, depth + 1);
	}
	return nr;
}

/* lprof's DataXceiver.run(): a loop over requests, each of which begins in what it calls. */
static bool is_dispatcher(const struct finder *f, uint32_t method)
{
	return f->out->top[method] == TOP_START &&
	       count_kinds(f, method, f->out->of[method].total, 1) >= KINDS_MIN;
}

static void drop_dispatchers(struct finder *f)
{
	uint32_t nr = (uint32_t)f->program->methods.nr;
	bool *is_none = mem_zalloc(nr + 1U);

	for (uint32_t m = 0; m < nr; m++)
		is_none[m] = is_dispatcher(f, m);
	for (uint32_t m = 0; m < nr; m++)
		if (is_none[m])
			f->out->top[m] = TOP_NOT;
	free(is_none);
}

void tops_find(struct identifiers *out, const struct callgraph *g)
{
	struct finder f = { .out = out, .g = g, .program = g->program };
	uint32_t nr = (uint32_t)g->program->methods.nr;

	f.covered = mem_zalloc(nr + 1U);
	for (uint32_t m = 0; m < nr; m++)
		out->top[m] = (uint8_t)top_of(&f, m);
	for (uint32_t m = 0; m < nr; m++)
		move_behind(&f, m);
	drop_dispatchers(&f);
	for (uint32_t m = 0; m < nr; m++)
		if (out->top[m] != TOP_NOT)
			cover(&f, m);
	add_rest(&f, false);
	add_rest(&f, true);
	for (uint32_t m = 0; m < nr; m++)
		if (out->top[m] != TOP_NOT)
			vec_push(&out->tops, m);
	free(f.covered);
}
