#include "capture/weave/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void held_done(struct held *h)
{
	vec_each (&h->v, r)
		free(*r);
	vec_done(&h->v);
	*h = (struct held){ 0 };
}

/* The run, its inputs, its bag and its texts are one piece of memory. */
static struct held_run *run_copy(const struct reaped_run *run)
{
	size_t at_bag = sizeof(struct held_run) + run->nr_inputs * sizeof(struct advice_value);
	size_t bytes = at_bag + run->bag_bytes;
	struct held_run *r;
	char *text;

	for (size_t i = 0; i < run->nr_inputs; i++)
		bytes += run->inputs[i].type == ADVICE_TEXTUAL ? run->inputs[i].length : 0;
	r = mem_alloc(bytes);
	*r = (struct held_run){ .which = run->which,
				.time_ns = run->time_ns,
				.bytes = bytes,
				.bag_bytes = run->bag_bytes,
				.nr_inputs = run->nr_inputs,
				.bag = (char *)r + at_bag };
	memcpy(r->inputs, run->inputs, run->nr_inputs * sizeof(*run->inputs));
	memcpy(r->bag, run->bag, run->bag_bytes);
	r->texts = text = (char *)r->bag + run->bag_bytes;
	for (size_t i = 0; i < run->nr_inputs; i++)
		if (run->inputs[i].type == ADVICE_TEXTUAL) {
			memcpy(text, run->inputs[i].text, run->inputs[i].length);
			r->inputs[i].text = text;
			text += run->inputs[i].length;
		}
	return r;
}

bool held_add(struct held *h, uint32_t query, const struct reaped_run *run, int64_t tick)
{
	struct held_run *r;

	if (run->nr_inputs > ADVICE_INPUTS)
		return false;
	if (h->bytes > HELD_BYTES) {
		h->nr_full++;
		return true;
	}
	r = run_copy(run);
	r->query = query;
	r->since = tick;
	h->bytes += r->bytes;
	vec_push(&h->v, r);
	return true;
}

void held_try(struct held *h, bool (*each)(void *ctx, const struct held_run *r), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->v.nr; i++) {
		struct held_run *r = h->v.v[i];

		if (!each(ctx, r)) {
			h->v.v[kept++] = r;
			continue;
		}
		h->bytes -= r->bytes;
		free(r);
	}
	h->v.nr = kept;
}

size_t held_count(const struct held *h, uint32_t query)
{
	size_t nr = 0;

	vec_each (&h->v, r)
		nr += (*r)->query == query;
	return nr;
}
