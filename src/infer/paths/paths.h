/* Requests from messages alone: calls and returns are tied into causal paths. */
#ifndef CULPRIT_INFER_PATHS_PATHS_H
#define CULPRIT_INFER_PATHS_PATHS_H

#include "infer/inference.h"

extern const struct inference infer_paths;

#endif
