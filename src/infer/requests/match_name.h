/* What the statements of a matcher are called: class, method and line. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_NAME_H
#define CULPRIT_INFER_REQUESTS_MATCH_NAME_H

#include <stdint.h>

#include "base/str.h"

struct matcher;

/* Once, when the models are known. */
void match_name_points(struct matcher *m);
/* org.example.Shop.order:17, or without the line when that is unknown; empty for no statement. */
struct str matcher_point_name(const struct matcher *m, uint32_t number);

#endif
