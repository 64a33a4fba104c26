/* What the steps that rebuild requests share: lines by thread, what names are worth, units of work.
 */
#ifndef CULPRIT_INFER_REQUESTS_WORK_H
#define CULPRIT_INFER_REQUESTS_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "infer/requests/beside.h"
#include "infer/requests/gather.h"
#include "infer/requests/kinds.h"
#include "model/why.h"

struct course;

#define NO_UNIT UINT32_MAX

/* How far away an owner of what a unit names is. */
enum { DEPTH_PREFIX = 4 }; /* from here on: a folder above a path that is named */

/* A thing that a unit names, itself (depth 0) or by something that it owns. */
struct held {
	uint32_t thing;
	uint8_t depth;
};

/* Lines of one thread, one after another, that one piece of work wrote. */
struct unit {
	uint32_t from, to;  /* in by_thread */
	int64_t start, end; /* ns */
	uint32_t main;      /* its first line, but for one that is there for the next */
	uint32_t type;      /* of that line */
	uint32_t held_at, nr_held;
	uint32_t execution; /* units that rounds of one loop made share it */
	uint32_t family;    /* of names: 0 none, or FAMILY_SEVERAL */
	uint32_t turn;      /* at the object that it is about: 0 none */
	uint32_t subject;   /* that object */
	uint32_t parent;    /* the unit that it follows, or NO_UNIT */
	uint32_t session;   /* units with the same one are one request */
	bool is_served;     /* its caller waits for it */
	bool is_full;       /* names more than is looked at */
	bool is_undated;    /* nothing tells when it was */
	bool is_batch;      /* names things of several requests: belongs to none */
	bool is_aside;      /* about nothing that the work around it is about */
	bool is_mixed;      /* its execution does: so do the lines that name nothing */
	bool is_visit;      /* it names things in turn, whoever they belong to */
	enum why_how why;   /* it is in its session */
	uint32_t thing;     /* that ties it to its parent or its family; 0: none */
	float sure;
};

struct work {
	const struct gather *g;
	struct course *course;
	struct kind_look *looks; /* of each kind */
	struct beside met;       /* thing and kind: how many of that kind units name beside it */
	uint32_t *by_thread;     /* lines, by file, thread, order */
	uint32_t *family;        /* of each thread */
	uint32_t nr_families;
	uint32_t *seen;    /* of each thing: in how many lines */
	float *bits;       /* of each thing: how rare it is */
	bool *is_hub;      /* of each thing: it tells no work apart */
	bool *is_family;   /* of each thing: numbers that several sorts of names begin with */
	uint32_t *root;    /* of each thing: the family that it descends from, or 0 */
	bool *is_measure;  /* of each kind: its values are amounts */
	uint32_t *answers; /* of each line: 1 + the one that it answers, or 0; NULL: none does */
	int64_t *first, *last;  /* of each thing: when it was named, ns */
	VEC(struct unit) units; /* by start */
	VEC(struct held) held;
};

/* One more than so many of that size, all zero. */
static inline void *work_zeroes(size_t nr, size_t size)
{
	return mem_zalloc(mem_bytes(nr + 1, size));
}

static inline uint32_t *work_counts(size_t nr)
{
	return work_zeroes(nr, sizeof(uint32_t));
}

static inline const struct seen_line *work_line(const struct work *w, uint32_t at)
{
	return &w->g->lines.v[w->by_thread[at]];
}

/* What the kind of a thing looks like. */
static inline const struct kind_look *work_look(const struct work *w, uint32_t thing)
{
	return &w->looks[w->g->kind_of.v[thing]];
}

static inline bool work_is_path(const struct work *w, uint32_t thing)
{
	return work_look(w, thing)->is_path;
}

/* Whether it tells work apart: it is neither known to all nor an amount. */
static inline bool work_can_tell(const struct work *w, uint32_t thing)
{
	return !w->is_hub[thing] && !w->is_measure[w->g->kind_of.v[thing]];
}

/* Whether the name itself stands in the text, as opposed to the thread or the file. */
static inline const uint32_t *line_names(const struct work *w, const struct seen_line *l)
{
	return w->g->named.v + l->name_at;
}

void work_begin(struct work *w, const struct gather *g, struct course *course);
void work_done(struct work *w);
/* Puts the units in order of their start. */
void work_sort(struct work *w);
/* Makes the unit hold these lines. */
void work_fit(const struct work *w, struct unit *u, uint32_t from, uint32_t to);
/* How rare each thing is, and which are hubs or measures. */
void weigh_things(struct work *w);
/* The first two numbers of a compound name, as a thing of their own; 0: it is none. */
uint32_t work_numbers(const struct work *w, uint32_t thing);
/* Fills units. */
void cut_threads(struct work *w);

#endif
