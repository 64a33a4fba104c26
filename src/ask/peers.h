/* Compares like work done by different nodes (or over different ways between nodes): which of them
 * takes longer than its peers, and since when. */
#ifndef CULPRIT_ASK_PEERS_H
#define CULPRIT_ASK_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/names.h"
#include "base/vec.h"

#define PEERS_WITNESSES 3
#define PEERS_LABELS 64 /* of one kind of work; further ones are not told apart */

/* One piece of work. Several nodes may have done it together. */
struct peer_sample {
	int64_t at, ns;
	uint64_t request; /* 0: not known */
	uint64_t labels;  /* bits: positions in the group's labels */
	uint64_t absent;  /* likewise: who was there for a small part of that time only */
};

/* Work of one kind, so that the same time is to be expected. */
struct peer_group {
	uint32_t type;
	sym_t name;
	unsigned size; /* how many did it together */
	uint32_t labels[PEERS_LABELS];
	unsigned nr_labels;
	VEC(struct peer_sample) v; /* some of them, if there are many */
	uint64_t seen;
};

/* Zero is empty. */
struct peers {
	struct names names, keys, labels;
	VEC(struct peer_group) v; /* by key - 1 */
	struct buf key;
	uint64_t nr_samples, nr_left_out; /* left out: of kinds beyond those that fit */
};

/* What a group is: type and name of the work, and how many do it together. */
struct peer_work {
	uint32_t type;
	struct str name;
	unsigned size;
	unsigned shape; /* anything else that like work has in common */
};

void peers_done(struct peers *p);
sym_t peers_label(struct peers *p, struct str label);
/* Of the sample, absent has bits for positions in labels here, and its own labels are not used. */
void peers_add(struct peers *p, const struct peer_work *w, const sym_t *labels, unsigned nr,
	       const struct peer_sample *sample);

/* Which labels of the group are peers of one of them (position in its labels), as bits. */
uint64_t peers_of(const struct peers *p, const struct peer_group *g, unsigned label);
/* How finely time was told: no less is a difference. */
int64_t peers_floor(const struct peer_group *g);

/* A piece of work that took long, and whose it was. */
struct peer_witness {
	uint64_t request;
	int64_t ns;
};

/* A label whose work takes longer than that of its peers at the same time. */
struct peer_fault {
	uint32_t group;
	sym_t label;
	int64_t begin, end;
	bool from_first, to_last;
	size_t first, nr;       /* in the group's samples that bear the label, in order of time */
	uint64_t nr_peers;      /* samples that it was compared with */
	int64_t took, usual;    /* medians */
	double lost;            /* ns, of all samples inside */
	double confidence;      /* after correction for the number of comparisons */
	VEC(uint64_t) requests; /* whose work it was, in order */
	struct peer_witness worst[PEERS_WITNESSES]; /* the longest first; request 0: none */
};

struct peer_faults {
	VEC(struct peer_fault) v;
};

/* Sorts the samples of each group; the largest loss first. */
void peers_find(struct peers *p, struct peer_faults *out);
void peer_faults_done(struct peer_faults *f);
/* Whose work took so much longer, kept if it is among the worst. */
void peer_witness_add(struct peer_fault *f, uint64_t request, int64_t ns);
/* Adds the request of a piece of work that takes so much longer, if it is known. */
void peer_request_add(struct peer_fault *f, uint64_t request, int64_t ns);
/* Puts the requests of a fault in order, each once. */
void peer_requests_sort(struct peer_fault *f);

#endif
