/* Variance of a program that runs: watches intervals and functions round after round, each time
 * closer to what varies, until nothing is left to look into. */
#ifndef CULPRIT_CLI_VARIANCE_LIVE_H
#define CULPRIT_CLI_VARIANCE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct error;

struct live_options {
	int pid;              /* 0: the command is started */
	char *const *command; /* ends with NULL; NULL: there is none */
	const char *path;     /* of the run; NULL: none is kept */
	int64_t for_ns;       /* 0: until rounds are over */
	int64_t round_ns;     /* of one round at least */
	unsigned nr_rounds;   /* 0: as many as it takes */
	unsigned nr_top;      /* factors that are looked into after each round */
	double min_share;     /* of a factor that is worth it */
	double budget;        /* share of the program's time that watching may cost */
	bool has_no_states;   /* threads are not watched while they wait */
	const struct call *call;
};

/* 0, 1 when no interval was seen, or a failure. */
int variance_live(const struct live_options *o, struct error *err);

#endif
