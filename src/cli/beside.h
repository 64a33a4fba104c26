/* A file that is written beside its name and renamed when it is whole, so that no half of it is
 * ever seen. */
#ifndef CULPRIT_CLI_BESIDE_H
#define CULPRIT_CLI_BESIDE_H

#include <stdio.h>

struct error;

struct beside {
	const char *path;
	char *partial;
	FILE *file;
};

/* Path "-" is standard output, which is written as it comes. */
int beside_open(struct beside *b, const char *path, struct error *err);
/* Keeps it (got >= 0) or throws it away; returns got, or the failure to keep it. */
int beside_close(struct beside *b, int got, struct error *err);

#endif
