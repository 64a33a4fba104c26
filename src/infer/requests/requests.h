/* Requests rebuilt from log lines that carry no name of their request: lprof's method, with more
 * evidence. */
#ifndef CULPRIT_INFER_REQUESTS_REQUESTS_H
#define CULPRIT_INFER_REQUESTS_REQUESTS_H

#include "infer/inference.h"

extern const struct inference infer_requests;

#endif
