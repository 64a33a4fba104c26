#include "model/mention.h"

#include "base/arena.h"
#include "base/time.h"

void mention_count(struct mention *m, int64_t ns)
{
	m->count++;
	if (ns == NS_NONE)
		return;
	if (m->first_ns == NS_NONE || ns < m->first_ns)
		m->first_ns = ns;
	if (m->last_ns == NS_NONE || ns > m->last_ns)
		m->last_ns = ns;
}

struct mention *mention_copy(const struct mention *m, struct arena *arena)
{
	struct mention *copy = arena_new(arena, struct mention);
	struct named *v = arena_array(arena, struct named, m->nr);

	*copy = *m;
	copy->first_ns = copy->last_ns = NS_NONE;
	copy->count = 0;
	copy->node = arena_str(arena, m->node);
	copy->file = arena_str(arena, m->file);
	copy->thread = arena_str(arena, m->thread);
	copy->title = arena_str(arena, m->title);
	copy->v = v;
	for (size_t i = 0; i < m->nr; i++) {
		v[i] = m->v[i];
		v[i].type = arena_str(arena, m->v[i].type);
		v[i].value = arena_str(arena, m->v[i].value);
	}
	return copy;
}
