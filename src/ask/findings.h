/* Slow against normal: for each type, what its slowest requests have that those around the median
 * do not, and how sure that is. */
#ifndef CULPRIT_ASK_FINDINGS_H
#define CULPRIT_ASK_FINDINGS_H

#include "ask/contrast.h"
#include "ask/features.h"
#include "ask/series.h"
#include "ask/types.h"

struct error;
struct request_filter;
struct store;

enum verdict {
	VERDICT_SLOW, /* some requests are slow, and the rows say where */
	VERDICT_EVEN, /* nothing stands out */
	VERDICT_FEW,  /* one request alone is neither slow nor normal */
};

#define FINDING_FEATURES 5
#define FINDING_PEERS 3
#define FINDING_EXAMPLES 3

/* The same step on another node, or the time it took where the step was slow. */
struct peer {
	struct str node;
	int64_t mean;
	uint64_t spans;
};

struct finding {
	uint32_t type;
	enum verdict verdict;
	uint64_t nr, nr_slow, nr_normal;
	uint64_t seen_slow, seen_normal;        /* of these, looked into: fewer only of a sample */
	int64_t median, slow_mean, normal_mean; /* median: of what normal ones are taken from */
	bool outside;  /* normal ones are taken from outside the slow time */
	double impact; /* ns that requests beyond 1.5 times the median took beyond the median */
	struct contrast_answer answer;
	struct episode since;
	struct feature features[FINDING_FEATURES];
	size_t nr_features;
	struct peer peers[FINDING_PEERS];
	size_t nr_peers;
	uint64_t examples[FINDING_EXAMPLES]; /* that the named hop held up longest */
	size_t nr_examples;
};

struct slow_rank {
	int64_t duration;
	uint64_t id;
};

/* Which requests of a type are slow and which are normal. Where a slow time holds a good part of
 * all requests, the median is slow itself, and normal is what happened outside that time. */
struct slow_sets {
	VEC(struct slow_rank) ranks;   /* fastest first */
	VEC(struct slow_rank) outside; /* those outside the slow time, likewise; or empty */
	size_t normal_from, normal_until, slow_from;
	struct episode since;
};

struct findings {
	const char *more; /* options that commands in the answer need besides, or NULL */
	struct arena arena;
	struct types types;
	VEC(struct slow_sets) sets; /* by type */
	struct contrast contrast;
	struct features features;
	VEC(struct finding) v; /* the largest impact first, those without a finding last */
	double slow_share;
	uint64_t nr_skipped; /* types with little time, beyond those that are looked at */
};

/* slow_share: the part of each type's requests that counts as slow, 0.01 for one in a hundred. Two
 * passes over the run. */
int findings_collect(struct findings *f, struct store *s, const struct request_filter *filter,
		     double slow_share, struct error *err);
void findings_done(struct findings *f);

#endif
