/*
 * The DAG of a top-level method is walked once, the first time that two of its statements are
 * compared; what was found out about two statements is kept.
 */
#include "infer/requests/course.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "infer/requests/match.h"
#include "program/model_file.h"

enum {
	TOPS_MAX = 250,      /* a statement that more methods share tells no order */
	NODES_MAX = 2048,    /* likewise a method with more */
	WORDS_MAX = 1 << 22, /* of 64 nodes, of all methods together: what is beyond is not used */
};

enum { GOES_ON = 1, COMES_BACK = 2, LOOPS = 4, KNOWN = 8 };

/* Which nodes of a method can be reached from which. */
struct walked {
	uint32_t nr; /* 0: too many */
	uint64_t *reach;
};

struct course {
	const struct matcher *matcher;
	struct map pairs; /* two statements: what is known of them */
	struct map tops;  /* model and top: 1 + number in walked */
	VEC(struct walked) walked;
	size_t nr_words;  /* of what can be reached, in all methods */
	uint64_t nr_left; /* methods that are too large */
};

struct course *course_new(const struct matcher *m)
{
	struct course *c = mem_realloc(NULL, sizeof(*c));

	*c = (struct course){ .matcher = m };
	return c;
}

void course_free(struct course *c)
{
	if (!c)
		return;
	vec_each (&c->walked, w)
		free(w->reach);
	vec_done(&c->walked);
	map_done(&c->pairs);
	map_done(&c->tops);
	free(c);
}

static bool is_set(const struct walked *w, uint32_t from, uint32_t to)
{
	size_t words = (w->nr + 63) / 64;

	return w->reach[from * words + to / 64] >> (to % 64) & 1;
}

static struct walked walk(struct course *c, const struct model_file *m, const struct model_top *top)
{
	struct walked w = { .nr = top->nodes.nr };
	size_t words = (w.nr + 63) / 64;

	if (!w.nr || w.nr > NODES_MAX || w.nr * words > WORDS_MAX - c->nr_words) {
		c->nr_left += w.nr > 0;
		return (struct walked){ 0 };
	}
	c->nr_words += w.nr * words;
	w.reach = mem_realloc(NULL, mem_bytes(w.nr * words, sizeof(*w.reach)));
	memset(w.reach, 0, w.nr * words * sizeof(*w.reach));
	for (uint32_t i = w.nr; i-- > 0;) {
		struct model_node node = model_node(m, top->nodes.first + i);

		for (uint32_t k = 0; k < node.ahead.nr; k++) {
			uint32_t to = i + node.ahead.v[k];

			if (to <= i || to >= w.nr)
				continue;
			w.reach[i * words + to / 64] |= (uint64_t)1 << (to % 64);
			for (size_t n = 0; n < words; n++)
				w.reach[i * words + n] |= w.reach[to * words + n];
		}
	}
	return w;
}

static const struct walked *walked_of(struct course *c, uint32_t model, const struct model_file *m,
				      uint32_t top)
{
	uint64_t *at = map_at(&c->tops, map_pair(model, top));

	if (!*at) {
		struct model_top t = model_top(m, top);

		vec_push(&c->walked, walk(c, m, &t));
		*at = c->walked.nr;
	}
	return &c->walked.v[*at - 1];
}

static bool has_point(const struct model_node *n, uint32_t point)
{
	for (uint32_t i = 0; i < n->points.nr; i++)
		if (n->points.v[i] == point)
			return true;
	return false;
}

static unsigned compare_in(struct course *c, uint32_t model, const struct model_file *m,
			   uint32_t top, uint32_t a, uint32_t b)
{
	const struct walked *w = walked_of(c, model, m, top);
	struct model_range nodes = model_top(m, top).nodes;
	uint32_t from[16], to[16], nr_from = 0, nr_to = 0;
	unsigned found = 0;

	for (uint32_t i = 0; i < w->nr; i++) {
		struct model_node n = model_node(m, nodes.first + i);

		if (nr_from < 16 && has_point(&n, a))
			from[nr_from++] = i;
		if (nr_to < 16 && has_point(&n, b))
			to[nr_to++] = i;
	}
	for (uint32_t i = 0; i < nr_from; i++)
		for (uint32_t k = 0; k < nr_to; k++) {
			bool is_round = from[i] == to[k] &&
					model_node(m, nodes.first + from[i]).is_repeated;

			if (is_round)
				found |= GOES_ON | LOOPS;
			else if (from[i] != to[k] && is_set(w, from[i], to[k]))
				found |= GOES_ON;
			else if (from[i] != to[k] && is_set(w, to[k], from[i]))
				found |= COMES_BACK;
		}
	return found;
}

static unsigned compare(struct course *c, uint32_t first, uint32_t second)
{
	uint32_t model_a, model_b, a, b;
	const struct model_file *m = matcher_point(c->matcher, first, &model_a, &a);
	struct model_point pa, pb;
	unsigned found = 0;

	if (!m || !matcher_point(c->matcher, second, &model_b, &b) || model_a != model_b)
		return 0;
	pa = model_point(m, a);
	pb = model_point(m, b);
	if (pa.tops.nr > TOPS_MAX || pb.tops.nr > TOPS_MAX)
		return 0;
	for (uint32_t i = 0; i < pa.tops.nr; i++)
		for (uint32_t k = 0; k < pb.tops.nr; k++)
			if (pa.tops.v[i] == pb.tops.v[k])
				found |= compare_in(c, model_a, m, pa.tops.v[i], a, b);
	return found;
}

static unsigned known(struct course *c, uint32_t first, uint32_t second)
{
	uint64_t *at;

	if (!c->matcher || !first || !second)
		return 0;
	at = map_at(&c->pairs, map_pair(first, second));
	if (!(*at & KNOWN)) {
		unsigned found = compare(c, first, second);

		*at = found | KNOWN;
	}
	return (unsigned)*at;
}

bool course_is_back(struct course *c, uint32_t first, uint32_t second)
{
	return first != second && (known(c, first, second) & (GOES_ON | COMES_BACK)) == COMES_BACK;
}

bool course_goes_on(struct course *c, uint32_t first, uint32_t second)
{
	unsigned found = known(c, first, second);

	return first == second ? found & LOOPS : found & GOES_ON;
}

uint64_t course_nr_left(const struct course *c)
{
	return c->nr_left;
}
