/* What is to be put into the methods of one class, for all that is wanted of it. */
#ifndef CULPRIT_AGENT_JVM_PUTS_H
#define CULPRIT_AGENT_JVM_PUTS_H

#include <jni.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "program/class.h"
#include "program/rewrite/rewrite.h"

struct wanted;

/* A put, and of which wish it is a part: all of one wish in a method are there, or none. */
struct put_of {
	const struct wanted *wanted;
	uint16_t method;
	uint32_t site;
};

struct puts {
	struct arena *arena;
	JNIEnv *env;
	const struct class *class;
	struct rewrite rewrite;
	VEC(struct rewrite_put) v;
	VEC(struct put_of) of; /* as v */
	/* methods that cannot be what is wanted, and why */
	void (*refused)(const struct wanted *w, const struct class *c, const struct member *m,
			const char *why);
};

void puts_init(struct puts *p, const struct class *c, struct arena *arena, JNIEnv *env);
void puts_done(struct puts *p);
/* All methods that are meant; the class is. */
void puts_add(struct puts *p, const struct wanted *w);

#endif
