/* The bytes of a bag that are never changed: threads and objects that carry the same have one. */
#ifndef CULPRIT_AGENT_JVM_PARCEL_H
#define CULPRIT_AGENT_JVM_PARCEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bag;

#define PARCEL_BYTES 8192 /* at the most */

struct parcel {
	_Atomic uint32_t nr_users;
	uint32_t nr;    /* bytes, more than none, … */
	uint64_t asked; /* the request that it came with, as carried.h numbers them; or 0 */
	uint64_t bag[]; /* … which are the front of a struct bag */
};

/* One user has it. NULL: there is no memory. */
struct parcel *parcel_new(const struct bag *bag);
/* Bytes of a stranger. NULL: they make no sense as well. */
struct parcel *parcel_read(const void *bytes, size_t nr);
/* All that either has. NULL: there is no memory, or no room. */
struct parcel *parcel_joined(const struct parcel *a, const struct parcel *b);
bool parcel_is(const struct parcel *p, const struct bag *bag);
/* p: may be NULL. Another user; one less, and the last one frees it. */
struct parcel *parcel_use(struct parcel *p);
void parcel_leave(struct parcel *p);

static inline const struct bag *parcel_bag(const struct parcel *p)
{
	return p ? (const struct bag *)(const void *)p->bag : NULL;
}

#endif
