/*
 * Methods of a running Java machine whose calls are told: our agent in it is asked which there are
 * (agent/jvm/look.h), weaves those that are wanted, and says whom they call. The calls come by
 * capture/probe/probe.h, with those of native functions.
 */
#ifndef CULPRIT_CAPTURE_JVM_METHODS_H
#define CULPRIT_CAPTURE_JVM_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct error;
struct jvm_methods;
struct probe_region;

struct jvm_method {
	uint32_t number;                        /* that its calls are told by */
	struct str class, method;               /* all of that name; with dots */
	bool is_mark, is_mark_at_exit, is_unit; /* as struct probe_function has them */
	/* What marks say: paths of lib/advice/java_path.h, or empty. */
	struct str value, value_at_exit;
	bool is_amount; /* the latter; otherwise it names something */
};

/* What is asked for: class may have stars, and a plus behind it for classes below. */
struct jvm_look {
	struct str class, method;
};

struct jvm_found {
	uint32_t look; /* the number of the question */
	struct str class, method;
};

struct jvm_calls {
	uint32_t number; /* of who calls */
	struct jvm_look whom;
};

struct jvm_verdict {
	uint32_t number;
	struct str why; /* empty: it is woven */
};

/* Zero is empty; strings are in the arena. */
struct jvm_heard {
	struct arena arena;
	VEC(struct jvm_found) found;
	VEC(struct jvm_calls) calls;
	VEC(struct jvm_verdict) verdicts;
	struct str error; /* the last */
};

void jvm_heard_done(struct jvm_heard *h);
/* Takes the text of answers. */
void jvm_heard_take(struct jvm_heard *h, struct str text);

/* region: as probe_region() has it of the process. */
int jvm_methods_open(struct jvm_methods **m, int pid, const struct probe_region *region,
		     struct error *err);
/* All is as it was there, if the process is. */
void jvm_methods_close(struct jvm_methods *m);
/* The thread by which the machine stops all others, and lets them go on; 0: none is known. */
uint32_t jvm_methods_stopper(const struct jvm_methods *m);
/* Which methods there are, for each question. */
int jvm_methods_look(struct jvm_methods *m, const struct jvm_look *v, size_t nr,
		     struct jvm_heard *heard, struct error *err);
/* Numbers of what is no method: collections of garbage are told as calls of the machine's thread,
 * waits for monitors and for locks of java.util.concurrent as calls of who waits. */
struct jvm_stops {
	uint32_t pauses, locks;
};
/* These, and no others, are told from now on. */
int jvm_methods_watch(struct jvm_methods *m, const struct jvm_method *v, size_t nr,
		      const struct jvm_stops *stops, struct jvm_heard *heard, struct error *err);
/* What became of classes that were loaded since. */
void jvm_methods_hear(struct jvm_methods *m, struct jvm_heard *heard);

#endif
