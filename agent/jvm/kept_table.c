#include "agent/jvm/kept_table.h"

#include <stdlib.h>

#include "agent/jvm/hot.h"
#include "agent/jvm/machine.h"

#define NOTED 2
#define HEADS_FIRST 4096u
#define HEADS_AT_ONCE 1024u

/* References are those of one native call: nobody else has the same. */
static __thread struct {
	jobject object;
	uint32_t hash;
} noted[NOTED];

HOT void kept_hash_note(unsigned which, jobject o, int32_t identity)
{
	noted[which % NOTED].object = o;
	noted[which % NOTED].hash = kept_hash_of(identity);
}

HOT void kept_hash_forget(void)
{
	for (size_t i = 0; i < NOTED; i++)
		noted[i].object = NULL;
}

HOT static bool noted_hash(jobject o, uint32_t *hash)
{
	for (size_t i = 0; i < NOTED; i++)
		if (o && noted[i].object == o) {
			*hash = noted[i].hash;
			return true;
		}
	return false;
}

HOT bool kept_hash(jobject o, uint32_t *hash)
{
	jint h = 0;

	if (noted_hash(o, hash))
		return true;
	if ((*machine)->GetObjectHashCode(machine, o, &h) != JVMTI_ERROR_NONE)
		return false;
	*hash = kept_hash_of(h);
	return true;
}

HOT static struct kept_entry **head_of(const struct kept_table *t, uint32_t hash)
{
	return &t->heads[(hash >> 7) & (t->nr_heads - 1)];
}

HOT struct kept_entry *kept_table_find(const struct kept_table *t, JNIEnv *env, jobject o,
				       uint32_t hash)
{
	struct kept_entry *e = t->nr_heads ? *head_of(t, hash) : NULL;

	while (e && !(e->hash == hash && (*env)->IsSameObject(env, e->object, o)))
		e = e->next;
	return e;
}

/* Where there is no memory for more, it stays as it is. */
static void grow(struct kept_table *t)
{
	struct kept_table more = { .nr = t->nr,
				   .nr_heads = t->nr_heads ? t->nr_heads * 2 : HEADS_FIRST };

	more.heads = calloc(more.nr_heads, sizeof(*more.heads));
	if (!more.heads)
		return;
	for (size_t i = 0; i < t->nr_heads; i++)
		for (struct kept_entry *e = t->heads[i], *next; e; e = next) {
			next = e->next;
			e->next = *head_of(&more, e->hash);
			*head_of(&more, e->hash) = e;
		}
	free(t->heads);
	*t = more;
}

HOT bool kept_table_add(struct kept_table *t, JNIEnv *env, jobject o, struct kept_entry *e)
{
	if (t->nr >= t->nr_heads)
		grow(t);
	if (!t->nr_heads)
		return false;
	if (!e->object)
		e->object = (*env)->NewWeakGlobalRef(env, o);
	if (!jni_is_clean(env) || !e->object)
		return false;
	e->next = *head_of(t, e->hash);
	*head_of(t, e->hash) = e;
	t->nr++;
	return true;
}

struct kept_entry *kept_table_take(struct kept_table *t, JNIEnv *env, jobject o, uint32_t hash)
{
	struct kept_entry *e = kept_table_find(t, env, o, hash), **p;

	if (!e)
		return NULL;
	for (p = head_of(t, hash); *p != e;)
		p = &(*p)->next;
	*p = e->next;
	t->nr--;
	return e;
}

struct kept_entry *kept_table_sweep(struct kept_table *t, JNIEnv *env, size_t *at,
				    bool (*is_over)(const struct kept_entry *))
{
	struct kept_entry *gone = NULL, **p;
	size_t end = *at + HEADS_AT_ONCE < t->nr_heads ? *at + HEADS_AT_ONCE : t->nr_heads;

	for (; *at < end; ++*at)
		for (p = &t->heads[*at]; *p;) {
			struct kept_entry *e = *p;

			if (!is_over(e) && !(*env)->IsSameObject(env, e->object, NULL)) {
				p = &e->next;
				continue;
			}
			*p = e->next;
			(*env)->DeleteWeakGlobalRef(env, e->object);
			e->next = gone;
			gone = e;
			t->nr--;
		}
	if (*at >= t->nr_heads)
		*at = 0;
	return gone;
}
