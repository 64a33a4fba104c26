#include "ask/objects/objects.h"

#include <errno.h>

#include "ask/length.h"
#include "ask/object_kin.h"
#include "ask/objects/instances.h"
#include "ask/objects/hierarchy.h"
#include "ask/objects/links.h"
#include "ask/objects/why.h"
#include "ask/when.h"
#include "base/arena.h"
#include "base/error.h"
#include "report/report.h"
#include "store/objects.h"
#include "store/store.h"

static int say_none(struct report *report)
{
	struct section *s = report_section(report, SECTION_PROSE, "objects", "");

	section_say(
		s, NULL,
		"There are no objects: the inputs are no logs, or their lines name nothing that "
		"comes again. A run of an older culprit has to be made again from its logs.");
	return 1;
}

static int answer_types(struct store *s, const struct args *args, struct arena *a,
			struct report *report, struct error *err)
{
	struct object_graph g = { 0 };
	struct object_lives *lives = NULL;
	int r = store_objects_some(s, 0, a, &g, err);

	if (r > 0)
		r = store_object_lives(s, a, &lives, err);
	if (r < 0)
		return r;
	if (!r || !g.nr_types)
		return say_none(report);
	if (args_has(args, "relations"))
		relations_report(&g, lives, report);
	else
		hierarchy_report(&g, lives, report);
	return 0;
}

static int read_times(const struct args *args, struct store *s, struct instances_filter *f,
		      struct error *err)
{
	struct request_filter times = { 0 };
	int r = when_times(args, s, &times, err);

	if (r < 0)
		return r;
	f->from_ns = args_has(args, "from") ? times.from_ns : INT64_MIN;
	f->until_ns = args_has(args, "until") ? times.until_ns : INT64_MAX;
	return 0;
}

static int read_filter(const struct args *args, struct store *s, const struct object_graph *g,
		       struct instances_filter *f, struct error *err)
{
	const char *type = args_get(args, "type"), *under = args_get(args, "under");
	int r;

	*f = (struct instances_filter){ .type = UINT32_MAX,
					.under = UINT32_MAX,
					.for_people = args_for_people(args),
					.has_events = args_has(args, "events") };
	r = read_times(args, s, f, err);
	if (r >= 0)
		r = args_uint(args, "limit", &f->limit, err);
	if (r >= 0)
		r = args_uint(args, "slowest", &f->slowest, err);
	if (r >= 0 && args_has(args, "slowest") && !f->slowest)
		r = error_set(err, EINVAL, "--slowest takes a number from 1 on");
	if (r >= 0 && type)
		r = object_find_type(g, str_of(type), &f->type, err);
	if (r >= 0 && under)
		r = object_find(g, str_of(under), &f->under, err);
	return r;
}

static int answer_instances(struct store *s, const struct args *args, struct arena *a,
			    struct report *report, struct error *err)
{
	struct object_graph g = { 0 };
	struct instances_filter f;
	struct object_kin k;
	bool is_linked = args_has(args, "links");
	unsigned parts = OBJECTS_INSTANCES | (is_linked ? OBJECTS_LINKS : 0) |
			 (args_has(args, "events") ? OBJECTS_EVENTS : 0);
	int r = store_objects_some(s, parts, a, &g, err);

	if (r < 0)
		return r;
	if (!r || !g.nr_types)
		return say_none(report);
	r = read_filter(args, s, &g, &f, err);
	if (r < 0)
		return r;
	object_kin_init(&k, &g, a);
	if (is_linked)
		return links_report(&k, f.under, f.limit, f.for_people, report);
	return instances_report(&k, &f, report);
}

/* Of a type, the one that lives longest is meant. */
static int find_for_why(const struct object_graph *g, const char *name, uint32_t *object,
			struct error *err)
{
	struct error other = { 0 };
	uint32_t type;
	int64_t most = -1;
	int r = object_find(g, str_of(name), object, err);

	if (r != -ENOENT || object_find_type(g, str_of(name), &type, &other) < 0)
		return r;
	for (uint32_t i = 0; i < g->nr_objects; i++) {
		const struct object *o = &g->objects[i];

		if (o->type == type && object_has_time(o) &&
		    length_ns(o->first_ns, o->last_ns) > most) {
			most = length_ns(o->first_ns, o->last_ns);
			*object = i;
		}
	}
	return most < 0 ? r : 0;
}

static int answer_why(struct store *s, const struct args *args, struct arena *a,
		      struct report *report, struct error *err)
{
	struct object_graph g = { 0 };
	struct object_kin k;
	uint32_t object;
	int r = store_objects_some(s, OBJECTS_EVENTS | OBJECTS_TEXTS, a, &g, err);

	if (r < 0)
		return r;
	if (!r || !g.nr_types)
		return say_none(report);
	r = find_for_why(&g, args_get(args, "why"), &object, err);
	if (r < 0)
		return r;
	object_kin_init(&k, &g, a);
	return bottleneck_report(&k, object, report);
}

static int run(struct store *const *runs, const struct args *args, struct report *report,
	       struct error *err)
{
	static const char *const of_instances[] = { "instances", "links",   "type",
						    "under",     "slowest", "limit",
						    "from",      "until",   "events" };
	struct arena arena = { 0 };
	bool by_one = false;
	int r;

	for (size_t i = 0; i < sizeof(of_instances) / sizeof(*of_instances); i++)
		by_one |= args_has(args, of_instances[i]);
	if (args_has(args, "why"))
		r = answer_why(runs[0], args, &arena, report, err);
	else if (by_one)
		r = answer_instances(runs[0], args, &arena, report, err);
	else
		r = answer_types(runs[0], args, &arena, report, err);
	arena_done(&arena);
	return r;
}

static const struct option options[] = {
	{ "relations", NULL,
	  "how any two types relate (1:1, 1:n, m:n), with the lines that show it" },
	{ "instances", NULL, "the objects one by one, below their parents" },
	{ "links", NULL, "objects that lines name together though none is above the other" },
	{ "type", "TYPE",
	  "only objects of this type, or of the one type that has this in its name" },
	{ "under", "OBJECT", "only this object, by any of its ids, and what is below it" },
	{ "slowest", "N", "only the N objects that live longest, the longest first" },
	{ "limit", "N", "only the first N objects" },
	{ "events", NULL,
	  "with --json: when lines name each object, as far as is kept: the first and the last of "
	  "a kind" },
	{ "why", "OBJECT",
	  "where its time goes: children, silences, whose end they wait for; a type: its longest" },
	{ "dot", "GRAPH", "draw for Graphviz: s3 (the hierarchy) or types (any two that relate)" },
	{ "from", "TIME", "only objects that live at this time or later" },
	{ "until", "TIME", "only objects that live before this time" },
	{ 0 },
};

static const struct example examples[] = {
	{ "objects run.culprit", "which objects the logs name, and how their types hang together" },
	{ "objects run.culprit --instances", "the objects one by one, as a tree" },
	{ "objects run.culprit --slowest 5", "the five that live longest" },
	{ "objects run.culprit --why blk", "where the time of the longest-living block goes" },
	{ "objects run.culprit --dot s3", "the hierarchy as a drawing for Graphviz" },
	{ 0 },
};

const struct question ask_objects = {
	.name = "objects",
	.summary = "show the objects that logs name: their hierarchy, lifetimes and waits",
	.nr_runs = 1,
	.is_of_objects = true,
	.options = options,
	.examples = examples,
	.run = run,
};
