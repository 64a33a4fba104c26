/*
 * Objects that have something, by their identity. (Not by the machine's tags: to find one takes the
 * longer the more objects have some, and most of them are garbage already.) Objects are held
 * weakly; what is left of those that are gone is swept away now and then.
 */
#ifndef CULPRIT_AGENT_JVM_KEPT_TABLE_H
#define CULPRIT_AGENT_JVM_KEPT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jvmti.h>

/* The first member of who is in a table. */
struct kept_entry {
	struct kept_entry *next;
	jweak object;
	uint32_t hash;
	uint32_t marks; /* of who is in there: what they mean is theirs */
};

struct kept_table {
	struct kept_entry **heads;
	size_t nr, nr_heads;
};

/* Of what woven code says is the identity hash. */
static inline uint32_t kept_hash_of(int32_t identity)
{
	/* it has no pattern, but may have few bits */
	return (uint32_t)identity * 0x9e3779b1u;
}
/* False: the machine refuses. */
bool kept_hash(jobject o, uint32_t *hash);
/* Of this reference woven code has told the identity hash, until kept_hash_forget: the machine need
 * not be asked. At most two. */
void kept_hash_note(unsigned which, jobject o, int32_t identity);
void kept_hash_forget(void);
/* NULL: there is none. */
struct kept_entry *kept_table_find(const struct kept_table *t, JNIEnv *env, jobject o,
				   uint32_t hash);
/* e->object: NULL, or what it had when it was in there before. False: there is no memory, and it is
 * not in there. */
bool kept_table_add(struct kept_table *t, JNIEnv *env, jobject o, struct kept_entry *e);
/* Out of it: its object is the caller's to give back, or to add it again with. NULL: there is none.
 */
struct kept_entry *kept_table_take(struct kept_table *t, JNIEnv *env, jobject o, uint32_t hash);
/* Those under some heads, from *at on, which goes on to the next, and in the end to 0: whose object
 * is gone, or that are over. They are a list then. */
struct kept_entry *kept_table_sweep(struct kept_table *t, JNIEnv *env, size_t *at,
				    bool (*is_over)(const struct kept_entry *));

#endif
