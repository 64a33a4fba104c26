/*
 * Methods of a Java machine in a live variance: watched as functions are, by code that our agent
 * weaves into them (capture/jvm/methods.h) instead of patches. Whom they call is what their
 * instructions say.
 */
#ifndef CULPRIT_CLI_VARIANCE_JAVA_H
#define CULPRIT_CLI_VARIANCE_JAVA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "capture/jvm/methods.h"
#include "infer/intervals/intervals.h"

struct error;
struct function_call;
struct interval_spec;
struct session;
struct thread_change;

/* What a call of a method costs, entry and exit, where nothing else is in the way; and while it is
 * not told. Measured once (docs/jvm.md): there is no loop of ours in the machine. */
#define JAVA_CALL_NS 70
#define JAVA_PAUSED_NS 50

/* A machine compiles anew what was woven: intervals that begin earlier than so long afterwards
 * would tell of that. */
#define JAVA_WARM_NS (500 * NS_MS)

/* All methods of this name in a class. */
struct java_method {
	struct str class, method;
	struct str value, value_at_exit; /* of its marks, or empty */
	struct str asked;                /* what it was named by, … */
	size_t asked_at;                 /* … and where in it; empty: it was met */
	VEC(struct jvm_look) calls;
};

/* Of a session; zero where there is no machine. */
struct java {
	struct jvm_methods *methods; /* NULL: no method is named */
	struct jvm_stops stops;
	uint32_t stopper; /* the thread that stops all others */
	struct map waits; /* by thread: 1 + why it does not run */
	bool is_due;      /* other methods are to be watched than are */
	bool is_awaited;  /* it was started, and is not made yet, or has not loaded its classes */
};

/* Whether it looks like that of a method: CLASS.METHOD. */
bool java_is_name(struct str name);

/* Whether the name can only be that of a method: the process is a machine, and no function of it is
 * called so. */
bool java_is_method(const struct session *s, int pid, struct str name);
/* Whether the name may be that of a method by and by: the process was started by us, and is about
 * to make a machine. */
bool java_will_be(const struct session *s, int pid, struct str name);
/* Lets such a process go until its machine can be entered. Nothing happens where it is none. */
int java_await(struct session *s, struct error *err);
/* What became of it when it was entered: of one that ended meanwhile nothing else is wrong. */
int java_entered(const struct session *s, int got, struct error *err);
/* Asks for the methods of a name; the class may stand without its package. */
int java_look(struct session *s, struct str name, struct jvm_heard *heard, struct error *err);
/* The same, until there is one. */
int java_look_again(struct session *s, struct str name, struct jvm_heard *heard, struct error *err);
/* Adds the methods that tell the interval. */
int java_resolve(struct session *s, const struct interval_spec *spec, enum interval_role role,
		 struct error *err);
/* Adds the methods of this name, to begin with. */
int java_root(struct session *s, struct str name, struct error *err);
/* Those that tell intervals have to be woven, each in one class at least. */
int java_check(struct session *s, struct error *err);
/* Adds the methods that this one calls. */
int java_expand(struct session *s, uint32_t number, struct error *err);
/* Has those woven that are in the list, and no others. How many are new. */
int java_watch(struct session *s, struct error *err);
/* A call that is none: the machine stood still, or a thread waited for a lock. False: it is one. */
bool java_stop(struct session *s, const struct function_call *c);
/* Why threads of a machine wait, which parks them all alike. */
void java_change(struct session *s, struct thread_change *c);
void java_done(struct session *s);

#endif
