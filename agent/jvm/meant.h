/* Which classes of the machine a wish means: by their names, and by what they are below. */
#ifndef CULPRIT_AGENT_JVM_MEANT_H
#define CULPRIT_AGENT_JVM_MEANT_H

#include <stdbool.h>

#include <jvmti.h>

#include "base/str.h"

#define MEANT_NAME_BYTES 1024

struct order;
struct wanted;

/* With dots; empty for arrays and numbers. */
struct str meant_name(jclass class, char room[MEANT_NAME_BYTES]);
/* Whether JDK 8 has made it itself (lambdas, method handles), which its name tells: behind a slash
 * it ends in a number. Such a class may have constants without a text, and the machine, which says
 * that it can be changed, is ended when it writes them down, for GetConstantPool or to have the
 * class transformed. Later ones say that it cannot be changed. */
bool meant_is_anonymous(struct str name);
/* name: the class's. */
bool meant_is(JNIEnv *env, const struct wanted *w, jclass class, struct str name);
/* Those that implement it are meant as well. Found out when it is loaded, which is before them. */
void meant_note(struct order *o, jclass class, struct str name);

#endif
