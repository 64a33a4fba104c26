/*
 * The second pass that the note "paths" asks for: a service that gathers parts of an answer is
 * called once for each part, over different ways, and goes on only when all parts are there. The
 * call that goes on is not the last to be sent (stamps and threads race) but it is the last to
 * return. Nothing in a single arrival tells that; the parents found in the first pass do.
 */
#include "infer/paths/joins.h"

#include <stdlib.h>
#include <string.h>

#include "infer/paths/calls.h"

#define SHARE 0.3 /* of the requests that visit the node must arrive there more than once */

/* Parents come before their children but for equal times, so one walk up is short. */
static uint32_t find_root(uint32_t *root, const struct window *w, uint32_t call)
{
	uint32_t at = call;

	for (int steps = 0; steps < 1000 && root[at] == CALL_NONE; steps++) {
		if (w->calls.v[at].parent == CALL_NONE)
			return root[call] = at;
		at = w->calls.v[at].parent;
	}
	return root[call] = root[at] == CALL_NONE ? at : root[at];
}

void joins_init(struct joins *j, const struct window *w)
{
	size_t bytes = mem_bytes(w->calls.nr + 1, sizeof(uint32_t));

	j->w = w;
	j->root = mem_alloc(bytes);
	j->last = mem_alloc(bytes);
	j->late = mem_zalloc(w->calls.nr + 1);
	memset(j->root, 0xff, bytes);
	memset(j->last, 0xff, bytes);
	for (uint32_t i = 0; i < w->calls.nr; i++)
		find_root(j->root, w, i);
}

void joins_done(struct joins *j)
{
	free(j->root);
	free(j->last);
	free(j->late);
}

bool joins_look(struct joins *j, const uint32_t *in, uint32_t nr)
{
	uint32_t requests = 0, joined = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *last = &j->last[j->root[in[i]]];

		if (*last == CALL_NONE) {
			requests++;
			*last = in[i];
			continue;
		}
		joined += !j->late[*last];
		j->late[*last] = 0;
		if (j->w->calls.v[in[i]].t4 >= j->w->calls.v[*last].t4)
			*last = in[i];
		j->late[*last] = 1;
	}
	for (uint32_t i = 0; i < nr; i++)
		j->last[j->root[in[i]]] = CALL_NONE;
	return joined > SHARE * requests;
}
