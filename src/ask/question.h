/* A question that can be put to any run: its name, its options, and the function that answers it.
 */
#ifndef CULPRIT_ASK_QUESTION_H
#define CULPRIT_ASK_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct report;
struct store;

struct option {
	const char *name;    /* without the dashes */
	const char *metavar; /* NULL for a switch */
	const char *help;
};

/* What the user gave, in the order of the question's options: NULL when absent, "" for a switch
 * that was set. */
struct args {
	const struct option *options; /* ends with a zero name */
	const char *const *values;
	const char *run; /* how the user names the run, for commands in the answer; NULL: unknown */
};

struct example {
	const char *command; /* what follows "culprit " */
	const char *says;    /* why one would */
};

struct question {
	const char *name;
	const char *summary;
	unsigned nr_runs;   /* how many runs it looks at: 1, or 2 for a comparison */
	bool is_of_objects; /* they are all that it reads: nothing else need be found out */
	const struct option *options;
	const struct example *examples; /* ends with a zero command */
	/* 0 answered, 1 nothing found (said in the report), negative failure. */
	int (*run)(struct store *const *runs, const struct args *args, struct report *report,
		   struct error *err);
};

extern const struct question *const questions[]; /* ends with NULL */

const char *args_get(const struct args *a, const char *name);
bool args_has(const struct args *a, const char *name);
/* *value keeps its default when the option is absent; a sentence in *err when it is no number. */
int args_uint(const struct args *a, const char *name, uint64_t *value, struct error *err);
/* Likewise for a share between 0 and 1, written 0.01 or 1%. */
int args_share(const struct args *a, const char *name, double *value, struct error *err);
/* Whether the asker could have asked for --json and did not: rows for scripts only may be left out.
 */
bool args_for_people(const struct args *a);

#endif
