/* Requests that carry their own name: trace ids, request ids, span trees, message ids, work
 * identifiers. */
#ifndef CULPRIT_INFER_NAMED_NAMED_H
#define CULPRIT_INFER_NAMED_NAMED_H

#include "infer/inference.h"

extern const struct inference infer_named;

#endif
