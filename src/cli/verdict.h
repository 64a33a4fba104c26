/* The report at the end of an observation: what was done, what is slow, and what is to blame. */
#ifndef CULPRIT_CLI_VERDICT_H
#define CULPRIT_CLI_VERDICT_H

struct call;
struct error;
struct store;

/* name is what to ask for more: the run, or the only input, or NULL. 0 answered, 1 nothing found,
 * negative failure. */
int verdict(const struct call *call, struct store *s, const char *name, struct error *err);

#endif
