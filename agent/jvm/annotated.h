/* Whether a class may have an annotation, before its bytes are looked at: the machine does not
 * tell, but the names that a class knows do. */
#ifndef CULPRIT_AGENT_JVM_ANNOTATED_H
#define CULPRIT_AGENT_JVM_ANNOTATED_H

#include <stdbool.h>

#include <jvmti.h>

#include "base/str.h"

struct wanted;

/* name: the class's. True as well where the machine does not say: its bytes will. */
bool annotated_may_be(const struct wanted *w, jclass class, struct str name);

#endif
