/* The answer of a standing query since it was asked, and of the last two minutes second by second.
 */
#ifndef CULPRIT_QUERY_HISTORY_H
#define CULPRIT_QUERY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;
struct error;
struct history;
struct live_answer;
struct losses;
struct partial;
struct plan;

#define HISTORY_STEPS 120
#define HISTORY_STEP_GROUPS 2000     /* of one second; others count in the whole only */
#define HISTORY_WAIT_NS 2500000000LL /* after the end of a second, for reports on their way */
/* … and until nothing more is expected: long after a hub that was away has caught up */
#define HISTORY_FINAL_NS 60000000000LL

/* -EINVAL with the place where the text is no query. */
int history_new(struct history **h, struct str id, struct str text, int64_t since_ns,
		struct error *err);
void history_free(struct history *h);
const struct plan *history_plan(const struct history *h);
/* "Q2" of "Q2: From …"; may be empty. */
struct str history_name(const struct history *h);
/* When it was asked, where that is known later only. */
void history_begin(struct history *h, int64_t since_ns);
int64_t history_since(const struct history *h);

/* What was seen until a moment of the wall clock, besides what was added before. */
int history_add(struct history *h, int64_t until_ns, const struct partial *seen, struct error *err);
/* All that was seen since the query was asked: it replaces what is known of the whole time. */
int history_set(struct history *h, const struct partial *whole, struct error *err);

/* Rows are told apart by the keys in these columns, as bits; others are put together. The series
 * end with the last second that ended before until_ns. What the answer holds lies in the arena. */
int history_answer(struct history *h, uint64_t keep, int64_t until_ns, struct arena *arena,
		   struct live_answer *a, struct error *err);

/* For who tells second after second: the first one that is over and was not told as it is now (ns
 * where it begins), or NS_NONE. One that something came late for is told again. */
int64_t history_next(struct history *h, int64_t until_ns, bool *is_again);
/* The same for who tells each second once, as it is then. */
int64_t history_next_final(struct history *h, int64_t until_ns);
/* Seconds that end until there have to be told before anything is added until until_ns, as it needs
 * their room. */
int64_t history_room(int64_t until_ns);
/* Reports that came for seconds that had been told for good. */
uint64_t history_late(const struct history *h);
/* What was seen in that second, without series. */
int history_second(struct history *h, int64_t ns, struct arena *arena, struct live_answer *a,
		   struct error *err);

#endif
