/*
 * All classes that are loaded, with their names, for one order: which of them it means is found for
 * all wishes together. One by one (meant.h) it would take as many calls of the machine as there are
 * classes, wishes and types above each class.
 */
#ifndef CULPRIT_AGENT_JVM_ROLL_H
#define CULPRIT_AGENT_JVM_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jvmti.h>

#include "base/str.h"

struct order;

struct roll {
	jclass *v;
	jint nr;
	size_t *names; /* where each begins in text; the last: where it ends */
	char *text;
	size_t nr_text, room;
};

/* False: the machine tells none, or there is no memory. */
bool roll_take(struct roll *r);
void roll_done(struct roll *r, JNIEnv *env);

/* With dots; empty for arrays and numbers. */
struct str roll_name(const struct roll *r, jint i);

/* A hash of all that is wanted of each class, 0: nothing. It notes which wishes mean interfaces
 * (meant_note). NULL: there is no memory. To be freed. */
uint64_t *roll_wishes(const struct roll *r, JNIEnv *env, struct order *o);

#endif
