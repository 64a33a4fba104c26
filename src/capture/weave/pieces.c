#include "capture/weave/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct pieces *pieces_new(struct probe_view view)
{
	struct pieces *p = mem_zalloc(sizeof(*p));

	p->view = view;
	/* an earlier session may have left some */
	memset(view.region->woven, 0, sizeof(view.region->woven));
	return p;
}

void pieces_free(struct pieces *p)
{
	if (!p)
		return;
	memset(p->view.region->woven, 0, sizeof(p->view.region->woven));
	for (size_t i = 0; i < PROBE_ADVICES; i++)
		free(p->v[i].inside);
	free(p);
}

static uint16_t *head_of(const struct pieces *p, uint32_t function, enum piece_moment moment)
{
	struct probe_woven *w = &p->view.region->woven[function];

	return moment == PIECE_ENTRY ? &w->entry : moment == PIECE_EXIT ? &w->exit : &w->unwound;
}

static uint64_t running(const struct pieces *p, uint32_t ring)
{
	const struct probe_ring *r = (const void *)((const char *)p->view.region + PROBE_RINGS_AT +
						    ring * PROBE_RING_BYTES);

	return __atomic_load_n(&r->results.running, __ATOMIC_SEQ_CST);
}

static uint32_t nr_claimed(const struct pieces *p)
{
	uint64_t nr = __atomic_load_n(&p->view.region->nr_claimed, __ATOMIC_ACQUIRE);

	return nr < p->view.nr_rings ? (uint32_t)nr : p->view.nr_rings;
}

/* Whether nobody can be in it any more. Rings that came later never saw it. */
static bool has_left(const struct pieces *p, struct piece *e)
{
	for (uint32_t i = 0; i < e->nr_inside; i++)
		if (e->inside[i] && running(p, i) == e->inside[i])
			return false;
	return true;
}

static int place_find(struct pieces *p)
{
	for (int i = 0; i < (int)PROBE_ADVICES; i++) {
		struct piece *e = &p->v[i];

		if (e->state == PIECE_LEAVING && has_left(p, e)) {
			free(e->inside);
			*e = (struct piece){ 0 };
		}
		if (e->state == PIECE_FREE)
			return i;
	}
	return -ENOSPC;
}

/* The one in front of where this belongs, or NULL; what comes behind it in *next. */
static struct piece *before(struct pieces *p, const struct piece *e, uint16_t *next)
{
	struct piece *last = NULL, *at;

	*next = 0;
	for (size_t i = 0; i < PROBE_ADVICES; i++) {
		at = &p->v[i];
		if (at == e || at->state != PIECE_USED || at->function != e->function ||
		    at->moment != e->moment)
			continue;
		if (at->order <= e->order && (!last || at->order > last->order))
			last = at;
	}
	if (last) {
		*next = last->next;
		return last;
	}
	*next = *head_of(p, e->function, e->moment);
	return NULL;
}

static void link_to(struct pieces *p, struct piece *front, const struct piece *e, uint16_t number)
{
	if (front) {
		front->next = number;
		__atomic_store_n(&p->view.region->advices[front - p->v].next, number,
				 __ATOMIC_SEQ_CST);
	} else {
		__atomic_store_n(head_of(p, e->function, e->moment), number, __ATOMIC_SEQ_CST);
	}
}

int pieces_add(struct pieces *p, uint32_t function, enum piece_moment moment, uint64_t order,
	       const struct probe_advice *advice)
{
	int number = place_find(p);
	struct piece *e, *front;

	if (number < 0)
		return number;
	e = &p->v[number];
	*e = (struct piece){
		.state = PIECE_USED, .moment = moment, .function = function, .order = order
	};
	front = before(p, e, &e->next);
	p->view.region->advices[number] = *advice;
	p->view.region->advices[number].next = e->next;
	link_to(p, front, e, (uint16_t)(number + 1));
	return number;
}

void pieces_remove(struct pieces *p, int number)
{
	struct piece *e = &p->v[number], *front = NULL;

	if (e->state != PIECE_USED)
		return;
	for (size_t i = 0; i < PROBE_ADVICES; i++)
		if (p->v[i].state == PIECE_USED && p->v[i].next == number + 1)
			front = &p->v[i];
	link_to(p, front, e, e->next);
	e->state = PIECE_LEAVING;
	e->nr_inside = nr_claimed(p);
	e->inside = mem_alloc(mem_bytes(e->nr_inside + 1, sizeof(*e->inside)));
	for (uint32_t i = 0; i < e->nr_inside; i++) {
		uint64_t now = running(p, i);

		e->inside[i] = now & 1 ? now : 0;
	}
}
