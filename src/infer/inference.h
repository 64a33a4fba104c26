/* An inference ties what was observed into requests: its name, what it needs, the function that
 * does it. */
#ifndef CULPRIT_INFER_INFERENCE_H
#define CULPRIT_INFER_INFERENCE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct harvest;
struct matcher;
struct reducers;
struct requests_begun;
struct store;

struct infer_options {
	int64_t max_skew_ns; /* larger clock corrections are not made; 0 makes none, negative any */
	int64_t idle_ns;     /* silence after which a request id means a new request */
	bool (*is_stopped)(void); /* asked now and then, by any thread: true ends the inference with
				     -EINTR; may be NULL */
	struct harvest *harvest;  /* the lines of logs, used up; NULL: there are none */
	struct requests_begun *begun;    /* what was inferred of it before; may be NULL */
	const struct reducers *reducers; /* of lines; NULL: they are worked on here */
	const struct matcher *matcher;   /* of the programs that wrote them; may be NULL */
	const char *method; /* how messages become paths: nesting, joint ...; NULL chooses */
};

#define INFER_DEFAULTS { .max_skew_ns = -1, .idle_ns = 60000000000LL }

struct inference {
	const char *name;
	const char *summary;
	/* Reads what was delivered, adds requests. 0, or negative failure. */
	int (*run)(struct store *s, const struct infer_options *o, struct error *err);
};

extern const struct inference *const inferences[]; /* ends with NULL */

#endif
