/* The texts that a message is held against, found by how it begins and by what it holds. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_SET_H
#define CULPRIT_INFER_REQUESTS_MATCH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "infer/requests/match_fit.h"

/* A text, and the logger under which it stands in the set; what is looked at first lies here. */
struct match_item {
	const struct match_pattern *pattern;
	struct str logger;
	uint32_t letters;
	uint16_t levels; /* of its statement: a bit for each; all bits: any */
	int16_t rarest;  /* letter of its constants behind the beginning; -1: none */
};

#define MATCH_ANY_LEVEL UINT16_MAX

static inline uint16_t match_level_bit(enum level level)
{
	return (uint16_t)(1U << level);
}

struct match_set;

/* The items are put in another order; everything lies in the arena. */
const struct match_set *match_set_new(struct arena *a, struct match_item *items, uint32_t nr);

/* A message, and who is told of every text that may fit it. */
struct match_ask {
	struct str message;
	uint32_t least;  /* texts with fewer letters are not asked for; it may grow meanwhile */
	uint16_t levels; /* one of these bits is to be among those of the statement */
	void (*visit)(void *ctx, const struct match_item *item);
	void *ctx;
};

/* Whether one of its texts would fit such a message if its digits were others. */
bool match_set_by_digits(const struct match_set *set, struct str message);

/* Those that begin as the message does come first, from the longest beginning on, then those that
 * begin with a hole. */
void match_set_visit(const struct match_set *set, const struct match_ask *ask);
/* Only those that begin as the message does, whatever else they hold. */
void match_set_visit_begun(const struct match_set *set, const struct match_ask *ask);

#endif
