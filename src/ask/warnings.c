#include "ask/warnings.h"

#include "ask/alike.h"
#include "ask/complaints.h"
#include "ask/stats.h"
#include "store/store.h"

#define READ_MOST 400 /* warnings of each node */
#define LEAST 10      /* warnings of one kind on one node */
#define MORE 5        /* times as many as on any of its peers */
#define LEAST_SURE 0.999

static size_t same_on(const struct complaints *c, const struct complaint *one, sym_t node)
{
	vec_each (&c->v, other)
		if (other->node == node && str_eq(other->text, one->text))
			return other->times.nr;
	return 0;
}

/* How often its peers say the same at most; false when it has none. */
static bool peers_say(const struct complaints *c, const struct activity *a,
		      const struct complaint *one, size_t *most)
{
	bool any = false;

	*most = 0;
	for (sym_t node = 1; node <= a->v.nr; node++) {
		size_t nr;

		if (node == one->node ||
		    !alike_names(names_str(&a->nodes, node), names_str(&a->nodes, one->node)))
			continue;
		any = true;
		nr = same_on(c, one, node);
		*most = nr > *most ? nr : *most;
	}
	return any;
}

int warnings_find(struct store *s, const struct activity *a, struct arena *arena,
		  struct anomaly_list *out, struct error *err)
{
	struct complaints c = { 0 };
	int r = complaints_read(&c, s, a, 0, INT64_MIN, INT64_MAX, READ_MOST, err);

	vec_each (&c.v, one) {
		struct anomaly found = { .kind = ANOMALY_WARNINGS };
		size_t most;

		if (one->times.nr < LEAST || !peers_say(&c, a, one, &most) ||
		    one->times.nr < MORE * (most + 1))
			continue;
		found.confidence = stats_more_often(one->times.nr, one->times.nr + most, most,
						    one->times.nr + most);
		if (found.confidence < LEAST_SURE)
			continue;
		found.node = arena_str(arena, names_str(&a->nodes, one->node));
		found.said = arena_str(arena, one->text);
		found.who = found.node;
		found.often = (double)one->times.nr;
		found.before = (double)most;
		found.begin = one->times.v[0];
		found.end = one->times.v[one->times.nr - 1];
		vec_push(&out->v, found);
	}
	complaints_done(&c);
	return r;
}
