/* Large blocks of memory for what is worked on as a whole: beyond a bound they lie in a file that
 * nobody sees, and what was not touched lately takes no memory of the process. */
#ifndef CULPRIT_BASE_SHELF_H
#define CULPRIT_BASE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/vec.h"

struct shelf;

/* The process shall need about as many bytes; dir: where the file is made once it is needed, NULL
 * for the temporary directory. */
struct shelf *shelf_new(size_t bound, const char *dir);
/* All blocks were given back. */
void shelf_free(struct shelf *s);
/* In a child of the process that made it, before anything else: what it holds is the child's own
 * from now on, and the parent's stays as it is. False: it cannot be had. */
bool shelf_branch(struct shelf *s);
/* Bytes that lie in the file by now. */
uint64_t shelf_filed(struct shelf *s);

/* May be called by several threads. NULL stands for memory as usual; so do small blocks, and those
 * for which there is no room on the disk. */
void *shelf_alloc(struct shelf *s, size_t bytes);  /* not cleared */
void *shelf_zalloc(struct shelf *s, size_t bytes); /* cleared */
/* The same for a table that is asked at random, which has most of the memory before others have
 * it. old: what it takes the place of, to be given back once that is done; or NULL. */
void *shelf_table(struct shelf *s, size_t bytes, const void *old);
void *shelf_realloc(struct shelf *s, void *p, size_t old_bytes, size_t bytes);
void shelf_give(struct shelf *s, void *p);
/* Of a large block that is about to be given back, and was read up to here: what is before is not
 * needed any more. Called often, it does something now and then. */
void shelf_leave(const struct shelf *s, void *block, size_t bytes);

/* For who is about to touch many pages at random: takes away at once what the process has too many
 * of, where the thread that does so may not have had its turn. Costs little, not nothing. */
void shelf_look(struct shelf *s);

/* A VEC whose array lies on the shelf: reserved, filled and given back by these only. */
#define shelf_reserve(shelf, vec, want) \
	do { \
		size_t shelf_want_ = (want), shelf_room_ = (vec)->room; \
		if (shelf_want_ > shelf_room_) { \
			shelf_room_ = \
				shelf_want_ > 2 * shelf_room_ ? shelf_want_ : 2 * shelf_room_; \
			if (shelf_room_ < 8) \
				shelf_room_ = 8; \
			(vec)->v = shelf_realloc((shelf), (vec)->v, \
						 mem_bytes((vec)->room, sizeof(*(vec)->v)), \
						 mem_bytes(shelf_room_, sizeof(*(vec)->v))); \
			(vec)->room = shelf_room_; \
		} \
	} while (0)

#define shelf_push(shelf, vec, ...) \
	do { \
		shelf_reserve((shelf), (vec), (vec)->nr + 1); \
		(vec)->v[(vec)->nr++] = (__VA_ARGS__); \
	} while (0)

#define shelf_done(shelf, vec) \
	do { \
		shelf_give((shelf), (vec)->v); \
		(vec)->v = NULL; \
		(vec)->nr = (vec)->room = 0; \
	} while (0)

#endif
