#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shelf.h"

#define BLOCK_BYTES ((size_t)64 << 10)
#define BLOCK_BYTES_SHELF ((size_t)1 << 20) /* of an arena that outgrew some usual blocks */
/* What is larger than this, and finds more than this left, must not waste the rest of a block. */
#define LARGE_BYTES (BLOCK_BYTES / 8)
/* Enough for one round of any reader. Giving blocks back each round costs more than filling them:
 * the next round faults every page in again, and threads meet in the allocator. */
#define NR_SPARE_MAX 32

struct arena_block {
	struct arena_block *next;
	size_t bytes;
	_Alignas(max_align_t) char data[];
};

/* A block for just this, behind the one at hand, which goes on to be filled. */
static char *take_apart(struct arena *a, size_t bytes)
{
	struct arena_block *b = shelf_alloc(a->shelf, sizeof(*b) + bytes);

	b->next = a->blocks->next;
	b->bytes = bytes;
	a->blocks->next = b;
	return b->data;
}

static void arena_grow(struct arena *a, size_t bytes)
{
	size_t least = a->shelf && a->blocks ? BLOCK_BYTES_SHELF : BLOCK_BYTES;
	size_t room = bytes > least ? bytes : least;
	struct arena_block *b = room == BLOCK_BYTES ? a->spare : NULL;

	if (b)
		a->spare = b->next;
	else
		b = shelf_alloc(a->shelf, sizeof(*b) + room);
	b->next = a->blocks;
	b->bytes = room;
	a->blocks = b;
	a->at = b->data;
	a->end = b->data + room;
}

/* Not cleared. */
static char *take(struct arena *a, size_t bytes)
{
	size_t mask = _Alignof(max_align_t) - 1;
	char *p;

	if (bytes > SIZE_MAX / 2)
		mem_bytes(SIZE_MAX, 2);
	bytes = (bytes + mask) & ~mask;
	if ((size_t)(a->end - a->at) < bytes || !a->at) {
		if (bytes > LARGE_BYTES && (size_t)(a->end - a->at) > LARGE_BYTES)
			return take_apart(a, bytes);
		arena_grow(a, bytes);
	}
	p = a->at;
	a->at += bytes;
	return p;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	return memset(take(a, bytes), 0, bytes);
}

void *arena_room(struct arena *a, size_t bytes)
{
	return take(a, bytes);
}

static void free_blocks(struct shelf *shelf, struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		shelf_give(shelf, b);
		b = next;
	}
}

void arena_reset(struct arena *a)
{
	struct arena_block *b = a->blocks, *spare = a->spare, *next;
	unsigned nr = 0;

	for (struct arena_block *s = spare; s; s = s->next)
		nr++;
	for (; b; b = next) {
		next = b->next;
		if (b->bytes != BLOCK_BYTES || nr == NR_SPARE_MAX) {
			shelf_give(a->shelf, b);
			continue;
		}
		b->next = spare;
		spare = b;
		nr++;
	}
	*a = (struct arena){ .spare = spare, .shelf = a->shelf };
}

void arena_done(struct arena *a)
{
	free_blocks(a->shelf, a->blocks);
	free_blocks(a->shelf, a->spare);
	*a = (struct arena){ .shelf = a->shelf };
}

char *arena_z(struct arena *a, struct str s)
{
	char *p = take(a, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){ arena_z(a, s), s.n };
}

struct str arena_fmt(struct arena *a, const char *fmt, ...)
{
	char line[256], *p;
	va_list ap;
	int n;

	/* most texts are short: then once is enough */
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return STR("");
	if ((size_t)n < sizeof(line))
		return arena_str(a, (struct str){ line, (size_t)n });
	p = take(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return (struct str){ p, (size_t)n };
}
