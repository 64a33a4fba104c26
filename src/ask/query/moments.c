#include "ask/query/moments.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "model/attr.h"

enum want {
	WANT_ATTR,
	WANT_TIME,
	WANT_HOST,
	WANT_PROCESS,
	WANT_PROCESS_ID,
	WANT_THREAD,
	WANT_POINT,
	WANT_ID,
	WANT_REQUEST,
	WANT_START,
	WANT_END,
	WANT_DURATION,
};

static const struct {
	const char *field;
	enum want want;
} wants[] = {
	{ "time", WANT_TIME },         { "timestamp", WANT_TIME },
	{ "host", WANT_HOST },         { "procName", WANT_PROCESS },
	{ "procId", WANT_PROCESS_ID }, { "thread", WANT_THREAD },
	{ "tracepoint", WANT_POINT },  { "id", WANT_ID },
	{ "request", WANT_REQUEST },   { "start", WANT_START },
	{ "end", WANT_END },           { "duration", WANT_DURATION },
};

#define FIELDS_MAX 4096 /* names of attributes that are remembered for "did you mean" */

void moments_init(struct gathered *g, const struct plan *plan)
{
	*g = (struct gathered){ .plan = plan };
	vec_push(&g->at, 0);
	vec_each (&plan->variables, v) {
		uint8_t want = WANT_ATTR;

		for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++)
			if (str_eq(v->field, str_of(wants[i].field)))
				want = (uint8_t)wants[i].want;
		vec_push(&g->wants, want);
	}
}

void moments_done(struct gathered *g)
{
	names_done(&g->names);
	names_done(&g->points);
	names_done(&g->fields);
	vec_done(&g->stages);
	vec_done(&g->nr_of_point);
	vec_done(&g->wants);
	vec_done(&g->ns);
	vec_done(&g->point);
	vec_done(&g->first);
	vec_done(&g->values);
	vec_done(&g->at);
	vec_done(&g->before);
}

/* A star stands for anything. */
static bool matches(struct str pattern, struct str name)
{
	size_t star = str_find_char(pattern, '*');
	struct str rest;

	if (star == pattern.n)
		return str_eq(pattern, name);
	if (!str_starts(name, str_head(pattern, star)))
		return false;
	rest = str_skip(pattern, star + 1);
	for (size_t i = star; i <= name.n; i++)
		if (matches(rest, str_skip(name, i)))
			return true;
	return false;
}

static uint64_t stages_of(const struct plan *p, struct str point)
{
	uint64_t stages = 0;

	for (size_t i = 0; i < p->stages.nr; i++)
		for (size_t k = 0; k < p->stages.v[i].nr_points; k++)
			if (matches(p->stages.v[i].points[k].name, point))
				stages |= (uint64_t)1 << i;
	return stages;
}

static uint32_t point_of(struct gathered *g, struct str point)
{
	sym_t sym = names_add(&g->points, point);

	while (g->stages.nr <= sym) {
		struct str name = names_str(&g->points, (sym_t)g->stages.nr);

		vec_push(&g->stages, stages_of(g->plan, name));
		vec_push(&g->nr_of_point, 0);
	}
	g->nr_of_point.v[sym]++;
	return sym;
}

static struct value text_value(struct gathered *g, struct str text)
{
	return text.n ? value_text(names_add(&g->names, text)) : VALUE_NONE;
}

static struct value attr_value(struct gathered *g, const struct moment *m, struct str key)
{
	struct attr a;

	if (!attr_find(m->attrs, key, &a) && !attr_find(m->more, key, &a))
		return VALUE_NONE;
	switch (a.type) {
	case ATTR_INT:
		return value_int(a.i);
	case ATTR_BOOL:
		return value_bool(a.i);
	case ATTR_DOUBLE:
		return value_double(a.d);
	default:
		return value_text(names_add(&g->names, a.text));
	}
}

static struct value time_value(int64_t ns)
{
	return ns == NS_NONE ? VALUE_NONE : value_int(ns);
}

