/* What is known of a query before it runs: the tracepoints that it may use, what it would do at
 * each, and the definitions that go along with it. */
#ifndef CULPRIT_QUERY_LIVE_EXPLAIN_H
#define CULPRIT_QUERY_LIVE_EXPLAIN_H

#include "base/buf.h"
#include "query/tracepoint.h"

struct error;
struct live_advice;
struct live_word;
struct plan;

/* Definitions: of several files, of which later ones go before earlier ones. */
struct live_known {
	const struct tracepoints *files;
	size_t nr;
};

void live_known_words(const struct live_known *k, void (*each)(void *to, const struct live_word *w),
		      void *to);
/* The definitions of the tracepoints of a plan, as a text of their own. */
void live_known_of(const struct live_known *k, const struct plan *plan, struct buf *text);

/* A query that counts how often the tracepoints of a stage are met: what the stage would do as
 * often. */
void live_measure_text(const struct plan *plan, uint32_t stage, struct buf *text);
/* Each stage; -EINVAL with the place where it is no query of these tracepoints. per_second: by
 * stage, NULL where nothing was measured. */
int live_explain_query(const struct live_known *k, struct str text, const double *per_second,
		       void (*each)(void *to, const struct live_advice *a), void *to,
		       struct error *err);

#endif
