/* Whether one text of a model fits a message: constants in their order, holes between them. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_FIT_H
#define CULPRIT_INFER_REQUESTS_MATCH_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/level.h"
#include "program/hole.h"

struct match;

struct match_part {
	struct str text; /* of a constant */
	uint32_t part;   /* its number in the model */
	uint8_t kind;    /* enum part_kind */
	uint8_t type;    /* enum hole_type */
	bool can_name;   /* what stands in it may name something */
};

/* A version of a model's text, made ready. */
struct match_pattern {
	const struct match_part *parts;
	uint32_t nr, nr_constants;
	const uint16_t *constants; /* which of the parts */
	bool begins, ends;         /* with a constant */
	uint64_t strict;  /* gaps between constants that not any text may stand in; the last bit is
			     that of all further ones */
	uint32_t letters; /* of constant text, which no message that fits is shorter than */
	uint32_t literal; /* part: the longest constant; nr when there is none */
	uint32_t model, point, version;
	uint32_t line;  /* of the point; 0: unknown */
	uint8_t level;  /* enum level */
	uint8_t nr_any; /* parts that may be anything, or nothing; 15 at the most */
	bool is_open;   /* its logger is not known, or may be that of another class */
};

enum match_fit {
	FIT_NOT,
	FIT_LOOSE, /* by its text; something else stands where a number should */
	FIT_WHOLE,
};

/* A message that begins as the pattern does, and with no blank. On a fit the values of *to are set,
 * unless it is NULL.
 */
enum match_fit match_fit(const struct match_pattern *p, struct str message, struct match *to);
/*
 * How many letters of it the message begins with, constant after constant, before it goes on
 * otherwise or breaks off; 0 when not even the first fits. The values in between are set,
 * unless to is NULL.
 */
uint32_t match_fit_front(const struct match_pattern *p, struct str message, struct match *to);

/* Position of the needle at or behind from, or s.n. */
size_t match_search(struct str s, size_t from, struct str needle);

#endif
