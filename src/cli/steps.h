/* Tells what was done on the way to the answer: what was read, inferred, corrected. */
#ifndef CULPRIT_CLI_STEPS_H
#define CULPRIT_CLI_STEPS_H

struct error;
struct report;
struct store;

int steps_tell(struct store *s, struct report *r, struct error *err);

#endif
