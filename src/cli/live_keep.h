/* Keeps what a standing query saw as a run: each row of each second is an event whose tracepoint is
 * the query, so that it can be asked again (culprit query RUN 'From r In NAME …'). */
#ifndef CULPRIT_CLI_LIVE_KEEP_H
#define CULPRIT_CLI_LIVE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct live_answer;
struct live_keep;
struct losses;

/* name: of the query, by which its rows are asked for. */
int live_keep_open(struct live_keep **k, const char *path, struct str name, struct str text,
		   struct error *err);
/* The rows of one second. */
int live_keep_add(struct live_keep *k, const struct live_answer *second, struct error *err);
/* Makes the run whole where is_whole, and throws it away otherwise. */
int live_keep_close(struct live_keep *k, const struct losses *losses, bool is_whole,
		    struct error *err);

#endif
