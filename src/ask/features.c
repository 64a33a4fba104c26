#include "ask/features.h"

#include <stdlib.h>

#include "ask/stats.h"
#include "model/attr.h"

#define VALUE_BYTES 80      /* longer values are texts, not features */
#define SPANS_LOOKED_AT 500 /* of one request */
#define LEAST_REQUESTS 3    /* fewer prove nothing */
#define LEAST_LIFT 2.0
#define LEAST_CONFIDENCE 0.95

void features_done(struct features *f)
{
	hops_done(&f->tree);
	vec_done(&f->counts);
	for (int side = 0; side < SIDES; side++)
		vec_done(&f->seen[side]);
	buf_done(&f->text);
}

static void count(struct features *f, uint32_t type, enum contrast_side side, uint64_t request,
		  struct str key, struct str value)
{
	uint32_t hop = hops_type(&f->tree, type);
	struct feature_count *c;

	hop = hops_below(&f->tree, hop, STR(""), key);
	hop = hops_below(&f->tree, hop, STR(""), value);
	while (f->counts.nr <= hop)
		vec_push(&f->counts, (struct feature_count){ 0 });
	c = &f->counts.v[hop];
	if (c->last == request)
		return;
	c->last = request;
	c->requests[side]++;
}

static void count_attrs(struct features *f, uint32_t type, enum contrast_side side,
			uint64_t request, struct str attrs)
{
	struct attr a;

	while (attr_take(&attrs, &a)) {
		if (a.type == ATTR_BYTES || a.type == ATTR_JSON || a.type == ATTR_DOUBLE ||
		    a.scope == ATTR_LIBRARY)
			continue;
		buf_clear(&f->text);
		attr_text(&f->text, &a);
		if (f->text.n <= VALUE_BYTES)
			count(f, type, side, request, a.key, buf_str(&f->text));
	}
}

void features_add(struct features *f, uint32_t type, enum contrast_side side,
		  const struct request *r, const struct request_body *body)
{
	size_t nr = body->nr_spans < SPANS_LOOKED_AT ? body->nr_spans : SPANS_LOOKED_AT;

	for (int i = 0; i < SIDES; i++)
		while (f->seen[i].nr <= type)
			vec_push(&f->seen[i], 0);
	f->seen[side].v[type]++;
	if (r->error)
		count(f, type, side, r->id, STR("request"), STR("failed"));
	for (size_t i = 0; i < nr; i++) {
		const struct span *s = &body->spans[i];

		if (s->node.n)
			count(f, type, side, r->id, STR("node"), s->node);
		if (s->host.n && !str_eq(s->host, s->node))
			count(f, type, side, r->id, STR("host"), s->host);
		if (s->status == STATUS_ERROR)
			count(f, type, side, r->id, STR("error in"), s->name);
		count_attrs(f, type, side, r->id, s->attrs);
	}
}

static int most_telling(const void *a, const void *b)
{
	const struct feature *x = a, *y = b;
	int r;

	if (x->confidence != y->confidence)
		return x->confidence > y->confidence ? -1 : 1;
	if (x->lift != y->lift)
		return x->lift > y->lift ? -1 : 1;
	r = str_cmp(x->key, y->key);
	return r ? r : str_cmp(x->value, y->value);
}

/* False where too few requests have it to say anything. */
static bool weigh(const struct features *f, uint32_t type, uint32_t hop, struct feature *out)
{
	const struct feature_count *c = &f->counts.v[hop];
	uint64_t in = c->requests[SIDE_OTHER], base = c->requests[SIDE_BASE];

	*out = (struct feature){ .key = hops_name(&f->tree, f->tree.v.v[hop].parent),
				 .value = hops_name(&f->tree, hop),
				 .requests = { base, in } };
	for (int side = 0; side < SIDES; side++)
		out->seen[side] = f->seen[side].v[type];
	if (in < LEAST_REQUESTS || !out->seen[SIDE_BASE])
		return false;
	out->lift = ((double)in / (double)out->seen[SIDE_OTHER]) /
		    (((double)base + 0.5) / ((double)out->seen[SIDE_BASE] + 0.5));
	out->confidence = stats_more_often(in, out->seen[SIDE_OTHER], base, out->seen[SIDE_BASE]);
	return true;
}

/* Who looks at many features finds some by chance: the doubt in each counts as often as one looked.
 */
static size_t keep_telling(struct feature *v, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct feature f = v[i];

		f.confidence = 1 - (1 - f.confidence) * (double)nr;
		if (f.lift >= LEAST_LIFT && f.confidence >= LEAST_CONFIDENCE)
			v[kept++] = f;
	}
	return kept;
}

size_t features_telling(struct features *f, uint32_t type, struct feature *out, size_t at_most)
{
	VEC(struct feature) all = { 0 };
	uint32_t top = hops_type(&f->tree, type);
	size_t nr;

	for (uint32_t i = top; i != HOP_NONE; i = f->tree.v.v[i].next) {
		struct feature one;

		if (i < f->counts.nr && f->tree.v.v[i].depth == 2 && weigh(f, type, i, &one))
			vec_push(&all, one);
	}
	all.nr = keep_telling(all.v, all.nr);
	if (all.nr)
		qsort(all.v, all.nr, sizeof(*all.v), most_telling);
	nr = all.nr < at_most ? all.nr : at_most;
	for (size_t i = 0; i < nr; i++)
		out[i] = all.v[i];
	vec_done(&all);
	return nr;
}
