/* Which folders are at the top of one tree of files, so that paths below them are of one kind. */
#ifndef CULPRIT_INFER_REQUESTS_ROOTS_H
#define CULPRIT_INFER_REQUESTS_ROOTS_H

#include "infer/requests/gather.h"

/* Gives paths one kind whose tops the same statements name in the same place. */
void roots_join(struct gather *g);

#endif
