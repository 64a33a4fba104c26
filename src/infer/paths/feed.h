/* The messages of a run in the order of time, whatever the order of its files. */
#ifndef CULPRIT_INFER_PATHS_FEED_H
#define CULPRIT_INFER_PATHS_FEED_H

#include <stdint.h>

#include "base/names.h"
#include "model/event.h"

struct error;
struct feed;
struct infer_options;
struct store;

struct message {
	int64_t ns;
	uint64_t number;   /* of the event in the store */
	uint64_t position; /* among all messages as delivered, from 1 */
	uint64_t id;       /* hash of the message id; 0 when it has none */
	uint32_t from, to; /* nodes, numbered from 1 in order of first sight */
	enum message_op op;
	uint32_t title; /* what it asks for, numbered likewise; 0 for nothing */
	uint32_t trace; /* hash of the trace or request id that it carries; 0 when it has none */
};

/* NULL when the run has no messages. Clocks that are off are corrected, and told in the store. */
int feed_new(struct feed **f, struct store *s, const struct infer_options *o, struct error *err);
void feed_free(struct feed *f);
/* 1 and the next message, 0 at the end. */
int feed_next(struct feed *f, struct message *m, struct error *err);
uint32_t feed_nr_nodes(const struct feed *f);
struct str feed_node(const struct feed *f, uint32_t node);
struct str feed_title(const struct feed *f, uint32_t title);

#endif
