/*
 * What a tracepoint of a JVM exports: an expression (lib/advice/java_path.h) evaluated over JNI.
 *
 * Members are found by name when an object is first seen, and kept by its class; so nothing here
 * loads or initialises a class. A field or getter is looked for in the type that is declared, as a
 * compiler would, then in the class of the object itself. Code of the application runs only where
 * the expression asks for it: getters, and toString() of an object that is exported as it is.
 */
#ifndef CULPRIT_JVM_PATH_H
#define CULPRIT_JVM_PATH_H

#include <jni.h>
#include <jvmti.h>

#include "base/str.h"
#include "wire/advice.h"

struct java_path;
struct path;

/* Why a value is null, or not whole, though nothing on the way to it was null. */
enum path_result {
	PATH_FOUND,   /* and null where something on the way was */
	PATH_THREW,   /* a getter, toString() or an iterator threw, which was cleared */
	PATH_MISSING, /* no such field or getter; not an array or a list; a number */
	PATH_FAILED,  /* the JVM had no memory, or refused */
};

/*
 * Of one root of one woven method: descriptor is the type that its value is declared with
 * ("I", "[B", "Ljava/lang/String;"; of `this` the woven class; of `thrown` java.lang.Throwable or
 * what is caught). Ignored where the root is a duration ("J") or a constant.
 * NULL with *why set: not a path, or one that such a value cannot have.
 */
struct path *path_new(struct str text, const char *descriptor, const char **why);
/* No thread may evaluate it any more. */
void path_free(struct path *p, JNIEnv *env);
/* As it was written. */
struct str path_text(const struct path *p);
/* Which root it begins at. Borrows from p. */
const struct java_path *path_read(const struct path *p);

/*
 * Of a primitive root: root.j is the value widened to long; of float and double their raw bits
 * (floatToRawIntBits, doubleToRawLongBits). Otherwise root.l, which is borrowed. Constants take
 * nothing.
 * Fills *to; a text goes into `text`. No exception may be pending, none is left; local references
 * are given back. Any number of threads at once.
 */
enum path_result path_eval(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root,
			   struct advice_value *to, char text[ADVICE_TEXT]);

/* The same of an object as it is: a new local reference, NULL where there is none. */
enum path_result path_object(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root,
			     jobject *to);
/* The same as a number that two values have in common when they are the same: a number is itself,
 * also in its box, a text what it says, other objects who they are (System.identityHashCode); 0 of
 * null. Not of a path with [] or .class. */
enum path_result path_id(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root, uint64_t *id);
/* The same of a number alone, which is cut to a whole one. */
enum path_result path_amount(struct path *p, JNIEnv *env, jvmtiEnv *jvmti, jvalue root,
			     int64_t *amount);

#endif
