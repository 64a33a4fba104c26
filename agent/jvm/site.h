/*
 * Places of woven methods, as woven code names them: by a number, which stays theirs for as long as
 * the machine runs, since old code may still be on some thread's stack.
 */
#ifndef CULPRIT_AGENT_JVM_SITE_H
#define CULPRIT_AGENT_JVM_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/jvm/order.h"

#define SITES_MAX 65536
#define SITE_EXPORTS 64
#define SITE_ROOTS 8      /* four numbers, then four objects */
#define SITE_NO_ROOT 0xff /* a constant */

struct path;

/* Values of a call that is told, by number: the mark's at its entry, and the one at its exit, which
 * the entry has, too, where it is an argument as it is: a method may change its own. */
enum { SITE_AT_ENTRY, SITE_AT_EXIT };

/* A value: where woven code hands its root over, and what follows from there. */
struct site_value {
	uint8_t number, root;
	uint8_t hash;  /* where the object's identity hash arrives, or SITE_NO_ROOT */
	bool is_root;  /* an object, and nothing follows; … */
	bool is_named; /* … that is neither a text nor in a box: its hash is its name */
	struct path *path;
};

/* What became of what threads carry, where a carrier is woven. */
enum hop {
	HOP_GAVE,    /* it was handed over */
	HOP_CAME,    /* it arrived */
	HOP_NOTHING, /* there was nothing to hand over, or nothing came */
	HOP_LOST,    /* there was something, and it could not be handed over */
	HOP_PASSED,  /* of another request than the thread's own: not taken */
	HOP_SHARED,  /* as HOP_LOST: the object is everybody's */
	HOP_COUNTS,
};

/* What each hop reads and counts comes first, on one line of the processor's memory. */
struct site {
	_Alignas(64) _Atomic bool is_on;
	uint8_t flags; /* WANTED_MARK, … */
	uint8_t nr_values;
	bool has_no_arrays; /* operands are declared as objects that are none */
	bool is_plain;      /* … the first is of the class itself: see kept.h */
	bool takes_time;    /* how long the method took is asked for */
	enum wanted_action action;
	enum wanted_moment moment;
	uint32_t function;
	_Atomic uint32_t nr_limited; /* runs that were left out since it was last looked at */
	uint64_t place;              /* the same for all of its method */
	struct site_value *values;   /* by rising numbers; of a carrier its operands */
	_Atomic uint64_t counts[HOP_COUNTS];
	uint64_t key;  /* a hash of what is wanted, class and method */
	uint64_t wish; /* … of what is wanted alone */
	char *name;    /* as place: class and method, and what is done there */
	uint64_t nr_shared_told;
};
_Static_assert(sizeof(struct site) == 128, "two lines");

/* Numbers are below this. */
uint32_t sites_count(void);
/* NULL: there is none. */
struct site *site_at(uint32_t number);
/* That of an equal place that was woven before, or -1. */
int site_find(uint64_t key);
/* Takes what values lead to. -1: there are too many. Off at first. */
int site_add(const struct site *s);
/* The first of those that are on, from this number on, whose runs were left out more often than
 * that since this was last asked; -1: there is no more. */
int site_hot(uint32_t from, uint64_t limit);
/* How many of them are on. */
uint32_t sites_on(void);
/* Those that are not wanted any more are off from now on. */
void sites_keep(bool (*is_wanted)(const void *ctx, uint64_t wish), const void *ctx);

#endif
