/* What an evaluation holds at one step, and what it reads of it over JNI. Used by path.c only. */
#ifndef CULPRIT_JVM_CELL_H
#define CULPRIT_JVM_CELL_H

#include "agent/jvm/bounded.h"
#include "agent/jvm/path.h"
#include "agent/jvm/shape.h"

struct java_step;

#define CELL_VISITS 64 /* elements of arrays and collections, in one evaluation */

struct evaluation {
	JNIEnv *env;
	jvmtiEnv *jvmti;
	struct path *path;
	struct class_cache *shapes;
	struct bounded out;
	unsigned nr_visits;
	enum path_result result; /* the first that went wrong */
};

/* A value on the way. */
struct cell {
	char type;            /* of descriptors: I, Z, …; L for objects and arrays */
	bool is_own;          /* a local reference that is to be given back */
	jvalue v;             /* of a primitive j: widened; of F and D their bits */
	const char *declared; /* its descriptor, which lives as long as the path; or NULL */
};

/* What is done with an element. False: no more of them. */
typedef bool (*cell_fn)(struct evaluation *e, struct cell element, void *arg);

static inline bool cell_is_null(const struct cell *c)
{
	return c->type == 'L' && !c->v.l;
}

/* Notes why there is no value. Always false. */
bool cell_fail(struct evaluation *e, enum path_result why);
/* Whether Java threw, which is cleared and noted. */
bool cell_threw(struct evaluation *e);
void cell_release(struct evaluation *e, struct cell *c);

/* All of these: false where there is no such thing, which is noted. The object is not null. */
struct shape *cell_shape(struct evaluation *e, const struct cell *c);
void cell_shape_done(struct shape *s);
/* cell_member.c */
bool cell_member(struct evaluation *e, const struct cell *c, const struct java_step *s,
		 struct class_cache *members, struct cell *to);
/* An element that does not exist is null. */
bool cell_element(struct evaluation *e, const struct cell *c, const struct shape *s, uint32_t i,
		  struct cell *to);
/* Up to CELL_VISITS of all; more are noted as cut. Elements are released by fn. */
bool cell_each(struct evaluation *e, const struct cell *c, const struct shape *s, cell_fn fn,
	       void *arg);

/* Text is added to e->out and is ADVICE_TEXTUAL, everything else is in *to. */
bool cell_value(struct evaluation *e, const struct cell *c, struct advice_value *to);
/* What is in a box: of the shapes WHOLE, REAL, BOOL and CHAR. */
bool cell_unboxed(struct evaluation *e, const struct cell *c, const struct shape *s,
		  struct cell *to);
/* "null" for nothing. */
void cell_add_value(struct evaluation *e, const struct advice_value *v);
void cell_add_class(struct evaluation *e, const char *signature);

/* cell_id.c: as path_id() and path_amount() have them. */
bool cell_id(struct evaluation *e, const struct cell *c, uint64_t *id);
bool cell_amount(struct evaluation *e, const struct cell *c, int64_t *amount);

#endif
