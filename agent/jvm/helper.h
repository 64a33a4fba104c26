/*
 * The class that woven code calls: culprit.Advice. Most of its methods are native; what of queues
 * need not be told is found out by three that are not, so that the machine can compile them into
 * who calls (muted.h). A second copy of this library in one machine (of another version) has a
 * class of its own, culprit.Advice2: numbers of places mean something to the copy that wove them
 * only. It is defined beside the machine's own classes, so that every loader finds it, and in no
 * module: who gives natives to a class of a module is warned of on the machine's output.
 */
#ifndef CULPRIT_AGENT_JVM_HELPER_H
#define CULPRIT_AGENT_JVM_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include <jni.h>

#include "base/str.h"

#define HELPER_LONGS 4
#define HELPER_OBJECTS 4
/* Its static fields: classes of elements that tell nothing, HELPER_MUTED and a digit, … */
#define HELPER_MUTED "muted"
#define HELPER_MUTED_NR 8
/* … and by the lowest bits of a thread's identity hash whether it may be a loop (element.h). */
#define HELPER_LOOPS "loops"
#define HELPER_LOOPS_NR 4096

struct buf;

/* One of its native methods. */
struct helper_method {
	const char *name, *type;
	void *code;
};

/* The bytes of the class file. */
void helper_write(const struct helper_method *methods, size_t nr, struct buf *out);
/* With slashes. */
struct str helper_name(void);
/* Defines it, once, and says what its methods do: a local reference; NULL, and no exception, where
 * the machine refuses. */
jclass helper_define(JNIEnv *env, const struct helper_method *methods, size_t nr);

/* Methods of an element of a queue, or null, and the number of the place; those that are to be
 * looked at come as at(JObject I), with the element's identity hash. */
#define HELPER_ELEMENT_TYPE "(Ljava/lang/Object;I)V"
#define HELPER_PUT "put"   /* it is put in */
#define HELPER_NEXT "next" /* it is taken out */
#define HELPER_IDLE "idle" /* nothing is told but that there was none */

#endif
