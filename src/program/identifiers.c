/*
 * lprof, section 4.2. Methods are summed up from the bottom of the call graph: which values they
 * log without changing them, and how often; which they change. A value is known by the way to it
 * from a parameter (block.poolId), so that it can be followed into the caller, whatever it is
 * called there. Where the caller makes or changes the value, it is lost on the way; where more is
 * lost than gained, the callee is where the work on one request begins.
 *
 * We differ from the paper in two ways. Values are told apart by access path, not by variable,
 * which makes the copy that a method works on another value than the original. And work begins
 * where a thread or a call from outside begins, whether or not identifiers were lost (tops.c).
 */
#include "program/identifiers.h"

#include <stdlib.h>

#include "program/common.h"
#include "program/graph.h"
#include "program/made.h"
#include "program/origin.h"
#include "program/tops.h"

enum {
	IDS_MAX = 64, /* of one method: the most logged */
	CHANGED_MAX = 192,
	FIELDS_MAX = 3,
	COUNT_MAX = 4096,       /* what is logged more often is logged often */
	SILENT_BYTES_MAX = 256, /* of code, in a method that does not log */
	SILENT_DEPTH_MAX = 3,
	ROUNDS_MAX = 3, /* over methods that call each other in circles */
};

struct path identifiers_in_caller(const struct path *of, struct where call, bool is_change,
				  struct arena *a)
{
	struct path p = { .root = ROOT_LOCAL }, arg;
	struct where object, value;
	uint16_t passed = 0;

	if (of->root < 0 || (uint32_t)of->root >= where_value(call)->nr)
		return p;
	object = where_arg(call, (uint32_t)of->root);
	arg = origin_path(object, a);
	/* a write to a slot of a new object is no change of what was handed to its maker */
	if (arg.root < 0 && of->nr > is_change && made_field(object, of->fields[0], a, &value)) {
		arg = origin_path(value, a);
		passed = 1; /* the field is what the maker was given */
	}
	if (arg.root < 0 || arg.method != call.scope->method)
		return p;
	p.root = arg.root;
	p.method = call.scope->method;
	p.fields = arena_array(a, struct str, (size_t)arg.nr + of->nr + 1);
	for (uint16_t i = 0; i < arg.nr; i++)
		p.fields[p.nr++] = arg.fields[i];
	for (uint16_t i = passed; i < of->nr; i++)
		p.fields[p.nr++] = of->fields[i];
	return p;
}

struct changes {
	struct path *v;
	size_t nr, room;
};

struct finder {
	struct identifiers *out;
	const struct callgraph *g;
	const struct program *program;
	const struct log_points *points;
	struct scopes scopes;
	struct arena scratch;
	VEC(struct identifier) ids;
	struct changes changed;
};

/* Whether a change of the one is a change of the other: a field of it, or it itself. */
static bool is_within(const struct path *inner, const struct path *outer)
{
	if (inner->root != outer->root || inner->nr < outer->nr)
		return false;
	for (uint16_t i = 0; i < outer->nr; i++)
		if (!str_eq(inner->fields[i], outer->fields[i]))
			return false;
	return true;
}

static void add_id(struct finder *f, const struct path *p, uint32_t count)
{
	vec_each (&f->ids, id) {
		if (!path_is_same(&id->path, p))
			continue;
		id->count = id->count + count < COUNT_MAX ? id->count + count : COUNT_MAX;
		return;
	}
	vec_push(&f->ids, (struct identifier){ *p, count });
}

static void add_changed(struct changes *to, const struct path *p)
{
	vec_each (to, c)
		if (path_is_same(c, p))
			return;
	if (to->nr < CHANGED_MAX)
		vec_push(to, *p);
}

/* What a point logs, in the version that says most. */
static void add_point(struct finder *f, const struct log_point *p)
{
	const struct version *v = p->text.nr ? &p->text.versions[0] : NULL;

	for (uint32_t i = 0; v && i < v->nr; i++) {
		struct path path;

		if (v->parts[i].kind != PART_HOLE || !v->parts[i].path)
			continue;
		path = *v->parts[i].path;
		if (path.method != p->method)
			path.root = ROOT_LOCAL;
		if (path.root >= 0 || (path.root == ROOT_LOCAL && path.nr))
			add_id(f, &path, 1);
	}
}

/* A value of the callee as one of the caller: through the argument that it came by. */
static struct path in_caller(struct finder *f, const struct path *of, struct where call,
			     bool is_change)
{
	struct path p = identifiers_in_caller(of, call, is_change, &f->scratch);

	if (p.root >= 0 && p.nr > FIELDS_MAX) /* no longer of this request, but of the service */
		p.root = ROOT_LOCAL;
	return p;
}

