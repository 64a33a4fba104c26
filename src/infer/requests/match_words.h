/* The words that a statement writes itself, as opposed to what stands in its holes. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_WORDS_H
#define CULPRIT_INFER_REQUESTS_MATCH_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct matcher;

/* Of each statement, by hash, in order. */
struct match_words {
	const uint32_t *v;
	uint32_t nr;
};

/* Once, when the models are known. */
void match_words_find(struct matcher *m);
bool matcher_writes(const struct matcher *m, uint32_t number, struct str word);

#endif
