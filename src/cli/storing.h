/* Puts a run into PostgreSQL when the user asks for that, and names such runs without passwords. */
#ifndef CULPRIT_CLI_STORING_H
#define CULPRIT_CLI_STORING_H

#include <stdbool.h>

#include "base/buf.h"

struct call;
struct error;
struct store;

/* Where --store and --run lead to: 1 and the whole address in *where, 0 when nothing was asked
 * for. Asks the server at once, before hours of work are done for nothing. */
int storing_begin(const struct call *call, struct buf *where, struct error *err);
/* Stores the run there. */
int storing_end(struct store *s, const struct buf *where, struct error *err);

/* The name of a run, file or address, as it may be shown; with its terminating zero. */
const char *storing_shown(const char *name, struct buf *shown);

#endif
