/* Makes requests of messages whose causes are known: a message is a span on the node that got it.
 */
#ifndef CULPRIT_INFER_CONVOLVE_EMIT_H
#define CULPRIT_INFER_CONVOLVE_EMIT_H

struct error;
struct store;
struct traffic;

/* Messages without a place are counted as lost. */
int emit_chains(struct store *s, const struct traffic *t, struct error *err);

#endif
