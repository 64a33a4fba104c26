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
/* Whether the machine itself has made it, of another one and with other constants: names of such
 * classes end in a number, up to JDK 14. They can be neither changed nor read; JDK 8 says that they
 * can be, and is ended by it (GetConstantPool finds constants that have no text). */
bool meant_is_anonymous(struct str name);
/* name: the class's. */
bool meant_is(JNIEnv *env, const struct wanted *w, jclass class, struct str name);
/* Those that implement it are meant as well. Found out when it is loaded, which is before them. */
void meant_note(struct order *o, jclass class, struct str name);

#endif
