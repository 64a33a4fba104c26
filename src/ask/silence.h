/* Silences of one node while others go on: a process that was stopped for a while, or that died. */
#ifndef CULPRIT_ASK_SILENCE_H
#define CULPRIT_ASK_SILENCE_H

#include "ask/activity.h"
#include "ask/anomaly.h"
#include "model/request.h"

struct silence {
	sym_t node;
	int64_t begin, end;
	bool alone;      /* others went on */
	bool for_good;   /* it was never heard again; end is that of the others */
	bool doubtful;   /* it was busy on one side only: idle nodes are silent, too */
	struct str said; /* what it says itself of the time that is missing */
	bool abrupt;     /* for good, in the middle of its work, while its peers went on */
	bool complained; /* others warn since */
	double expected; /* signs of life, had it gone on as before */
	uint64_t complaints, complaints_before; /* warnings of others since, and before */
	uint64_t requests;                      /* that waited through it, or went wrong with it */
	uint64_t visitors;                      /* of those, which are known to have been there */
	double lost, usual;                     /* usual: summed medians of their types */
	struct anomaly found;
	bool told;
};

struct silence_end {
	int64_t ns;
	uint32_t at; /* in v */
};

/* Zero is empty. */
struct silences {
	VEC(struct silence) v;
	VEC(struct silence_end) ends; /* of those that end, in order of time */
	VEC(uint32_t) for_good;       /* the others, in v */
};

/* The candidates that activity alone gives. */
void silences_find(struct silences *s, const struct activity *a);
/* Shows them every request; median is that of its type. */
void silences_see(struct silences *s, const struct activity *a, const struct request *r,
		  const struct request_body *body, int64_t median);
/* Decides: the anomaly is filled in those that are told. */
void silences_judge(struct silences *s, const struct activity *a);
void silences_done(struct silences *s);

#endif
