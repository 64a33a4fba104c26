/* How a type that lines show is told to people. */
#ifndef CULPRIT_MODEL_SHOWN_H
#define CULPRIT_MODEL_SHOWN_H

#include "base/str.h"

/* "attempt_m" of "attempt_#_m_#": the bytes put into name, which has room for all of shown. */
size_t shown_name(struct str shown, char *name);

#endif
