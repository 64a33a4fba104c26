/* Finds a field or a getter by its name, where only the object is at hand. */
#ifndef CULPRIT_JVM_MEMBER_H
#define CULPRIT_JVM_MEMBER_H

#include <jvmti.h>

#include "agent/jvm/class_cache.h"
#include "base/str.h"

struct member {
	struct class_entry entry;
	bool is_getter;
	bool is_missing; /* the class has none of that name: kept too */
	union {
		jfieldID field;
		jmethodID getter;
	};
	char type[]; /* the descriptor of what it gives */
};

/*
 * An instance field, or an instance method without arguments that returns something; whatever its
 * access. Looked for in `declared`, a descriptor or NULL, which names the class or something that
 * it extends or implements, then in the class itself; both with all that they inherit, private
 * fields too. NULL: the JVM refused. What is not kept (entry.is_kept) is freed by the caller.
 */
struct member *member_find(struct class_cache *c, JNIEnv *env, jvmtiEnv *jvmti, jclass class,
			   const char *declared, struct str name, bool is_getter);

#endif
