#include "agent/jvm/room.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "agent/jvm/hot.h"

#define LARGE_PAGE ((size_t)2 << 20)
#define UNIT 64u /* a line of the processor's memory */
#define SIZES 16u
#define LARGEST (UNIT * SIZES) /* beyond: malloc */

struct piece {
	struct piece *next;
};

/* The first bytes of a large page. */
struct page {
	struct page *next;
};

/* Pages of one sort, and what is not used of the one that was begun last. */
struct pages {
	struct page *all;
	char *unused, *end;
};

/* All under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *spares[SIZES];
static struct pages lent, kept;
static size_t nr_out;

static size_t units_of(size_t bytes)
{
	return bytes ? (bytes + UNIT - 1) / UNIT : 1;
}

/* Aligned, so that the kernel can have it in one piece; where it cannot, small pages do as well. */
static bool page_add(struct pages *to)
{
	char *all = mmap(NULL, 2 * LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	size_t front;
	struct page *p;

	if (all == MAP_FAILED)
		return false;
	front = (LARGE_PAGE - (uintptr_t)all % LARGE_PAGE) % LARGE_PAGE;
	if (front)
		munmap(all, front);
	munmap(all + front + LARGE_PAGE, LARGE_PAGE - front);
	madvise(all + front, LARGE_PAGE, MADV_HUGEPAGE);
	p = (struct page *)(void *)(all + front);
	p->next = to->all;
	*to = (struct pages){ p, all + front + UNIT, all + front + LARGE_PAGE };
	return true;
}

/* What is left of the last page when it has no room is not used. */
HOT static void *take(struct pages *from, size_t units)
{
	if ((size_t)(from->end - from->unused) < units * UNIT && !page_add(from))
		return NULL;
	from->unused += units * UNIT;
	return from->unused - units * UNIT;
}

HOT static void *piece_get(size_t units)
{
	struct piece *p = spares[units - 1];

	if (!p)
		return take(&lent, units);
	spares[units - 1] = p->next;
	return p;
}

HOT void *room_get(size_t bytes)
{
	void *p;

	if (bytes > LARGEST)
		return malloc(bytes);
	pthread_mutex_lock(&lock);
	p = piece_get(units_of(bytes));
	nr_out += p != NULL;
	pthread_mutex_unlock(&lock);
	return p;
}

HOT void room_give(void *p, size_t bytes)
{
	struct piece *one = p;

	if (!p || bytes > LARGEST) {
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
	one->next = spares[units_of(bytes) - 1];
	spares[units_of(bytes) - 1] = one;
	nr_out--;
	pthread_mutex_unlock(&lock);
}

void *room_keep(size_t bytes)
{
	void *p;

	if (bytes > LARGE_PAGE / 2)
		return calloc(1, bytes);
	pthread_mutex_lock(&lock);
	p = take(&kept, units_of(bytes));
	pthread_mutex_unlock(&lock);
	return p;
}

void rooms_free(void)
{
	struct page *p, *next;

	pthread_mutex_lock(&lock);
	for (p = nr_out ? NULL : lent.all; p; p = next) {
		next = p->next;
		munmap(p, LARGE_PAGE);
	}
	if (!nr_out) {
		lent = (struct pages){ 0 };
		for (size_t i = 0; i < SIZES; i++)
			spares[i] = NULL;
	}
	pthread_mutex_unlock(&lock);
}
