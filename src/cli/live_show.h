/*
 * Shows what a standing query answers as it comes: a table that is drawn anew each second in a
 * terminal, JSON lines for a script; and hands it on: to OpenTelemetry, and into a run file.
 *
 * Options of the call: json, pivot COLUMN, show COLUMN, otlp FILE|URL, output FILE.
 */
#ifndef CULPRIT_CLI_LIVE_SHOW_H
#define CULPRIT_CLI_LIVE_SHOW_H

#include <stdint.h>

#include "base/str.h"

struct call;
struct error;
struct live_show;
struct losses;
struct partial;

/* -EINVAL where the text is no query or a column is none of it. */
int live_show_open(struct live_show **s, const struct call *call, struct str id, struct str text,
		   struct error *err);
/* What was seen until a moment of the wall clock, besides what was added before. */
int live_show_add(struct live_show *s, int64_t until_ns, const struct partial *seen,
		  struct error *err);
/* All that was seen since the query was asked, instead of what was added before. */
int live_show_set(struct live_show *s, const struct partial *whole, struct error *err);
/* What somebody who knows more than results tell has counted so far. */
void live_show_losses(struct live_show *s, const struct losses *losses);
/* About once a second; the words stand above the table ("3 agents"). */
int live_show_tick(struct live_show *s, const char *words, struct error *err);
/* The last table, all that is left to be told, and the end. 0, or 1 where no row ever came. */
int live_show_close(struct live_show *s, struct error *err);

#endif
