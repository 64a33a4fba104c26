/* What an object is to us, by its class, and the methods of Java's own classes that tell more. */
#ifndef CULPRIT_JVM_SHAPE_H
#define CULPRIT_JVM_SHAPE_H

#include <jvmti.h>

#include "agent/jvm/class_cache.h"

enum shape_kind {
	SHAPE_OTHER, /* whose toString() tells */
	SHAPE_TEXT,
	SHAPE_WHOLE, /* Integer, AtomicLong, … */
	SHAPE_REAL,
	SHAPE_BOOL,
	SHAPE_CHAR,
	SHAPE_ENUM,
	SHAPE_ARRAY,
	SHAPE_LIST,
	SHAPE_COLLECTION,
	SHAPE_MAP,
};

struct shape {
	struct class_entry entry;
	enum shape_kind kind;
	char signature[]; /* of the class, as "[I" */
};

/* Methods of Java's own classes, which are never unloaded. */
struct shape_methods {
	jmethodID number_long, number_double, boolean_value, char_value;
	jmethodID enum_name, to_string;
	jmethodID list_size, list_get, iterator, has_next, next, entries;
};

/* NULL: the JVM refused. What is not kept (entry.is_kept) is freed by the caller. */
struct shape *shape_find(struct class_cache *c, JNIEnv *env, jvmtiEnv *jvmti, jclass class);
/* NULL as long as no shape was found. */
const struct shape_methods *shape_methods(void);

#endif
