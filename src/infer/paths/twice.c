/*
 * Captures at both ends of a link have each message twice, with the same id (section 4 of the
 * paper). The clocks are aligned, so that the copy made at the sender comes first; that one is kept
 * and the others go. An id that comes again from a capture that has delivered it is a new message.
 *
 * Memory: the last KEPT messages are remembered, for at most FOR_NS; a copy comes within the time
 * on the wire and what is left of the difference between the clocks.
 */
#include "infer/paths/twice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "infer/paths/feed.h"

enum { KEPT = 1 << 16, NONE = KEPT };

#define FOR_NS (5 * NS_S)

struct kept {
	uint64_t key;
	uint64_t captures; /* that delivered it, a bit for each */
	int64_t ns;
	uint32_t next; /* in the bucket */
	bool is_used;
};

struct twice {
	struct kept kept[KEPT]; /* a ring */
	uint32_t buckets[KEPT];
	uint32_t at;
};

struct twice *twice_new(void)
{
	struct twice *t = mem_zalloc(sizeof(*t));

	for (uint32_t i = 0; i < KEPT; i++)
		t->buckets[i] = NONE;
	return t;
}

void twice_free(struct twice *t)
{
	free(t);
}

static uint64_t key_of(const struct message *m)
{
	uint64_t k = (m->id + (uint64_t)m->op) * 0x9e3779b97f4a7c15ULL;

	return k ^ k >> 32;
}

static uint32_t *bucket_of(struct twice *t, uint64_t key)
{
	return &t->buckets[key % KEPT];
}

static void unlink_oldest(struct twice *t)
{
	struct kept *oldest = &t->kept[t->at];
	uint32_t *at;

	if (!oldest->is_used)
		return;
	at = bucket_of(t, oldest->key);
	while (*at != t->at)
		at = &t->kept[*at].next;
	*at = oldest->next;
}

static void keep(struct twice *t, uint64_t key, uint64_t capture, int64_t ns)
{
	uint32_t *bucket;

	unlink_oldest(t);
	bucket = bucket_of(t, key);
	t->kept[t->at] = (struct kept){ key, capture, ns, *bucket, true };
	*bucket = t->at;
	t->at = (t->at + 1) % KEPT;
}

bool twice_is(struct twice *t, uint32_t capture, const struct message *m)
{
	uint64_t key = key_of(m), bit = 1ULL << capture % 64;
	uint32_t at = *bucket_of(t, key);

	if (!m->id)
		return false;
	while (at != NONE && t->kept[at].key != key)
		at = t->kept[at].next;
	if (at != NONE && !(t->kept[at].captures & bit) && m->ns - t->kept[at].ns <= FOR_NS) {
		t->kept[at].captures |= bit;
		return true;
	}
	/* the newest stands first in its bucket, and hides what it replaces */
	keep(t, key, bit, m->ns);
	return false;
}
