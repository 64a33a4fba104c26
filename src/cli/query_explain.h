/* What a live query would do: culprit query --live --explain, and --measure, which counts first. */
#ifndef CULPRIT_CLI_QUERY_EXPLAIN_H
#define CULPRIT_CLI_QUERY_EXPLAIN_H

#include <stdbool.h>

struct call;

/* An exit status. */
int query_explain(const struct call *call, const char *text);
/* Whether it is a query of tracepoints that are known; says what is wrong before any host hears of
 * it. */
bool query_is_fine(const struct call *call, const char *text);

#endif
