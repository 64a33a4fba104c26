#include "ask/breakdown.h"

#include "ask/length.h"

void breakdown_done(struct breakdown *d)
{
	vec_done(&d->parts);
	vec_done(&d->place);
	arena_done(&d->arena);
}

static struct breakdown_part *part_of(struct breakdown *d, uint32_t hop)
{
	while (d->place.nr <= hop)
		vec_push(&d->place, 0);
	if (!d->place.v[hop]) {
		vec_push(&d->parts, (struct breakdown_part){ .hop = hop });
		d->place.v[hop] = (uint32_t)d->parts.nr;
	}
	return &d->parts.v[d->place.v[hop] - 1];
}

void breakdown_make(struct breakdown *d, struct hops *hops, uint32_t type, const struct request *r,
		    const struct request_body *body)
{
	uint32_t top = hops_type(hops, type);
	int64_t rest = length_ns(r->start, r->end);

	vec_clear(&d->parts);
	arena_reset(&d->arena);
	d->span_hop = arena_array(&d->arena, uint32_t, body->nr_spans + 1);
	for (uint32_t i = 0; i < body->nr_spans; i++) {
		const struct span *s = &body->spans[i];
		uint32_t above = s->parent < i ? d->span_hop[s->parent] : top;
		struct breakdown_part *part;

		d->span_hop[i] = hops_below(hops, above, s->node, s->name);
		part = part_of(d, d->span_hop[i]);
		part->spans++;
		part->busy += (double)length_ns(s->start, s->end);
	}
	critical_path(body, &d->arena, &d->path);
	d->section_ns = arena_array(&d->arena, int64_t, d->path.nr + 1);
	for (size_t i = 0; i < d->path.nr; i++) {
		const struct critical_section *c = &d->path.v[i];
		int64_t from = c->start > r->start ? c->start : r->start;
		int64_t until = c->end < r->end ? c->end : r->end;

		int64_t ns = length_ns(from, until);

		if (c->span == SPAN_NONE || !ns)
			continue;
		ns = ns < rest ? ns : rest;
		d->section_ns[i] = ns;
		part_of(d, d->span_hop[c->span])->ns += ns;
		rest -= ns;
	}
	if (rest > 0)
		part_of(d, top)->ns += rest;
	for (size_t i = 0; i < d->parts.nr; i++)
		d->place.v[d->parts.v[i].hop] = 0;
}
