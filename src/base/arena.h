/* Memory for things that die together: allocate one by one, give back all at once. */
#ifndef CULPRIT_BASE_ARENA_H
#define CULPRIT_BASE_ARENA_H

#include <stddef.h>

#include "base/mem.h"
#include "base/str.h"

struct arena_block;
struct shelf;

/* Zero is a valid, empty arena. */
struct arena {
	struct arena_block *blocks;
	struct arena_block *spare; /* kept by arena_reset for the next round */
	char *at, *end;
	struct shelf
		*shelf; /* where blocks lie; NULL: in memory. It stays when all is given back */
};

/* Zeroed and aligned for any type. */
void *arena_alloc(struct arena *a, size_t bytes);
/* The same for bytes that are written at once: not zeroed. */
void *arena_room(struct arena *a, size_t bytes);
/* Forgets everything, keeps some memory for the next round. */
void arena_reset(struct arena *a);
void arena_done(struct arena *a);
struct str arena_str(struct arena *a, struct str s);
/* The same with a terminating zero. */
char *arena_z(struct arena *a, struct str s);
struct str arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, nr) ((type *)arena_alloc((a), mem_bytes((nr), sizeof(type))))

#endif
