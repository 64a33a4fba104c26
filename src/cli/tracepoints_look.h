/* Whether programs have the places of tracepoints: native ones by their files, Java by its classes.
 */
#ifndef CULPRIT_CLI_TRACEPOINTS_LOOK_H
#define CULPRIT_CLI_TRACEPOINTS_LOOK_H

#include "program/functions.h"
#include "program/usdt.h"
#include "query/tracepoint.h"

struct buf;
struct call;
struct error;
struct program;

/* Zero has looked into nothing. */
struct looked {
	bool is_asked;
	struct functions functions;
	struct usdts usdts;
	struct program *java; /* or NULL */
	size_t nr_missing;
};

/* What --program and --pid name. */
int looked_into(struct looked *l, const struct call *call, struct error *err);
void looked_done(struct looked *l);
/* "yes", "2 times", "yes, from outside" (it cannot be patched), "no; near: …"; false where such a
 * place was not looked for. */
bool looked_for(struct looked *l, const struct tracepoint_place *p, struct buf *said);

#endif
