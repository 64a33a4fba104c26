/* Requests from messages that are neither call nor return: delays that recur tell what caused what.
 */
#ifndef CULPRIT_INFER_CONVOLVE_CONVOLVE_H
#define CULPRIT_INFER_CONVOLVE_CONVOLVE_H

#include "infer/inference.h"

extern const struct inference infer_convolve;

#endif
