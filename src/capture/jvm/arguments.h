/*
 * What a JVM was started with, as its launcher reads it: the command line, files of arguments
 * (@FILE), and the variables JDK_JAVA_OPTIONS, JAVA_TOOL_OPTIONS and _JAVA_OPTIONS.
 */
#ifndef CULPRIT_CAPTURE_JVM_ARGUMENTS_H
#define CULPRIT_CAPTURE_JVM_ARGUMENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

struct buf;

enum jvm_main { JVM_MAIN_NONE, JVM_MAIN_CLASS, JVM_MAIN_JAR, JVM_MAIN_MODULE };

/* Zero is of nobody. */
struct jvm_arguments {
	struct arena arena;
	VEC(struct str) options; /* in the order that counts: a later one wins */
	enum jvm_main kind;
	struct str main; /* class, jar or module/class as it was written */
};

/* Where the text comes from; words are ended by zeros, as in /proc. file reads one of arguments, or
 * gives -errno. */
struct jvm_started {
	struct str cmdline, environ;
	int (*file)(void *to, const char *path, struct buf *text);
	void *to;
};

void jvm_arguments_parse(struct jvm_arguments *a, const struct jvm_started *s);
/* What cannot be read is left out. */
void jvm_arguments_read(struct jvm_arguments *a, int pid);
void jvm_arguments_done(struct jvm_arguments *a);
/* The last option that begins so, what follows it; false when there is none. */
bool jvm_arguments_find(const struct jvm_arguments *a, struct str begins, struct str *rest);

bool jvm_arguments_disable_attach(const struct jvm_arguments *a);
bool jvm_attach_is_disabled(int pid);

#endif
