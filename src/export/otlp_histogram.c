#include "export/otlp_histogram.h"

#include <stdio.h>

#include "base/jsonout.h"
#include "base/vec.h"
#include "export/proto.h"
#include "model/live.h"

/* counts[i] is what lies below bounds[i], and not below the one before it; there is one count more
 * than there are bounds. */
struct cut {
	VEC(double) bounds;
	VEC(uint64_t) counts;
	uint64_t count;
};

/* Buckets that are not beside each other have an empty one between them. */
static void cut_at(struct cut *c, double bound, uint64_t count)
{
	if (c->bounds.nr && c->bounds.v[c->bounds.nr - 1] == bound)
		return;
	vec_push(&c->bounds, bound);
	vec_push(&c->counts, count);
}

static struct cut cut_of(const struct live_value *v)
{
	struct cut c = { 0 };

	for (size_t i = 0; i < v->buckets.nr; i++) {
		const struct live_bucket *b = &v->buckets.v[i];

		/* that of zero is as wide as nothing */
		if (b->from != b->to)
			cut_at(&c, b->from, 0);
		cut_at(&c, b->to, b->nr);
		c.count += b->nr;
	}
	vec_push(&c.counts, 0);
	return c;
}

static void cut_done(struct cut *c)
{
	vec_done(&c->bounds);
	vec_done(&c->counts);
}

/* 64-bit numbers are strings in the JSON form of protobuf. */
static void json_long(struct jsonout *j, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	jsonout_str(j, str_of(text));
}

void otlp_histogram_json(struct jsonout *j, const struct live_value *v)
{
	struct cut c = cut_of(v);

	jsonout_key(j, "count");
	json_long(j, c.count);
	jsonout_key(j, "sum");
	jsonout_double(j, v->buckets.sum);
	jsonout_key(j, "bucketCounts");
	jsonout_open(j, '[');
	vec_each (&c.counts, n)
		json_long(j, *n);
	jsonout_close(j, ']');
	jsonout_key(j, "explicitBounds");
	jsonout_open(j, '[');
	vec_each (&c.bounds, bound)
		jsonout_double(j, *bound);
	jsonout_close(j, ']');
	cut_done(&c);
}

void otlp_histogram_proto(struct buf *point, const struct live_value *v)
{
	struct cut c = cut_of(v);

	proto_fixed64(point, 4, c.count);
	proto_double(point, 5, v->buckets.sum);
	/* packed: both are eight bytes each, little endian */
	proto_bytes(point, 6, (struct str){ (const char *)c.counts.v, 8 * c.counts.nr });
	proto_bytes(point, 7, (struct str){ (const char *)c.bounds.v, 8 * c.bounds.nr });
	cut_done(&c);
}
