/*
 * Captures at both ends of a link see each message twice, and give it the same id. What the one
 * that is nearer to the receiver shows later by d is the difference of the clocks plus the time on
 * the wire; in the other direction it is the difference minus that time. So the fastest messages of
 * both directions bound the difference, as in NTP. Which capture is at which end, nobody says: of
 * the two directions, the one in which d is larger is the one away from the first capture.
 *
 * Memory: at most SAMPLE_MAX messages are kept. All captures choose by the hash of the id, so that
 * both copies of a message are kept or none.
 */
#include "infer/align_twins.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/vec.h"
#include "infer/skew.h"
#include "model/event.h"

enum { SAMPLE_MAX = 1 << 17 };

struct sighting {
	uint64_t key;  /* of the message */
	uint64_t link; /* the two nodes, in either direction */
	int64_t ns;
	uint32_t capture;
	bool is_there; /* direction on the link */
};

/* One message, two captures. */
struct twin {
	uint64_t link;
	int64_t first_ns, second_ns;
	uint32_t first, second; /* captures, in the order of their numbers */
	bool is_there;
};

struct twins {
	VEC(struct sighting) seen;
	uint64_t skip; /* mask: keys with one of these bits are not kept */
	VEC(struct twin) v;
	bool is_settled;
};

struct twins *twins_new(void)
{
	return mem_zalloc(sizeof(struct twins));
}

void twins_free(struct twins *t)
{
	if (!t)
		return;
	vec_done(&t->seen);
	vec_done(&t->v);
	free(t);
}

static uint64_t mixed(uint64_t h)
{
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 32;
}

static void thin_out(struct twins *t)
{
	size_t kept = 0;

	t->skip = t->skip << 1 | 1;
	vec_each (&t->seen, s)
		if (!(s->key & t->skip))
			t->seen.v[kept++] = *s;
	t->seen.nr = kept;
}

void twins_add(struct twins *t, uint32_t capture, const struct event *ev)
{
	uint64_t from, to, key;

	if (!ev->id.n)
		return;
	key = mixed(str_hash(ev->id) + (uint64_t)ev->op);
	if (key & t->skip)
		return;
	from = str_hash(ev->node);
	to = str_hash(ev->peer);
	vec_push(&t->seen, (struct sighting){ .key = key,
					      .link = from ^ to,
					      .ns = ev->ns,
					      .capture = capture,
					      .is_there = from < to });
	if (t->seen.nr > SAMPLE_MAX)
		thin_out(t);
}

static int by_key(const void *pa, const void *pb)
{
	const struct sighting *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->capture != b->capture)
		return a->capture < b->capture ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int by_captures_and_link(const void *pa, const void *pb)
{
	const struct twin *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	if (a->is_there != b->is_there)
		return a->is_there ? -1 : 1;
	return skew_minus(a->second_ns, a->first_ns) < skew_minus(b->second_ns, b->first_ns)   ? -1
	       : skew_minus(a->second_ns, a->first_ns) > skew_minus(b->second_ns, b->first_ns) ? 1
											       : 0;
}

/* An id that one capture has several times is used again: who is whose twin cannot be told. */
static void match(struct twins *t, const struct sighting *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (v[i].capture == v[i - 1].capture)
			return;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = i + 1; j < nr && j <= i + 4; j++)
			vec_push(&t->v, (struct twin){ .link = v[i].link,
						       .first_ns = v[i].ns,
						       .second_ns = v[j].ns,
						       .first = v[i].capture,
						       .second = v[j].capture,
						       .is_there = v[i].is_there });
}

static void settle(struct twins *t)
{
	size_t last;

	t->is_settled = true;
	if (t->seen.nr)
		qsort(t->seen.v, t->seen.nr, sizeof(*t->seen.v), by_key);
	for (size_t first = 0; first < t->seen.nr; first = last) {
		for (last = first + 1; last < t->seen.nr; last++)
			if (t->seen.v[last].key != t->seen.v[first].key)
				break;
		match(t, t->seen.v + first, last - first);
	}
	vec_done(&t->seen);
	if (t->v.nr)
		qsort(t->v.v, t->v.nr, sizeof(*t->v.v), by_captures_and_link);
}

static int64_t later_by(const struct twin *t)
{
	return skew_minus(t->second_ns, t->first_ns);
}

/* On the way from the first capture to the second, or back. */
static void say(const struct twin *t, const uint32_t *clocks, bool is_away, struct skew *skew)
{
	if (is_away)
		skew_after(skew, clocks[t->first], t->first_ns, clocks[t->second], t->second_ns);
	else
		skew_after(skew, clocks[t->second], t->second_ns, clocks[t->first], t->first_ns);
}

/* Twins of one link, first those of one direction, then the others, in the order of d. */
static void say_link(const struct twin *v, size_t nr, const uint32_t *clocks, struct skew *skew)
{
	size_t there = 0;
	bool is_away;

	while (there < nr && v[there].is_there)
		there++;
	if (!there || there == nr)
		return; /* one direction alone bounds nothing, as it could be either */
	is_away = later_by(&v[there / 2]) >= later_by(&v[there + (nr - there) / 2]);
	for (size_t i = 0; i < nr; i++)
		say(&v[i], clocks, (i < there) == is_away, skew);
}

void twins_say(struct twins *t, const uint32_t *clocks, struct skew *skew)
{
	size_t last;

	if (!t->is_settled)
		settle(t);
	for (size_t first = 0; first < t->v.nr; first = last) {
		const struct twin *f = &t->v.v[first];

		for (last = first + 1; last < t->v.nr; last++) {
			const struct twin *l = &t->v.v[last];

			if (l->first != f->first || l->second != f->second || l->link != f->link)
				break;
		}
		say_link(f, last - first, clocks, skew);
	}
}
