/*
 * Baggage in memory: instances of tuples, each named by a moment of one clock, and the clocks.
 *
 * An instance is what one branch packed. Its name is a dot: a point that only this branch owned
 * then, and the number that the history of the clock had there. Names are given late, when somebody
 * else might get to see the instance. Instance 0 is the active one: it is packed into, and once it
 * was changed it needs a new name, by which everybody who knows it knows that the old one is in it.
 * So when two meet, an instance that one of them does not have, but whose dot is in his history, is
 * one that he has in another form; the copy of the other is discarded.
 *
 * A branch that packs without owning a part of any clock begins a clock of its own, with a random
 * name. So empty baggage needs no clock, and is nothing at all.
 */
#ifndef CULPRIT_LIB_STATE_H
#define CULPRIT_LIB_STATE_H

#include "lib/baggage/bag.h"
#include "lib/baggage/tree.h"

#define CLOCKS_KEPT 32 /* beyond, those that nobody else can know are forgotten */
#define CLOCKS_MAX 256
#define INSTANCES_MAX 256
#define BAGS_MAX 1024
#define WHOLE_BYTES (1u << 20) /* of all rows after a join */
#define RAW_MAX (2u << 20)     /* serialized */
#define RAW_FEW 96

struct clock {
	uint64_t name;
	bool is_shared; /* it was there at a split: others may know instances by it */
	struct tree id, history;
};

struct instance {
	uint64_t clock; /* the name of one */
	uint32_t nr;    /* 0: it has no dot yet, or nothing is in it */
	struct point at;
};

struct culprit_baggage {
	struct clock *clocks;
	struct instance *instances; /* [0] is the active one */
	struct bag *bags;
	uint32_t nr_clocks, nr_instances, nr_bags;
	uint32_t room_clocks, room_instances, room_bags;
	uint64_t now;      /* the order of the last tuple that was packed before */
	uint64_t lost;     /* tuples of queries for which there was no room at all */
	uint64_t diverged; /* joins of copies that were not split */
	size_t bytes;      /* of all rows */
	bool is_dirty;     /* the active instance needs a new dot */
	bool is_open;      /* what raw says is in the fields above */
	bool is_raw;       /* what the fields above say is in raw */
	uint32_t raw_n;
	unsigned char *raw; /* NULL: few */
	/* The first of each, so that most baggage is one piece of memory. */
	struct clock one_clock;
	struct instance one_instance;
	struct bag one_bag;
	unsigned char few[RAW_FEW];
};

struct culprit_baggage *baggage_new(void);     /* open and without a tuple; NULL: no memory */
int baggage_open(struct culprit_baggage *b);   /* decodes what is not decoded: -EBADMSG, -ENOMEM */
void baggage_clear(struct culprit_baggage *b); /* all but raw */
void baggage_changed(struct culprit_baggage *b);

/* Room for so many more, at most the maxima above. */
int clocks_reserve(struct culprit_baggage *b, uint32_t nr);
int instances_reserve(struct culprit_baggage *b, uint32_t nr);
int bags_reserve(struct culprit_baggage *b, uint32_t nr);

struct bag *bag_of(struct culprit_baggage *b, const struct culprit_query *q, uint32_t instance);
void baggage_count(struct culprit_baggage *b); /* bytes */
int clock_begin(struct culprit_baggage *b);    /* a new one, all of it owned, as the last */
int baggage_name(struct culprit_baggage *b);   /* a dot for the active instance, if it needs one */

/* wire.c: both directions of the protobuf form. */
int baggage_encode(struct culprit_baggage *b);
int baggage_decode(struct culprit_baggage *b, const unsigned char *bytes, size_t n);
unsigned char *raw_reserve(struct culprit_baggage *b, size_t n);

uint64_t random_name(void);

#endif
