/* The delays at which one route may cause another, and how likely each delay is. */
#ifndef CULPRIT_INFER_CONVOLVE_LINKS_H
#define CULPRIT_INFER_CONVOLVE_LINKS_H

#include "infer/convolve/traffic.h"

enum { LINK_BINS = 64 };

struct delay_window {
	int64_t low, high; /* ns, both included; never negative */
};

struct link {
	uint32_t from, to; /* routes */
	struct delay_window window;
	double rate;              /* effects to a cause */
	double share;             /* of the messages of the route that it explains */
	double mean, spread;      /* of its delays, ns */
	float density[LINK_BINS]; /* of a delay, log, per ns */
};

/* Zero is valid and empty. */
struct links {
	VEC(struct link) v;           /* by to, once learned */
	VEC(uint32_t) first;          /* of each route: v[first[route]] … */
	VEC(double) spontaneous;      /* of each route: messages without a cause, log, per ns */
	VEC(double) spontaneous_part; /* and their part of all of its messages */
};

/* One thing that a message may have been caused by. */
struct candidate {
	uint32_t cause, link;
	float density; /* of the delay, log, per ns */
};

void links_done(struct links *l);
void links_add(struct links *l, uint32_t from, uint32_t to, struct delay_window window);
/* Takes away all links to a route. */
void links_forget(struct links *l, uint32_t to);
/* Finds out what each link explains when all explain together; drops those that explain less than
 * least messages or least_share of what they could. */
void links_learn(struct links *l, const struct traffic *t, uint32_t least, double least_share);
double link_density(const struct link *l, double delay);
/* Learns the delays of a link anew: how often each bin occurs. */
void link_fit(struct link *l, const float *counts);
size_t link_bin(const struct link *l, double delay);
/* The causes of message m that links allow, likeliest first, at most so many. */
size_t links_candidates(const struct links *l, const struct traffic *t, uint32_t m,
			struct candidate *v, size_t most);

#endif
