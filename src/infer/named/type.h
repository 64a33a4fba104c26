/* Names the type of a request so that requests of the same kind share it: variable parts are
 * masked. */
#ifndef CULPRIT_INFER_NAMED_TYPE_H
#define CULPRIT_INFER_NAMED_TYPE_H

#include "base/arena.h"

/* "frontend: GET /user/{}" of the service and the name of the root span. */
struct str type_of_span(struct arena *arena, struct str service, struct str name);
/* The masked text of the first line, behind the class of its logger where the text is short. */
struct str type_of_line(struct arena *arena, struct str point, struct str title);

#endif
