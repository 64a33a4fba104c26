/* Tries tracepoints out on a running process: how often each is passed, and what it exports. */
#ifndef CULPRIT_CLI_TRACEPOINTS_TEST_H
#define CULPRIT_CLI_TRACEPOINTS_TEST_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct report;
struct tracepoint_files;

/* For so long. How many were passed. */
int tracepoints_test(const struct tracepoint_files *f, int pid, int64_t ns, struct report *r,
		     struct error *err);

#endif
