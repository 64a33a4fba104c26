#include "ask/object_findings.h"

#include <stdlib.h>

#include "ask/length.h"
#include "ask/object_tell.h"
#include "ask/tell.h"
#include "base/arena.h"
#include "report/report.h"
#include "store/objects.h"

#define OBJECTS_MOST 500000 /* more take too long for an answer that nobody asked for */
#define KINDS_TRIED 8
#define TOLD_MOST 2
#define SURE 0.99
#define HITS_LEAST 8
#define HITS_SHARE 0.6
#define LIFT 3
#define LIFE_SHARE 0.1 /* of the lives of the objects that wait */

struct weighing {
	const struct object_graph *g;
	struct object_kin k;
	struct object_waits waits;
	struct object_ends *ends;
	uint32_t *order; /* kinds that take most time first */
	double *lives;   /* by type */
	struct section *out;
	size_t told;
};

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct wait_kind *v = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (v[i].total_ns != v[j].total_ns)
		return v[i].total_ns > v[j].total_ns ? -1 : 1;
	return i < j ? -1 : 1;
}

static void sum_lives(struct weighing *w, struct arena *a)
{
	w->lives = arena_array(a, double, w->g->nr_types + 1);
	for (size_t i = 0; i < w->g->nr_objects; i++) {
		const struct object *o = &w->g->objects[i];

		if (object_has_time(o))
			w->lives[o->type] += (double)length_ns(o->first_ns, o->last_ns);
	}
}

static bool is_worth(const struct weighing *w, const struct wait_kind *k)
{
	return k->nr >= HITS_LEAST && (double)k->total_ns >= LIFE_SHARE * w->lives[k->type];
}

/* That something waits for its own application is how it should be; for another's, it is not. */
static bool is_strong(const struct object_cause *c)
{
	return c->elsewhere != UINT32_MAX && c->confidence >= SURE && c->hits >= HITS_LEAST &&
	       (double)c->hits >= HITS_SHARE * c->nr && c->hits >= LIFT * c->expected;
}

/* The longest silence of the kind that has such an end at hand. */
static const struct object_wait *find_example(const struct weighing *w, const struct wait_kind *k,
					      const struct object_cause *c)
{
	const struct object_wait *best = &w->waits.waits.v[k->first];
	int64_t longest = -1, ns;
	uint32_t other;

	for (uint32_t i = k->first; i < k->first + k->nr; i++) {
		const struct object_wait *x = &w->waits.waits.v[i];
		int64_t length = length_ns(x->from, x->to);

		if (length > longest && object_cause_of(w->ends, c, x, &other, &ns)) {
			longest = length;
			best = x;
		}
	}
	return best;
}

static void tell(const struct weighing *w, uint32_t kind, const struct object_cause *c,
		 const char *run, struct section *s)
{
	const struct object_wait *x = find_example(w, &w->waits.kinds.v[kind], c);
	struct prose *p = object_tell_cause(s, w->ends, &w->waits, kind, c, x);
	struct buf command = { 0 }, name = { 0 };

	/* with its type: numbers are names of many */
	buf_add(&name, w->g->types[w->g->objects[x->object].type].name);
	buf_char(&name, ' ');
	object_name(w->g, &w->g->objects[x->object], &name);
	buf_add(&command, STR("culprit objects "));
	tell_shell_word(&command, str_of(run));
	buf_add(&command, STR(" --why "));
	tell_shell_word(&command, buf_str(&name));
	p->command = arena_str(s->arena, buf_str(&command));
	buf_done(&command);
	buf_done(&name);
}

static void weigh(struct weighing *w, const char *run, struct report *report)
{
	size_t tried = 0;

	for (size_t i = 0; i < w->waits.kinds.nr && tried < KINDS_TRIED && w->told < TOLD_MOST;
	     i++) {
		const struct wait_kind *k = &w->waits.kinds.v[w->order[i]];
		struct object_cause c;

		if (!is_worth(w, k) ||
		    object_wait_sense(&w->waits, &w->k, w->order[i]) == WAIT_IDLE)
			continue;
		tried++;
		if (!object_cause(w->ends, &w->waits, w->order[i], &c) || !is_strong(&c))
			continue;
		if (!w->out)
			w->out = report_section(report, SECTION_PROSE, "objects",
						"Objects that wait");
		tell(w, w->order[i], &c, run, w->out);
		w->told++;
	}
}

/* Times without children first: they say most about who waits. */
static void look(const struct object_graph *g, struct arena *a, const char *run,
		 struct report *report)
{
	struct weighing w = { .g = g };

	object_kin_init(&w.k, g, a);
	sum_lives(&w, a);
	for (int pass = 0; pass < 2; pass++) {
		(pass ? object_waits_find : object_gaps_find)(&w.waits, &w.k);
		if (w.waits.kinds.nr && !w.ends)
			w.ends = object_ends_new(g);
		w.order = arena_array(a, uint32_t, w.waits.kinds.nr + 1);
		for (uint32_t i = 0; i < w.waits.kinds.nr; i++)
			w.order[i] = i;
		if (w.waits.kinds.nr > 1)
			qsort_r(w.order, w.waits.kinds.nr, sizeof(uint32_t), by_total,
				w.waits.kinds.v);
		weigh(&w, run, report);
		object_waits_done(&w.waits);
		w.waits = (struct object_waits){ 0 };
	}
	object_ends_free(w.ends);
}

int object_findings_tell(struct store *s, const char *run, struct report *report, struct error *err)
{
	struct object_graph g = { 0 };
	struct arena arena = { 0 };
	int r = store_objects_some(s, 0, &arena, &g, err);

	if (r > 0 && g.nr_objects > OBJECTS_MOST) {
		report->losses.count[LOSS_OBJECTS_NOT_WEIGHED] += g.nr_objects;
		r = 0;
	}
	if (r > 0)
		r = store_objects_some(s, OBJECTS_EVENTS | OBJECTS_TEXTS, &arena, &g, err);
	if (r > 0)
		look(&g, &arena, run, report);
	arena_done(&arena);
	return r < 0 ? r : 0;
}
