/*
 * What other hosts' agents hand over: what came with the bytes of connections from there, kept
 * until bags that have a promise of it are asked for.
 *
 * An agent tells a stream in chunks: of bytes from one position to another, all records, and what
 * held where they begin. So nothing is taken for "nothing was carried" but what its agent said.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_FAR_IN_H
#define CULPRIT_CAPTURE_WEAVE_FAR_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"

struct advice_program;
struct bag;
struct handover;
struct handover_address;

#define FAR_VERSION 1
#define FAR_WAIT_NS (10 * NS_S)     /* for what an agent is to hand over */
#define FAR_UNHEARD_NS (3 * NS_S)   /* … where none was ever heard of, at first, */
#define FAR_SILENT_NS (500 * NS_MS) /* … and then */
#define FAR_KEEP_NS (20 * NS_S)     /* what nobody has asked for */
#define FAR_KEEP_BYTES ((size_t)64 << 20)

struct far_record {
	uint64_t start, origin;
	int64_t came; /* when, here */
	uint8_t *bag; /* NULL: nothing is carried */
	uint32_t bytes;
	bool is_unknown; /* its own agent does not know what was carried */
};

struct far_stream {
	uint64_t key, nr;    /* nr: of this connection, by its sender */
	uint64_t from, to;   /* all records of these bytes are here */
	int64_t first, last; /* when it was first and last told, wall clock of this host */
	size_t nr_gone;      /* records at the front that were given up */
	VEC(struct far_record) records;
};

/* Zero is empty. */
struct far_in {
	VEC(struct far_stream *) streams;
	struct map by_key; /* 1 + the stream's place */
	struct map heard;  /* hashes of addresses whose agent was heard of: when, tick */
	struct map silent; /* … of which nobody was heard for long: since when */
	size_t bytes;      /* of bags */
	int64_t trimmed;   /* tick */
	uint64_t nr_news;  /* rises when something comes */
	uint64_t nr_broken, nr_given_up; /* messages; records for which there was no room */
	/* The advice of a query that packs, or NULL; the query's number is never 0. */
	const struct advice_program *(*advice)(void *ctx, uint32_t query, uint32_t which);
	void *ctx;
};

void far_in_done(struct far_in *f);
/* A message of another agent. False, and counted, when it makes no sense; then nothing of it that
 * was not whole is kept. */
bool far_in_take(struct far_in *f, struct str bytes, int64_t tick);
/* Gives up what is too old, or too much. */
void far_in_trim(struct far_in *f, int64_t tick);

enum far_answer {
	FAR_WHOLE,   /* nothing is missing any more */
	FAR_WAITS,   /* it may still come */
	FAR_FOREIGN, /* whole, but for what came from hosts of which no agent is heard */
	FAR_LATE,    /* it did not come */
	FAR_MIXED    /* requests were read together, so that nobody knows what came with which */
};
/* What promises of the bag stand for is put in their place, and what waited for it is packed.
 * since: when it was first asked for, by the tick. The bag is changed only where the answer is
 * WHOLE or FOREIGN. */
enum far_answer far_in_redeem(struct far_in *f, const struct handover *table, struct bag *bag,
			      int64_t since, int64_t tick);

uint64_t far_address_hash(const struct handover_address *a);

#endif
