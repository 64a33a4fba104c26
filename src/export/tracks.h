/*
 * Puts spans on tracks so that on each track they nest: one track per node and thread, and further
 * lanes beside it where spans overlap. Trace viewers draw a track as a stack and need this.
 */
#ifndef CULPRIT_EXPORT_TRACKS_H
#define CULPRIT_EXPORT_TRACKS_H

#include "base/names.h"
#include "base/vec.h"
#include "export/feed.h"

struct track_thread {
	uint32_t process;
	struct str name; /* may be empty */
};

struct track_process {
	struct str node, host;
};

struct track_lane {
	uint32_t thread;
	uint32_t number; /* from 0 */
};

/* The spans of one request that share a lane, from the first to the last. */
struct track_item {
	int64_t start, end;
	uint32_t thread, lane;
};

/*
 * Zero is a valid start. Two passes over the run: tracks_measure for every request, tracks_settle,
 * and then tracks_place for every request in the same order. Holds 24 bytes for each request and
 * track that it touches, and the names.
 */
struct tracks {
	struct names keys; /* of processes and threads */
	VEC(uint32_t) of_key;
	VEC(struct track_process) processes;
	VEC(struct track_thread) threads;
	VEC(struct track_lane) lanes;
	VEC(struct track_item) items;
	VEC(uint64_t) stamp;      /* per thread: the request that last touched it … */
	VEC(uint32_t) first_slot; /* … and the first of its slots there */
	uint64_t nr_measured;
	size_t nr_placed; /* items handed out again */
};

/* Where the spans of one request stand; in the arena of the request. */
struct placed {
	uint32_t *order; /* positions by start, an enclosing span before those inside */
	uint32_t *slot;  /* per span: small numbers, equal where the lane is */
	uint32_t *lane;  /* per span: in tracks.lanes; only from tracks_place */
	size_t nr_slots;
};

void tracks_done(struct tracks *t);
/* Has the shape of feed.request; writes nothing. */
void tracks_measure(void *tracks, const struct fed *x, struct buf *out);
void tracks_settle(struct tracks *t);
struct placed tracks_place(struct tracks *t, const struct fed *x);

#endif
