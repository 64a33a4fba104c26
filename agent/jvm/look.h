/* Which methods there are that an order asks for, in the classes that are loaded. */
#ifndef CULPRIT_AGENT_JVM_LOOK_H
#define CULPRIT_AGENT_JVM_LOOK_H

#include <jvmti.h>

struct order;

/* "found NUMBER CLASS METHOD" for each that has code. A method that a class has of one above it is
 * found there. */
void look_tell(JNIEnv *env, struct order *o, const jclass *classes, jint nr);

#endif