static void add_changes(struct finder *f, struct changes *to, struct where call,
			const struct summary *callee)
{
	for (uint32_t i = 0; i < callee->nr_changed; i++) {
		struct path p = in_caller(f, &callee->changed[i], call, true);

		if (p.root != ROOT_LOCAL)
			add_changed(to, &p);
	}
}

static void add_call(struct finder *f, struct where call, const struct summary *callee)
{
	for (uint32_t i = 0; i < callee->nr; i++) {
		struct path p = in_caller(f, &callee->ids[i].path, call, false);

		if (p.root != ROOT_LOCAL)
			add_id(f, &p, callee->ids[i].count);
	}
	add_changes(f, &f->changed, call, callee);
}

/* A value of the method at pc that is a call; 0 for none. */
static uint32_t call_at(const struct values *v, uint16_t pc)
{
	for (uint32_t i = 1; i < v->nr; i++)
		if (v->v[i].kind == VALUE_CALL && v->v[i].pc == pc)
			return i;
	return 0;
}

static void add_puts(struct finder *f, struct changes *to, const struct scope *s)
{
	for (uint32_t i = 1; i < s->v->nr; i++) {
		struct where at = { s, i };
		struct member_ref m;
		struct path object, p;
		struct str owner;

		if (s->v->v[i].kind != VALUE_PUT_FIELD || !where_member(at, &m))
			continue;
		object = origin_path(where_arg(at, 0), &f->scratch);
		if (object.root == ROOT_LOCAL || object.method != s->method ||
		    object.nr == PATH_MAX_FIELDS)
			continue;
		p = object;
		p.fields = arena_array(&f->scratch, struct str, p.nr + 1U);
		for (uint16_t k = 0; k < object.nr; k++)
			p.fields[k] = object.fields[k];
		owner = origin_simple(m.owner);
		p.fields[p.nr++] = arena_fmt(&f->scratch, STR_FMT "." STR_FMT, STR_ARG(owner),
					     STR_ARG(m.name));
		add_changed(to, &p);
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

static void keep_changed(struct finder *f, struct summary *s, const struct changes *from)
{
	struct arena *a = &f->out->arena;

	s->changed = arena_array(a, struct path, from->nr + 1U);
	s->nr_changed = 0;
	vec_each (from, c)
		s->changed[s->nr_changed++] = keep_path(a, c);
}

/* What a small method that does not log changes: most are setters. */
static void sum_up_silent(struct finder *f, uint32_t method, unsigned depth)
{
	const struct member *m = f->program->methods.v[method].member;
	struct summary *out = &f->out->of[method];
	struct changes changed = { 0 };
	struct scope s;

	if (out->is_known)
		return;
	out->is_known = true; /* also ends circles */
	if (!m->code || m->code->bytes.n > SILENT_BYTES_MAX || !scope_init(&s, &f->scopes, method))
		return;
	add_puts(f, &changed, &s);
	callgraph_each(f->g, method, e)
	{
		uint32_t call;

		if (e->kind != EDGE_CALL || f->out->speaks[e->to] || depth == SILENT_DEPTH_MAX)
			continue;
		sum_up_silent(f, e->to, depth + 1);
		call = f->out->of[e->to].nr_changed ? call_at(s.v, e->pc) : 0;
		if (call)
			add_changes(f, &changed, (struct where){ &s, call }, &f->out->of[e->to]);
	}
	if (changed.nr)
		keep_changed(f, out, &changed);
	vec_done(&changed);
}

/* An edge is followed once for each target; several targets of one call are the same work. */
static void add_calls(struct finder *f, const struct scope *s)
{
	callgraph_each(f->g, s->method, e)
	{
		const struct summary *callee = &f->out->of[e->to];
		uint32_t call;

		if (e->kind != EDGE_CALL)
			continue;
		if (!f->out->speaks[e->to])
			sum_up_silent(f, e->to, 0);
		if (!callee->total && !callee->nr_changed)
			continue;
		call = call_at(s->v, e->pc);
		if (call)
			add_call(f, (struct where){ s, call }, callee);
	}
}

static int by_count(const void *a, const void *b)
{
	const struct identifier *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->path.root != y->path.root)
		return x->path.root < y->path.root ? -1 : 1;
	if (x->path.nr != y->path.nr)
		return x->path.nr < y->path.nr ? -1 : 1;
	for (uint16_t i = 0; i < x->path.nr; i++) {
		int r = str_cmp(x->path.fields[i], y->path.fields[i]);

		if (r)
			return r;
	}
	return 0;
}

/* What was gathered, without what the method changes. */
static void keep_summary(struct finder *f, struct summary *s)
{
	struct arena *a = &f->out->arena;

	s->nr = s->nr_changed = 0;
	s->total = 0;
	vec_each (&f->ids, id) {
		bool is_changed = false;

		vec_each (&f->changed, c)
			is_changed |= is_within(&id->path, c);
		if (is_changed)
			continue;
		s->total += id->count;
		f->ids.v[s->nr++] = *id;
	}
	if (s->nr)
		qsort(f->ids.v, s->nr, sizeof(*f->ids.v), by_count);
	if (s->nr > IDS_MAX)
		s->nr = IDS_MAX;
	s->ids = arena_array(a, struct identifier, s->nr + 1U);
	for (uint32_t i = 0; i < s->nr; i++)
		s->ids[i] =
			(struct identifier){ keep_path(a, &f->ids.v[i].path), f->ids.v[i].count };
	keep_changed(f, s, &f->changed);
}

static void sum_up(struct finder *f, uint32_t method)
{
	struct scope s;

	vec_clear(&f->ids);
	vec_clear(&f->changed);
	if (!scope_init(&s, &f->scopes, method))
		return;
	for (uint32_t i = f->out->points_first[method]; i < f->out->points_first[method + 1]; i++)
		add_point(f, &f->points->v.v[i]);
	add_puts(f, &f->changed, &s);
	add_calls(f, &s);
	keep_summary(f, &f->out->of[method]);
	arena_reset(&f->scratch);
	scopes_trim(&f->scopes);
}

void identifiers_components(const struct identifiers *i, const struct callgraph *g,
			    struct components *c)
{
	size_t nr = g->program->methods.nr, at = 0;
	uint32_t *first = mem_alloc(mem_bytes(nr + 1, sizeof(*first)));
	uint32_t *to = mem_alloc(mem_bytes(g->first[nr] + 1U, sizeof(*to)));
	struct graph graph = { (uint32_t)nr, first, to };

	for (uint32_t m = 0; m < nr; m++) {
		first[m] = (uint32_t)at;
		if (!i->speaks[m])
			continue;
		callgraph_each(g, m, e) if (e->kind == EDGE_CALL && i->speaks[e->to]) to[at++] =
			e->to;
	}
	first[nr] = (uint32_t)at;
	components_find(c, &graph);
	free(first);
	free(to);
}

static void sum_up_all(struct finder *f)
{
	uint32_t nr = (uint32_t)f->program->methods.nr;
	struct components c;

	identifiers_components(f->out, f->g, &c);
	for (uint32_t from = 0, to; from < nr; from = to) {
		unsigned rounds;

		for (to = from + 1; to < nr && c.of[c.order[to]] == c.of[c.order[from]];)
			to++;
		rounds = to - from > 1 ? ROUNDS_MAX : 1;
		for (unsigned r = 0; r < rounds; r++)
			for (uint32_t i = from; i < to; i++)
				if (f->out->speaks[c.order[i]])
					sum_up(f, c.order[i]);
	}
	components_done(&c);
}

static void place_points(struct finder *f)
{
	size_t nr = f->program->methods.nr;
	uint32_t *first = mem_zalloc(mem_bytes(nr + 2, sizeof(*first)));

	vec_each (&f->points->v, p)
		first[p->method + 1]++;
	for (size_t i = 0; i <= nr; i++)
		first[i + 1] += first[i];
	f->out->points_first = first;
}

/* Backwards from the points, within one thread. */
static void find_speakers(struct finder *f)
{
	VEC(uint32_t) open = { 0 };
	bool *speaks = mem_zalloc(f->program->methods.nr + 1);

	vec_each (&f->points->v, p) {
		if (!speaks[p->method])
			vec_push(&open, p->method);
		speaks[p->method] = true;
	}
	while (open.nr) {
		uint32_t m = open.v[--open.nr];

		for (uint32_t i = f->g->first_in[m]; i < f->g->first_in[m + 1]; i++) {
			uint32_t caller = f->g->in[i];

			if (speaks[caller] || !callgraph_in_is(f->g, i, EDGE_CALL))
				continue;
			speaks[caller] = true;
			vec_push(&open, caller);
		}
	}
	vec_done(&open);
	f->out->speaks = speaks;
}

void identifiers_find(struct identifiers *out, const struct callgraph *g,
		      const struct log_points *points)
{
	struct finder f = { .out = out, .g = g, .program = g->program, .points = points };
	size_t nr = g->program->methods.nr;

	*out = (struct identifiers){ 0 };
	scopes_init(&f.scopes, g->program);
	place_points(&f);
	find_speakers(&f);
	out->of = mem_zalloc(mem_bytes(nr + 1, sizeof(*out->of)));
	out->top = mem_zalloc(nr + 1);
	sum_up_all(&f);
	tops_find(out, g);
	common_find(out, g);
	scopes_done(&f.scopes);
	arena_done(&f.scratch);
	vec_done(&f.ids);
	vec_done(&f.changed);
}

void identifiers_done(struct identifiers *i)
{
	arena_done(&i->arena);
	free(i->points_first);
	free(i->speaks);
	free(i->of);
	free(i->top);
	free(i->is_common);
	vec_done(&i->tops);
}
