/* Whether a class may have an annotation, before its bytes are looked at: the machine does not
 * tell, but the names that a class knows do. */
#ifndef CULPRIT_AGENT_JVM_ANNOTATED_H
#define CULPRIT_AGENT_JVM_ANNOTATED_H

#include <stdbool.h>

#include <jvmti.h>

struct wanted;

/* True as well where the machine does not say: its bytes will. */
bool annotated_may_be(const struct wanted *w, jclass class);

#endif
