/* Which span is worth a try for a call: from where calls to its callee usually lie within a span.
 */
#ifndef CULPRIT_INFER_PATHS_PULL_H
#define CULPRIT_INFER_PATHS_PULL_H

#include <stdbool.h>
#include <stdint.h>

struct bins;
struct pcall;
struct piece;
struct view;

/* Where within spans of a type calls to a callee begin and end: log densities. */
struct pull {
	uint32_t nr_types, nr_callees;
	float *since_start; /* by type, callee and bin; with how many such calls a span makes */
	float *until_end;   /* likewise, without */
	float *spans;       /* by type: how many there are */
};

void pull_init(struct pull *u, const struct view *v);
void pull_done(struct pull *u);
/* Learns from the spans as they are now. */
void pull_learn(struct pull *u, const struct piece *p, const struct bins *b);
/* Learns from all spans that could have a call, by p->pull; early: the less in doubt count more. */
void pull_learn_all(struct pull *u, const struct piece *p, const struct bins *b, bool early);
/* Sets p->pull by what was learned; a share of it is spread over all candidates alike. */
void pull_weigh(const struct pull *u, struct piece *p, const struct bins *b, float any);
/* The candidate at this place between 0 and the sum of the call's pull. */
uint32_t pull_at(const struct piece *p, const struct pcall *c, float at);

#endif
