/* Where a tracepoint is in running programs: functions and static probes of their files, and how
 * what it exports is found there. */
#ifndef CULPRIT_CAPTURE_WEAVE_PLACES_H
#define CULPRIT_CAPTURE_WEAVE_PLACES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "capture/probe/probe.h"
#include "capture/weave/pieces.h"
#include "program/functions.h"
#include "program/usdt.h"
#include "query/tracepoint.h"

struct buf;

/* The programs of all processes that were looked at; zero is empty. */
struct programs {
	struct functions functions;
	struct usdts usdts;
	size_t nr_modules; /* of which usdts were read */
};

struct weave_place {
	struct probe_function how; /* without a number */
	const char *java;          /* or NULL; the lines of a method's place (java.h) instead, */
	const char *begins;        /* … without what it exports, where requests begin, */
	uint64_t inputs;           /* … and what is asked for of its exports */
	enum piece_moment moment;
	struct advice_taking takings[TRACEPOINT_EXPORTS]; /* by export */
};

struct weave_places {
	VEC(struct weave_place) v;
};

int programs_look(struct programs *g, int pid, struct error *err);
void programs_done(struct programs *g);

/* Adds all places of the tracepoint, maybe none. inputs: of what it exports that is read. told: a
 * sentence for each part that there is none of, or that cannot be. */
void places_find(struct programs *g, const struct tracepoint *t, uint64_t inputs,
		 struct weave_places *out, struct buf *told);
/* What a program of advice reads, and where it finds that: only what it reads is looked for. */
void places_inputs(const struct advice_taking *takings, struct probe_advice *a);
/* A function by its name, as a place without exports: how many there are. */
size_t places_function(struct programs *g, struct str name, struct weave_places *out);

#endif
