#include "store/sampled.h"

#define BYTES_MOST ((size_t)8 << 20)

void sampled_done(struct sampled *k)
{
	arena_done(&k->arena);
	map_done(&k->places);
	vec_done(&k->v);
	vec_done(&k->drawn.v);
	*k = (struct sampled){ 0 };
}

bool sampled_find(const struct sampled *k, uint64_t ordinal, struct str *record)
{
	const uint64_t *place = map_find(&k->places, ordinal);

	if (place)
		*record = k->v.v[*place - 1];
	return place;
}

void sampled_keep(struct sampled *k, uint64_t ordinal, struct str record)
{
	if (k->bytes + record.n > BYTES_MOST)
		return;
	k->bytes += record.n;
	vec_push(&k->v, arena_str(&k->arena, record));
	*map_at(&k->places, ordinal) = k->v.nr;
}
