/* The request table, one request as a tree, its critical path, its log lines, latency over time. */
#ifndef CULPRIT_ASK_REQUESTS_REQUESTS_H
#define CULPRIT_ASK_REQUESTS_REQUESTS_H

#include "ask/question.h"

extern const struct question ask_requests;

#endif
