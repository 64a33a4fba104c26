/* A growing array of one type: VEC(struct span) spans = { 0 }; vec_push(&spans, s);
 * vec_done(&spans). */
#ifndef CULPRIT_BASE_VEC_H
#define CULPRIT_BASE_VEC_H

#include <stdlib.h>

#include "base/mem.h"

#define VEC(type) \
	struct { \
		type *v; \
		size_t nr, room; \
	}

#define vec_reserve(vec, want) \
	do { \
		size_t vec_want_ = (want); \
		if (vec_want_ > (vec)->room) { \
			(vec)->room = vec_want_ > 2 * (vec)->room ? vec_want_ : 2 * (vec)->room; \
			if ((vec)->room < 8) \
				(vec)->room = 8; \
			(vec)->v = \
				mem_realloc((vec)->v, mem_bytes((vec)->room, sizeof(*(vec)->v))); \
		} \
	} while (0)

#define vec_push(vec, ...) \
	do { \
		vec_reserve((vec), (vec)->nr + 1); \
		(vec)->v[(vec)->nr++] = (__VA_ARGS__); \
	} while (0)

#define vec_clear(vec) ((void)((vec)->nr = 0))

#define vec_done(vec) \
	do { \
		free((vec)->v); \
		(vec)->v = NULL; \
		(vec)->nr = (vec)->room = 0; \
	} while (0)

/* The end is asked for once: what is pushed during the walk is not walked over. */
#define vec_each(vec, it) \
	for (__typeof__(&*(vec)->v) it = (vec)->v, it##_end_ = it ? it + (vec)->nr : it; \
	     it != it##_end_; it++)

#endif
