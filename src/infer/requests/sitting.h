/* What is known of sessions while units take their seats in them, one after the other. */
#ifndef CULPRIT_INFER_REQUESTS_SITTING_H
#define CULPRIT_INFER_REQUESTS_SITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "infer/requests/anew.h"
#include "infer/requests/deeds.h"
#include "infer/requests/interim.h"
#include "infer/requests/session.h"
#include "infer/requests/stay.h"

/* Of two sorts of units. */
struct share {
	uint32_t earlier, later; /* 1 + their numbers */
	double share;
};

struct sitting {
	struct work *w;
	const struct owners *o;
	const struct ties *l;
	uint32_t *live;       /* of each thing: the session that named it last; 0: none */
	struct map families;  /* family: its session */
	struct map turns;     /* turn: its session */
	bool *is_entry;       /* of each family of threads: requests come in there */
	uint32_t *executions; /* without a parent: 1 + the last unit that began work */
	struct map seen;      /* session and type, of those that nearly always follow another */
	bool *is_must;        /* of each type: it does */
	struct map kinds;     /* type and kind: such a unit names such a thing itself */
	uint32_t *ends;       /* where units end in by_thread: 1 + the unit */
	struct deeds deeds;
	struct anew anew;
	struct interim interim;
	struct stay stay;
	struct map anew_in;   /* sessions that have emptied something and begun it anew */
	struct share *shares; /* how surely units follow others, those asked for last */
	VEC(uint64_t) musts;  /* two types: the second nearly always follows the first */
	uint32_t *unit_of;    /* of each line that is answered; NULL: none is */
	VEC(int64_t) end;     /* of each session, ns */
	VEC(uint32_t) first;  /* of each session: its first unit */
	uint32_t nr;
};

/* The threads that its thread is one of. */
static inline uint32_t sitting_threads(const struct work *w, const struct unit *u)
{
	return w->family[work_line(w, u->from)->thread];
}

/* Whether the session of the unit began with such work. */
static inline bool sitting_began_so(const struct sitting *s, const struct unit *u)
{
	return s->w->units.v[s->first.v[u->session]].type == u->type;
}

#endif
