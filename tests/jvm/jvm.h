/* A JVM inside a test, started from the JDK that compiled its classes. */
#ifndef CULPRIT_TESTS_JVM_H
#define CULPRIT_TESTS_JVM_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

/* Its libjvm.so, where classes are, and an option such as -Xcheck:jni, or NULL. False: it does not
 * start, which is said. */
bool jvm_start(const char *library, const char *classes, const char *option);
/* What it said about us: warnings of -Xcheck:jni, and errors. */
unsigned jvm_nr_complaints(void);

extern JavaVM *jvm;
extern JNIEnv *jvm_env; /* of the thread that started it */
extern jvmtiEnv *jvm_tools;

/* A static method without arguments that returns an object; ends the test where it throws. */
jobject jvm_make(jclass class, const char *method, const char *type);

#endif
