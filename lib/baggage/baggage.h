/*
 * Tuples that travel with a request, so that what happens later can see what happened before it.
 *
 *	culprit_pack(&query, "host7", 5, NULL);          keep a tuple for a query
 *	culprit_unpack(&query, show, NULL);              see those of all that happened before
 *	n = culprit_serialize(bytes, sizeof(bytes));     0 when there is nothing to carry
 *	culprit_deserialize(bytes, n);                   in the thread or process that goes on
 *	other = culprit_split();                         for a branch that runs beside this one
 *	culprit_join(other);                             when that branch has ended here
 *
 * These six work on the baggage of the calling thread; the functions below them on any. Baggage is
 * of one thread at a time. NULL is empty baggage, and costs nothing.
 *
 * Who sends baggage and goes on before the other is done splits it first: tuples of one branch are
 * never seen in another until they join. See culprit_baggage(3).
 */
#ifndef CULPRIT_BAGGAGE_H
#define CULPRIT_BAGGAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More than this is not carried: pack says -E2BIG, and how much was left out is told. */
#define CULPRIT_BAGGAGE_BYTES 65536u
#define CULPRIT_FOLDS_MAX 8

/* The limits of a W3C "baggage" header. */
#define CULPRIT_HEADER_BYTES 8192u
#define CULPRIT_HEADER_ENTRIES 64u

struct culprit_baggage;

enum culprit_keep {
	CULPRIT_ALL,
	CULPRIT_FIRST,     /* the first n */
	CULPRIT_RECENT,    /* the last n */
	CULPRIT_AGGREGATE, /* one for each tuple that differs, with numbers folded into it */
};

enum culprit_fold { CULPRIT_COUNT, CULPRIT_SUM, CULPRIT_MIN, CULPRIT_MAX, CULPRIT_AVERAGE };

/* A query: its number, and what is kept of its tuples. The same in every process. */
struct culprit_query {
	uint64_t id;
	uint32_t keep;                    /* enum culprit_keep */
	uint32_t n;                       /* FIRST and RECENT: how many, 1 at least */
	uint32_t nr_folds;                /* AGGREGATE */
	uint8_t folds[CULPRIT_FOLDS_MAX]; /* enum culprit_fold, one for each number */
};

/* A sum of integers that passes 64 bits goes on as a real number. */
struct culprit_number {
	union {
		int64_t integer;
		double real;
	};
	int64_t is_real;
};

struct culprit_tuple {
	const void *bytes; /* as packed; of AGGREGATE, what it is grouped by */
	size_t n;
	uint64_t order;                       /* what happened later has a higher one */
	uint64_t count;                       /* AGGREGATE: how many were packed, 1 otherwise */
	const struct culprit_number *numbers; /* AGGREGATE: the results, nr_folds of them */
};

/* Anything but 0 ends the visit. The tuple is borrowed for the time of the call. */
typedef int culprit_visit(void *to, const struct culprit_tuple *tuple);

/* Keeps a tuple; numbers: nr_folds of them for AGGREGATE, else NULL. 0, or negative: -E2BIG: it is
 * not kept, and counted; -EINVAL; -EBADMSG: what was deserialized is damaged; -ENOMEM. */
int culprit_baggage_pack(struct culprit_baggage **b, const struct culprit_query *q,
			 const void *tuple, size_t n, const struct culprit_number *numbers);

/* Visits the tuples in their order, groups of AGGREGATE in any. How many were visited, or negative.
 */
ssize_t culprit_baggage_unpack(struct culprit_baggage *b, const struct culprit_query *q,
			       culprit_visit *visit, void *to);

/* How many tuples of a query were not kept for want of room, here or on the way here. */
uint64_t culprit_baggage_lost(struct culprit_baggage *b, const struct culprit_query *q);

/* How many bytes it takes, which are written if they are no more than size. */
ssize_t culprit_baggage_serialize(struct culprit_baggage *b, void *bytes, size_t size);

/* New baggage from bytes, which are copied, and looked into by who first needs it. */
int culprit_baggage_deserialize(struct culprit_baggage **b, const void *bytes, size_t n);

/* *other: baggage for another branch; empty from empty. On failure it carries nothing but the count
 * of what it lacks. */
int culprit_baggage_split(struct culprit_baggage *b, struct culprit_baggage **other);

/* What both saw. other is gone afterwards, unless it failed: then both are as they were. 1 if it
 * shows that somebody packed into copies that were not split; all that can be told apart is kept.
 */
int culprit_baggage_join(struct culprit_baggage **b, struct culprit_baggage *other);

void culprit_baggage_free(struct culprit_baggage *b);

/* The value of a "baggage" header that says what others said (NULL: nothing) and this baggage: its
 * length, written with a zero behind it if it fits size. -E2BIG beyond the limits of W3C. */
ssize_t culprit_baggage_to_header(struct culprit_baggage *b, const char *others, char *value,
				  size_t size);

/* 1 with new baggage, 0 if the value of the header has none, -EBADMSG. */
int culprit_baggage_from_header(struct culprit_baggage **b, const char *value, size_t n);

/* The baggage of this thread, NULL while it is empty; freed when the thread ends. */
extern __thread struct culprit_baggage *culprit_baggage_mine
	__attribute__((tls_model("initial-exec")));

/* Puts b in the place of this thread's baggage, which the caller has from then on. */
struct culprit_baggage *culprit_baggage_swap(struct culprit_baggage *b);

/* From now on a child of fork() has the other branch of the baggage of the thread that forked. */
int culprit_baggage_follow_forks(void);

int culprit_baggage_pack_mine(const struct culprit_query *q, const void *tuple, size_t n,
			      const struct culprit_number *numbers);

static inline int culprit_pack(const struct culprit_query *q, const void *tuple, size_t n,
			       const struct culprit_number *numbers)
{
	return culprit_baggage_pack_mine(q, tuple, n, numbers);
}

static inline ssize_t culprit_unpack(const struct culprit_query *q, culprit_visit *visit, void *to)
{
	if (!culprit_baggage_mine)
		return 0;
	return culprit_baggage_unpack(culprit_baggage_mine, q, visit, to);
}

static inline ssize_t culprit_serialize(void *bytes, size_t size)
{
	if (!culprit_baggage_mine)
		return 0;
	return culprit_baggage_serialize(culprit_baggage_mine, bytes, size);
}

/* What the thread had before is given up: at the beginning of a request. */
static inline int culprit_deserialize(const void *bytes, size_t n)
{
	struct culprit_baggage *b = NULL;
	int r = 0;

	if (!n && !culprit_baggage_mine)
		return 0;
	if (n)
		r = culprit_baggage_deserialize(&b, bytes, n);
	if (!r)
		culprit_baggage_free(culprit_baggage_swap(b));
	return r;
}

static inline struct culprit_baggage *culprit_split(void)
{
	struct culprit_baggage *other = NULL;

	if (culprit_baggage_mine)
		(void)culprit_baggage_split(culprit_baggage_mine, &other);
	return other;
}

static inline int culprit_join(struct culprit_baggage *other)
{
	struct culprit_baggage *b = culprit_baggage_mine;
	int r;

	if (!other)
		return 0;
	r = culprit_baggage_join(&b, other);
	if (b != culprit_baggage_mine)
		(void)culprit_baggage_swap(b);
	return r;
}

#ifdef __cplusplus
}
#endif
#endif
