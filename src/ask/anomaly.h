/* Something that is not as it usually is in a run: what, where, since when, and what bears it out.
 */
#ifndef CULPRIT_ASK_ANOMALY_H
#define CULPRIT_ASK_ANOMALY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum anomaly_kind {
	ANOMALY_PAUSE,     /* a node said nothing for a while, and requests waited for it */
	ANOMALY_DEAD,      /* a node said nothing any more, and others complain */
	ANOMALY_STUTTER,   /* a node stops for a moment again and again while its peers go on */
	ANOMALY_SLOW_NODE, /* the same work takes longer on one node than on its peers */
	ANOMALY_SLOW_HOP,  /* the way between two nodes takes longer than between their peers */
	ANOMALY_RETRIES,   /* steps repeated after errors */
	ANOMALY_WARNINGS,  /* one node warns of what its peers do not */
	ANOMALY_STOPS,     /* requests that end in the middle of the usual course */
	ANOMALY_COURSE,    /* a course of steps that did not exist before */
	ANOMALY_COUNT,     /* many more or fewer requests of a type for a while */
	ANOMALY_LATENCY,   /* a type slower for a while, none of the above being the reason */
};

#define ANOMALY_EXAMPLES 3

/* Plain data; strings live in the arena of struct anomalies. */
struct anomaly {
	enum anomaly_kind kind;
	struct str node, peer; /* peer: the other end of a hop; the address that complaints name */
	struct str type, name; /* of request and of step, where it is about one */
	struct str said;       /* a line of the log that bears it out */
	struct str who;        /* whose line that is */
	struct str last;       /* of a node that is gone: its last line */
	int64_t begin, end;    /* NS_NONE: with the run */
	int64_t took, usual;   /* ns: of the odd ones and of those it is compared with (medians) */
	double often, before;  /* counts: what it says depends on the kind */
	uint64_t requests;     /* that it touches */
	uint64_t slowest, slowest_of; /* of the slowest requests, how many it touches */
	bool others_too;              /* of a pause: the others soon fell silent as well */
	uint64_t novel; /* of a node that is gone: what others never said before, and now of it */
	double lost;    /* ns that those requests took longer */
	double confidence; /* that it did not come about by chance */
	uint64_t examples[ANOMALY_EXAMPLES];
	size_t nr_examples;
};

struct anomaly_list {
	VEC(struct anomaly) v;
};

const char *anomaly_kind_name(enum anomaly_kind kind);
/* What is told first, the smallest: a node that is gone, since what goes wrong then is hardly ever
 * due to anything else; last, what is rather felt than a reason (retries, other courses and counts)
 * and explains next to nothing of the time that slow requests lose. */
int anomaly_rank(const struct anomaly *a, double slowness);
/* Keeps the first few. */
void anomaly_example(struct anomaly *a, uint64_t request);

#endif
