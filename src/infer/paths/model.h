/* What the spans of one node usually look like: which calls follow which, and after how long. */
#ifndef CULPRIT_INFER_PATHS_MODEL_H
#define CULPRIT_INFER_PATHS_MODEL_H

#include "infer/paths/bins.h"
#include "infer/paths/piece.h"
#include "infer/paths/pull.h"

/* Since when the delay before a call (or before the end) is measured. */
enum reference {
	SINCE_START,       /* of the span */
	SINCE_CALL,        /* the call before was sent */
	SINCE_ALL_RETURNS, /* the last of all returns to earlier calls, even when it comes later */
	SINCE_RETURN,      /* to the call before */
	SINCE_LAST_RETURN, /* the latest that had come, about */
	REFERENCES
};

/* What may come next in one state: a call to a callee, or the end. */
struct step {
	uint32_t next; /* state */
	float logp;
	uint32_t density; /* place in the table of densities, of BINS each */
	uint32_t since;   /* enum reference */
};

struct state {
	uint64_t hash; /* of the type and the multiset of calls so far */
	uint32_t type;
};

struct model {
	const struct bins *bins;
	uint32_t nr_types, nr_callees, stride; /* stride: callees and the end */
	uint32_t max_states;
	bool frozen;                     /* no new states: other threads read it too */
	float blur;                      /* how much wider than usual delays are smoothed */
	float overtaking[KINDS_MAX + 1]; /* by type: penalty for calls out of turn, see fifo.h */
	struct pull pull;                /* what the sampler tries */
	VEC(struct state) states;        /* first one for "anything" of each type, then its start */
	VEC(struct step) steps;          /* stride for each state */
	VEC(float) densities;            /* log per second */
	uint32_t *slots, nr_slots;       /* states by hash */
	float *logq;                     /* by type and step: how often at all */
	uint32_t *pool_since;            /* likewise: the reference of the shared density */
};

void model_init(struct model *m, const struct bins *bins, const struct view *v);
void model_done(struct model *m);
/* The log likelihood of a span with these kids. */
float model_ll(struct model *m, const struct piece *p, const struct pspan *s, const uint32_t *kids,
	       uint32_t nr);
void model_ll_all(struct model *m, struct piece *p);

/* What was seen at one step. */
struct sight {
	uint32_t step; /* state * stride + step */
	uint16_t bin[REFERENCES];
};
struct sights {
	VEC(struct sight) v;
	float weight; /* of each, as several samples are added up */
};
/* Adds what the spans that are whole in the piece show. */
void model_see(struct model *m, const struct piece *p, struct sights *s);
/* Learns from the sights; sharpen above 1 prefers the common next steps. */
void model_fit(struct model *m, const struct sights *s, double sharpen);

#endif
