/* By which of its methods an object takes headers of HTTP and tells them: found by their names,
 * once for each class. */
#ifndef CULPRIT_AGENT_JVM_HEADER_HOLDER_H
#define CULPRIT_AGENT_JVM_HEADER_HOLDER_H

#include <jni.h>
#include <stdbool.h>

#include "agent/jvm/class_cache.h"

/* Of a class; what it has not is NULL. */
struct holder {
	struct class_entry entry;
	jmethodID set, get;
	jmethodID all;  /* every value that a name has; asked before get */
	char set_gives; /* the first letter of its type */
	bool has_lists; /* it is a map: values are lists of texts */
	/* Headers that are named by objects, as gRPC's are: Key.of(name, marshaller). */
	jweak key_class;
	jmethodID key_of, remove;
	jfieldID marshaller;
	jfieldID payload; /* it is no header, but has entries of bytes (payload.h) */
};

/* NULL: there is no memory. */
struct holder *holder_of(JNIEnv *env, jobject o);
void holder_leave(struct holder *h, JNIEnv *env);
/* What names the header, as a new local reference; NULL: it cannot be made. */
jobject holder_name(JNIEnv *env, jobject o, const struct holder *h);

#endif