static struct value process_id(struct gathered *g, const struct moment *m)
{
	static const char *const keys[] = { "procId", "process.pid", "pid" };
	struct value v = VALUE_NONE;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && v.type == VALUE_NULL; i++)
		v = attr_value(g, m, str_of(keys[i]));
	return v;
}

/* What the event itself calls so goes before what is only told of every event. */
static struct value observed(struct gathered *g, const struct moment *m, uint32_t variable)
{
	struct str field = g->plan->variables.v[variable].field;
	struct value v;

	switch ((enum want)g->wants.v[variable]) {
	case WANT_TIME:
		return time_value(m->ns);
	case WANT_HOST:
		return text_value(g, m->host);
	case WANT_PROCESS:
		return text_value(g, m->process);
	case WANT_PROCESS_ID:
		return process_id(g, m);
	case WANT_THREAD:
		return text_value(g, m->thread);
	case WANT_POINT:
		return text_value(g, m->point);
	default:
		break;
	}
	v = attr_value(g, m, field);
	if (v.type != VALUE_NULL)
		return v;
	switch ((enum want)g->wants.v[variable]) {
	case WANT_ID:
		return text_value(g, m->id);
	case WANT_REQUEST:
		return text_value(g, m->request);
	case WANT_START:
		return time_value(m->start);
	case WANT_END:
		return time_value(m->end);
	case WANT_DURATION:
		return m->end == NS_NONE ? VALUE_NONE : value_int(m->end - m->start);
	default:
		return VALUE_NONE;
	}
}

static void remember_fields(struct gathered *g, struct str packed)
{
	struct attr a;

	while (g->fields.nr < FIELDS_MAX && attr_take(&packed, &a))
		names_add(&g->fields, a.key);
}

uint32_t moments_add(struct gathered *g, const struct moment *m)
{
	uint32_t number = (uint32_t)g->ns.nr, point = point_of(g, m->point);
	uint64_t stages = g->stages.v[point];

	vec_push(&g->ns, m->ns);
	vec_push(&g->point, point);
	vec_push(&g->first, (uint32_t)g->values.nr);
	if (stages && g->nr_of_point.v[point] <= 256) {
		remember_fields(g, m->attrs);
		remember_fields(g, m->more);
	}
	for (; stages; stages &= stages - 1)
		vec_each (&g->plan->stages.v[__builtin_ctzll(stages)].observed, v) {
			struct value value = observed(g, m, *v);

			g->is_seen[*v] |= value.type != VALUE_NULL;
			vec_push(&g->values, value);
		}
	return number;
}

static uint64_t event_stages(void *ctx, uint32_t event)
{
	const struct gathered *g = ctx;

	return g->stages.v[g->point.v[event]];
}

static void event_observe(void *ctx, uint32_t event, uint32_t stage, struct value *row)
{
	const struct gathered *g = ctx;
	uint64_t before = g->stages.v[g->point.v[event]] & (((uint64_t)1 << stage) - 1);
	size_t at = g->first.v[event];

	for (; before; before &= before - 1)
		at += g->plan->stages.v[__builtin_ctzll(before)].observed.nr;
	vec_each (&g->plan->stages.v[stage].observed, v)
		row[*v] = g->values.v[at++];
}

struct observer_of_events moments_observer(struct gathered *g)
{
	return (struct observer_of_events){ g, event_stages, event_observe };
}

struct happened moments_happened(const struct gathered *g)
{
	return (struct happened){ g->ns.nr, g->ns.v, g->at.v, g->before.v };
}

int moments_run(struct gathered *g, struct store *s, struct error *err)
{
	cleanup(free) uint8_t *is_point = NULL;
	uint64_t nr_events;
	bool is_all;
	int got = moments_graph(g, s, &is_point, &nr_events, &is_all, err);

	return got < 0 || is_all ? got : moments_spans(g, s, is_point, nr_events, err);
}
