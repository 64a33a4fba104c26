/*
 * The class that woven code calls: culprit.Advice, which has native methods and nothing
 * else. A second copy of this library in one machine (of another version) has one of its own,
 * culprit.Advice2: numbers of places mean something to the copy that wove them only. It is defined
 * beside the machine's own classes, so that every loader finds it, and in no module: who gives
 * natives to a class of a module is warned of on the machine's output.
 */
#ifndef CULPRIT_AGENT_JVM_HELPER_H
#define CULPRIT_AGENT_JVM_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include <jni.h>

#include "base/str.h"

#define HELPER_LONGS 4
#define HELPER_OBJECTS 4

struct buf;

/* One of its methods. */
struct helper_method {
	const char *name, *type;
	void *code;
};

/* The bytes of the class file. */
void helper_write(const struct helper_method *methods, size_t nr, struct buf *out);
/* With slashes. */
struct str helper_name(void);
/* Defines it, once, and says what its methods do; false, and no exception, where the machine
 * refuses. */
bool helper_define(JNIEnv *env, const struct helper_method *methods, size_t nr);

#endif
