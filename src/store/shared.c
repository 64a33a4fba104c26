#include "store/shared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "store/brief.h"
#include "store/run.h"

/* Of about three million requests. What comes first stays: whoever goes through more than there is
 * room for, again and again, would find nothing if the oldest went. */
#define BYTES_MOST ((size_t)64 << 20)

struct memo {
	const char *what;
	void *memo;
	void (*memo_free)(void *memo);
};

struct store_shared {
	pthread_mutex_t lock;
	unsigned nr_users;
	VEC(struct str) blocks; /* by the number of their first request */
	size_t bytes;
	VEC(struct memo) memos;
};

struct store_shared *store_shared_new(void)
{
	struct store_shared *k = mem_zalloc(sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	k->nr_users = 1;
	return k;
}

struct store_shared *shared_use(struct store_shared *k)
{
	pthread_mutex_lock(&k->lock);
	k->nr_users++;
	pthread_mutex_unlock(&k->lock);
	return k;
}

void store_shared_free(struct store_shared *k)
{
	bool is_last;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	is_last = !--k->nr_users;
	pthread_mutex_unlock(&k->lock);
	if (!is_last)
		return;
	vec_each (&k->blocks, b)
		free((char *)b->p);
	vec_done(&k->blocks);
	vec_each (&k->memos, m)
		m->memo_free(m->memo);
	vec_done(&k->memos);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* Blocks begin at multiples of their length; one that does not is none of ours. */
static bool place_of(uint64_t first, size_t *place)
{
	*place = (size_t)((first - 1) / BRIEF_ROWS);
	return first && (first - 1) % BRIEF_ROWS == 0;
}

struct str shared_block(struct store_shared *k, uint64_t first)
{
	struct str found = { 0 };
	size_t place;

	if (!k || !place_of(first, &place))
		return found;
	pthread_mutex_lock(&k->lock);
	if (place < k->blocks.nr)
		found = k->blocks.v[place];
	pthread_mutex_unlock(&k->lock);
	return found;
}

struct str shared_keep(struct store_shared *k, uint64_t first, struct buf *block)
{
	struct str kept = buf_str(block);
	size_t place;

	if (!k || !place_of(first, &place) || !block->n)
		return kept;
	pthread_mutex_lock(&k->lock);
	if (k->bytes + block->n <= BYTES_MOST) {
		while (k->blocks.nr <= place)
			vec_push(&k->blocks, (struct str){ 0 });
		/* another may have been faster: its users have it */
		if (!k->blocks.v[place].n) {
			kept.p = mem_realloc(block->p, block->n);
			k->blocks.v[place] = kept;
			k->bytes += block->n;
			*block = (struct buf){ 0 };
		}
	}
	pthread_mutex_unlock(&k->lock);
	return kept;
}

/* --- memos ----------------------------------------------------------------------------------- */

static void *find_memo(const struct store_shared *k, const char *what)
{
	vec_each (&k->memos, m)
		if (!strcmp(m->what, what))
			return m->memo;
	return NULL;
}

const void *store_memo(struct store *s, const char *what)
{
	const void *found = NULL;

	if (!s->shared)
		return NULL;
	pthread_mutex_lock(&s->shared->lock);
	found = find_memo(s->shared, what);
	pthread_mutex_unlock(&s->shared->lock);
	return found;
}

bool store_set_memo(struct store *s, const char *what, void *memo, void (*memo_free)(void *memo))
{
	bool is_first;

	if (!s->shared)
		return false;
	pthread_mutex_lock(&s->shared->lock);
	is_first = !find_memo(s->shared, what);
	if (is_first)
		vec_push(&s->shared->memos, (struct memo){ what, memo, memo_free });
	pthread_mutex_unlock(&s->shared->lock);
	return is_first;
}
