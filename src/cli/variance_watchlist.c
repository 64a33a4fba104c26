#include "cli/variance_watchlist.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "program/functions.h"

#define SMALL_BYTES 16
#define LOOKS_MAX 8   /* at stacks, which stop the program each time */
#define CALLS_PART 50 /* of the calls that are too many, this part is worth a function */

/* What every program stands on: time there is told of who called it. */
static bool is_of_system(const struct functions *f, uint32_t function)
{
	static const char *const names[] = { "libc.so",   "libc-",    "libpthread", "libm.so",
					     "libm-",     "ld-linux", "libdl",      "librt",
					     "libstdc++", "libgcc_s", "[vdso]",     "ld-musl" };
	struct str path = f->modules.v[f->v.v[function].module].path, base = path;

	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/')
			base = str_skip(path, i + 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_starts(base, str_of(names[i])))
			return true;
	return false;
}

/* So small that it has nothing in it that could vary, and calls nobody. */
static bool is_small(const struct watchlist *p, uint32_t function)
{
	struct callees callees = { 0 };
	struct error ignored = { 0 };

	return p->functions->v.v[function].size < SMALL_BYTES &&
	       (functions_callees(p->functions, function, &callees, &ignored) < 0 ||
		(!callees.nr && !callees.is_indirect));
}

/* Nothing to be found in it, or below all programs. */
static bool is_left_alone(const struct watchlist *p, uint32_t function)
{
	return (!p->has_system && is_of_system(p->functions, function)) || is_small(p, function);
}

void watchlist_done(struct watchlist *p)
{
	vec_done(&p->v);
	vec_done(&p->roles);
	map_done(&p->at);
}

static void describe(struct watchlist *p, struct watch *n, uint32_t number)
{
	const struct function_of *f = &p->functions->v.v[n->function];

	n->how.id = number;
	n->how.module = arena_z(&p->functions->arena, p->functions->modules.v[f->module].path);
	n->how.address = f->address;
	n->how.size = f->size;
	n->how.is_call = true;
}

uint32_t watchlist_add(struct watchlist *p, uint32_t function, enum interval_role role,
		       uint32_t depth)
{
	uint64_t *at = map_at(&p->at, function + 1);
	struct watch *n;

	if (*at) {
		n = &p->v.v[*at - 1];
		if (role != ROLE_NONE && n->role == ROLE_NONE) {
			n->role = role;
			p->roles.v[*at - 1].role = role;
		}
		return (uint32_t)(*at - 1);
	}
	*at = p->v.nr + 1;
	vec_push(&p->v, ((struct watch){ .function = function, .role = role, .depth = depth }));
	vec_push(&p->roles,
		 ((struct interval_function){ p->functions->v.v[function].folded, role }));
	describe(p, &p->v.v[p->v.nr - 1], (uint32_t)p->v.nr - 1);
	return (uint32_t)p->v.nr - 1;
}

uint32_t watchlist_add_static(struct watchlist *p, struct str name, enum interval_role role)
{
	vec_push(&p->v, (struct watch){ .function = UINT32_MAX,
					.role = role,
					.is_static = true,
					.is_on = true,
					.is_expanded = true });
	vec_push(&p->roles, (struct interval_function){ name, role });
	return (uint32_t)p->v.nr - 1;
}

uint32_t watchlist_add_java(struct watchlist *p, struct java_method *java, struct str name,
			    enum interval_role role, uint32_t depth)
{
	vec_push(&p->v,
		 (struct watch){
			 .function = UINT32_MAX, .role = role, .java = java, .depth = depth });
	vec_push(&p->roles, (struct interval_function){ name, role });
	return (uint32_t)p->v.nr - 1;
}

void watchlist_meet(struct watchlist *p, uint32_t function, uint32_t depth)
{
	if (!is_left_alone(p, function))
		watchlist_add(p, function, ROLE_NONE, depth);
}

size_t watchlist_expand(struct watchlist *p, uint32_t number, struct error *err)
{
	size_t before = p->v.nr;
	struct callees callees = { 0 };
	uint32_t depth = p->v.v[number].depth + 1;

	if (p->v.v[number].is_expanded)
		return 0;
	p->v.v[number].is_expanded = true;
	if (functions_callees(p->functions, p->v.v[number].function, &callees, err) < 0)
		return 0;
	p->v.v[number].is_indirect = callees.is_indirect;
	for (size_t i = 0; i < callees.nr && p->v.nr < PROBE_FUNCTIONS_MAX; i++)
		watchlist_meet(p, callees.v[i], depth);
	return p->v.nr - before;
}

uint32_t watchlist_find_leaf(const struct watchlist *p, struct str name)
{
	for (uint32_t i = 0; i < p->v.nr; i++)
		if (p->v.v[i].is_on && !p->v.v[i].is_expanded && str_eq(p->roles.v[i].name, name))
			return i;
	return UINT32_MAX;
}

uint32_t watchlist_find_unclear(const struct watchlist *p, struct str name, uint32_t from)
{
	for (uint32_t i = from; i < p->v.nr; i++)
		if (p->v.v[i].is_on && p->v.v[i].is_expanded && p->v.v[i].is_indirect &&
		    p->v.v[i].nr_looks < LOOKS_MAX && str_eq(p->roles.v[i].name, name))
			return i;
	return UINT32_MAX;
}

size_t watchlist_nr_on(const struct watchlist *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->v.nr; i++)
		nr += p->v.v[i].is_on && !p->v.v[i].is_static;
	return nr;
}

/* What watching a function costs, against what can come of it: one whose calls are all short makes
 * nothing vary, however often it is called. */
static double waste(const struct watch *n, uint64_t calls)
{
	double square = n->nr_calls ? n->squares / (double)n->nr_calls : 0;

	return (double)calls / (1 + square);
}

/* The one to do without, of those that are called so often at least. */
static uint32_t least_worth(const struct watchlist *p, const uint64_t *calls, double least)
{
	uint32_t worst = UINT32_MAX;

	for (uint32_t i = 0; i < p->v.nr; i++)
		if (p->v.v[i].is_on && p->v.v[i].role == ROLE_NONE && calls[i] &&
		    (double)calls[i] >= least &&
		    (worst == UINT32_MAX ||
		     waste(&p->v.v[i], calls[i]) > waste(&p->v.v[worst], calls[worst])))
			worst = i;
	return worst;
}

size_t watchlist_cool(struct watchlist *p, double budget, double call_ns, int64_t cpu_ns,
		      uint32_t *out, size_t max)
{
	VEC(uint64_t) calls = { 0 };
	double all = 0, room = budget * (double)cpu_ns;
	size_t nr = 0;

	for (size_t i = 0; i < p->v.nr; i++) {
		struct watch *n = &p->v.v[i];

		vec_push(&calls, n->is_on ? n->nr_calls - n->nr_before : 0);
		n->nr_before = n->nr_calls;
		all += (double)calls.v[i] * call_ns;
	}
	while (all > room && nr < max) {
		uint32_t i = least_worth(p, calls.v, (all - room) / call_ns / CALLS_PART);

		if (i == UINT32_MAX)
			i = least_worth(p, calls.v, 0);
		if (i == UINT32_MAX)
			break;
		all -= (double)calls.v[i] * call_ns;
		p->v.v[i].out = WATCH_HOT;
		p->v.v[i].is_on = false;
		out[nr++] = i;
	}
	vec_done(&calls);
	return nr;
}
