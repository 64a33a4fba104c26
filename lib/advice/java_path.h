/*
 * How what a JVM exports is written: arg0.getBlockId(), this.names[].length, 'a text'
 * (docs/tracepoints.md has the grammar).
 *
 * Read by culprit, which tells mistakes, and by the agent in a JVM, which evaluates it
 * (agent/jvm/path.h). Nothing is allocated.
 */
#ifndef CULPRIT_ADVICE_JAVA_PATH_H
#define CULPRIT_ADVICE_JAVA_PATH_H

#include "base/str.h"

#define JAVA_PATH_STEPS 8
#define JAVA_PATH_ARGUMENTS 255 /* the most that a method has */

enum java_root {
	JAVA_THIS,
	JAVA_ARGUMENT,
	JAVA_RETURN,
	JAVA_THROWN,
	JAVA_DURATION, /* from here on without steps */
	JAVA_INT,
	JAVA_BOOL,
	JAVA_REAL,
	JAVA_TEXT,
};

enum java_step_kind {
	JAVA_FIELD,  /* .name */
	JAVA_GETTER, /* .name() */
	JAVA_INDEX,  /* [index] */
	JAVA_EACH,   /* []: the steps behind it are those of each element */
	JAVA_LENGTH, /* .length: of an array; otherwise a field of that name */
	JAVA_CLASS,  /* .class: the last step */
};

struct java_step {
	enum java_step_kind kind;
	uint32_t index;
	struct str name; /* of a field or getter; of LENGTH too */
};

/* Borrows from the text that it was read from. */
struct java_path {
	enum java_root root;
	uint8_t argument; /* its number */
	uint8_t nr_steps;
	struct java_step steps[JAVA_PATH_STEPS];
	union {
		int64_t number; /* of JAVA_INT and JAVA_BOOL */
		double real;
		struct str text; /* what is in the quotes */
	};
};

/* A stretch of the text, and what is wrong with it. */
struct java_mistake {
	size_t at, length;
	const char *what;
};

/* A path at the front of *from, which is moved behind it. 0, or -EINVAL with *m filled. */
int java_path_take(struct str *from, struct java_path *p, struct java_mistake *m);
/* The whole text is one path. */
int java_path_parse(struct str text, struct java_path *p, struct java_mistake *m);

#endif
