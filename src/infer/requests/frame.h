/* Threads that work in frames: some statements open a piece of work and others close it, and all
 * that stands in between is of that piece. */
#ifndef CULPRIT_INFER_REQUESTS_FRAME_H
#define CULPRIT_INFER_REQUESTS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From one line of a thread to the next. */
struct frame_step {
	uint32_t at;            /* of the later line; in one thread they are numbered in a row */
	uint32_t before, after; /* statements of both, told apart by the pool of threads */
	float silence;          /* between them, as a logarithm */
	bool is_cut;            /* a piece of work seems to begin with the later line */
	bool is_sure;           /* both lines contradict each other */
	bool is_same;           /* both name the same */
	bool is_round;          /* of a loop: it stays cut */
};

/* Takes back the cuts within frames. Statements are numbers below nr_statements. */
void frame_join(struct frame_step *v, size_t nr, uint32_t nr_statements);

#endif
