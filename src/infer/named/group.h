/* Everything that carries one key, and what the makers of requests share while they work on it. */
#ifndef CULPRIT_INFER_NAMED_GROUP_H
#define CULPRIT_INFER_NAMED_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/event.h"
#include "model/request.h"

struct clock;
struct error;
struct gaps;
struct infer_options;
struct losses;
struct services;
struct store;

struct group {
	struct str key; /* empty: one event that tells its own duration */
	enum key_kind key_kind;
	struct span *spans;
	size_t nr_spans;
	struct event *events;
	uint64_t *numbers;
	size_t nr_events;
};

/* One run of the inference; the first pass surveys, the second makes requests. */
struct named {
	struct store *store;
	const struct infer_options *options;
	struct losses *losses;
	struct clock *clock;
	struct services *services;
	struct gaps *gaps;
	struct arena arena; /* of the group at hand */
};

/* Each takes the part of the group that is its own and adds the requests in it. */
int tree_requests(struct named *n, const struct group *g, struct error *err);
int line_requests(struct named *n, const struct group *g, struct error *err);
int graph_requests(struct named *n, const struct group *g, struct error *err);

/* What the first pass learns from the group: clocks, services, silences. */
void tree_survey(struct named *n, const struct group *g);
void graph_survey(struct named *n, const struct group *g);
void line_survey(struct named *n, const struct group *g);

/* The events of one kind, in order of time, as positions in g->events. */
size_t group_select(const struct group *g, enum event_kind kind, struct arena *arena,
		    uint32_t **picked);
/* Fills what every request has in common (method, counts, sequence, error) and stores it. */
int group_store(struct named *n, struct request *r, struct request_body *body, struct error *err);

#endif
