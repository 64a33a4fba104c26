#include "web/answers.h"

#include <pthread.h>

#include "base/vec.h"

struct kept {
	struct buf key, answer;
	uint64_t used; /* when */
	unsigned status;
};

struct answers {
	pthread_mutex_t lock;
	VEC(struct kept) all;
	uint64_t now;
	size_t bytes, bytes_max;
};

struct answers *answers_new(size_t bytes)
{
	struct answers *s = mem_zalloc(sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	s->bytes_max = bytes;
	return s;
}

static size_t bytes_of(const struct kept *k)
{
	return k->key.n + k->answer.n + sizeof(*k);
}

static void drop(struct answers *s, struct kept *k)
{
	s->bytes -= bytes_of(k);
	buf_done(&k->key);
	buf_done(&k->answer);
	*k = s->all.v[--s->all.nr];
}

void answers_free(struct answers *s)
{
	if (!s)
		return;
	while (s->all.nr)
		drop(s, &s->all.v[0]);
	vec_done(&s->all);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct kept *find(struct answers *s, struct str key)
{
	vec_each (&s->all, k)
		if (str_eq(buf_str(&k->key), key))
			return k;
	return NULL;
}

bool answers_find(struct answers *s, struct str key, struct buf *to, unsigned *status)
{
	struct kept *k;

	pthread_mutex_lock(&s->lock);
	k = find(s, key);
	if (k) {
		k->used = ++s->now;
		*status = k->status;
		buf_add(to, buf_str(&k->answer));
	}
	pthread_mutex_unlock(&s->lock);
	return k != NULL;
}

static void make_room(struct answers *s, size_t bytes)
{
	while (s->all.nr && s->bytes + bytes > s->bytes_max) {
		struct kept *oldest = &s->all.v[0];

		vec_each (&s->all, k)
			if (k->used < oldest->used)
				oldest = k;
		drop(s, oldest);
	}
}

void answers_put(struct answers *s, struct str key, struct str answer, unsigned status)
{
	struct kept k = { .status = status };

	buf_add(&k.key, key);
	buf_add(&k.answer, answer);
	pthread_mutex_lock(&s->lock);
	/* one large answer must not push out all others */
	if (bytes_of(&k) <= s->bytes_max / 4 && !find(s, key)) {
		make_room(s, bytes_of(&k));
		k.used = ++s->now;
		s->bytes += bytes_of(&k);
		vec_push(&s->all, k);
		k = (struct kept){ 0 };
	}
	pthread_mutex_unlock(&s->lock);
	buf_done(&k.key);
	buf_done(&k.answer);
}
