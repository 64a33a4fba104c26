/* The instructions of a woven place: they hand over what is asked for to culprit.Advice,
 * or have it exchange a value. */
#ifndef CULPRIT_AGENT_JVM_STITCH_H
#define CULPRIT_AGENT_JVM_STITCH_H

#include "program/rewrite/rewrite.h"

/* How many of each sort one call can hand over: there is an "at" for each pair of numbers. */
#define STITCH_LONGS_MAX 4
#define STITCH_OBJECTS_MAX 4
#define STITCH_ROOTS_MAX (STITCH_LONGS_MAX + STITCH_OBJECTS_MAX)

struct stitch_root {
	enum {
		ROOT_THIS,
		ROOT_ARGUMENT,
		ROOT_RETURN, /* at exits */
		ROOT_THROWN, /* where something is thrown */
		ROOT_HASH, /* the identity hash of a root before this one, which must be a reference
			    */
	} kind;
	uint8_t number; /* of the argument, from 0; of the root that is hashed */
	/* At the entry, of this or an argument that is never null: not the object, but what is in
	 * its field, a reference, which a constant of the class names; or 0. */
	uint16_t field;
};

/* How a root arrives: of Z B C S I J F D among the longs (F and D as their bits), a hash (H), too;
 * of L and [ among the objects; V: it is not there, and a null is among the objects. */
struct stitch_handed {
	char type;
	uint8_t number; /* among its sort, from 0 */
};

struct stitch_place {
	struct rewrite *r;           /* constants go there */
	const struct member *method; /* of the class of r, with code */
	enum rewrite_where where;
	int32_t number;    /* that advice knows it by */
	struct str advice; /* the class that is called; with slashes */
};

/* Zero is one without instructions. */
struct stitch {
	struct buf code;
	uint16_t stack, locals;                        /* as a struct rewrite_put has them */
	struct stitch_handed handed[STITCH_ROOTS_MAX]; /* in the order of the roots */
	char refused[64];                              /* why there are none */
};

void stitch_done(struct stitch *s);

/*
 * Each of these makes *s anew; false when it is refused.
 *
 * at(J… Object… I)V: the roots, longs first, then the number of the place. "this" is not there in
 * static methods, and at the entry of a constructor, where it is not made yet; "return" is not
 * there in methods of void. What the method has changed since its entry is refused.
 */
bool stitch_at(struct stitch *s, const struct stitch_place *p, const struct stitch_root *roots,
	       size_t nr);
/* method(Object I)V, of an object and the number of the place, which hands over what at() would: the
 * identity hash and the object (s->handed of both, in that order the object first). */
bool stitch_element(struct stitch *s, const struct stitch_place *p, const struct stitch_root *root,
		    struct str method);
/* change(Object I)Object: what is returned, at exits, or an argument, at the entry, is exchanged
 * for what that gives, which must be of the declared type. */
bool stitch_replace(struct stitch *s, const struct stitch_place *p, struct stitch_root root);
/* at(Object I)V before a call without arguments: its receiver. */
bool stitch_receiver(struct stitch *s, const struct stitch_place *p,
		     const struct rewrite_call *call);

#endif
