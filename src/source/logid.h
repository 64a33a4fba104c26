/* Finds the name of the request that a line of free text carries, the surest kind first. */
#ifndef CULPRIT_SOURCE_LOGID_H
#define CULPRIT_SOURCE_LOGID_H

#include <stdbool.h>

#include "base/str.h"
#include "model/event.h"

/* Borrowed from the text. */
struct logid {
	enum key_kind kind; /* KEY_TRACE, KEY_REQUEST or KEY_WORK */
	struct str key;
	struct str span; /* the span that the text names beside its trace, or empty */
};

/* False, and *id untouched, when the text names nothing. */
bool logid_find(struct str text, struct logid *id);
/* The same, and whether the answer might be another one if the digits of the text were others. */
bool logid_find_noting(struct str text, struct logid *id, bool *by_digits);

#endif
