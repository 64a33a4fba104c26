/*
 * The run file: everything observed and inferred about one run, in one file that is either whole or
 * absent. Only this folder knows that SQLite is underneath, or PostgreSQL.
 *
 * Writing: store_create, deliver through store_sink, read back what names its request part by part
 * (store_part), store_add_request, store_finish. Reading: store_open, then the functions below it.
 */
#ifndef CULPRIT_STORE_STORE_H
#define CULPRIT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/event.h"
#include "model/loss.h"
#include "model/request.h"
#include "model/sink.h"

struct error;
struct store;

/* --- writing ------------------------------------------------------------------------------- */

/* Writes beside path and renames at store_finish; path NULL keeps the run in a temporary file that
 * is gone after close. */
int store_create(struct store **s, const char *path, struct error *err);
struct sink store_sink(struct store *s);
struct losses *store_losses(struct store *s);

/* What carries a key is also set aside in parts, each of bounded size and holding whole keys. */
struct part {
	struct span *spans; /* in order of key, then as delivered */
	size_t nr_spans;
	struct event *events; /* likewise; file, line … are set, attrs and text are not */
	uint64_t *numbers;    /* the number of each event in the store */
	size_t nr_events;
};
/* Call when everything was delivered; may be repeated. */
unsigned store_nr_parts(const struct store *s);
int store_part(struct store *s, unsigned nr, struct arena *arena, struct part *part,
	       struct error *err);
/* Parts are without the events from now on that are in a request already. */
int store_leave_placed(struct store *s, struct error *err);

/* Requests are numbered at the end, by start, then end, then key: the id in *r is not used, and
 * nr_spans and nr_events are those of the body (which may be NULL). */
int store_add_request(struct store *s, const struct request *r, const struct request_body *body,
		      struct error *err);

/* Whether a request was added that holds the event: an inference leaves it to the one before. */
bool store_is_placed(const struct store *s, uint64_t event);

/* A node's clock as it was found: add offset to what it said. */
struct clock_fix {
	struct str node;
	int64_t offset_ns;
	uint64_t pairs,
		agree; /* parent-child pairs seen across, and how many the offset satisfies */
	bool applied;
};
int store_add_clock_fix(struct store *s, const struct clock_fix *fix, struct error *err);
/* Small facts by name ("command", "version", "layout …"). */
int store_set_fact(struct store *s, const char *name, struct str value, struct error *err);

/*
 * A run of what there is so far, while more is to come: a process that calls store_pause may fork,
 * and the child, which calls store_branch first, goes on by itself and finishes a copy. The parent
 * waits for it. Both need a run that is written to a place.
 */
int store_pause(struct store *s, struct error *err);
int store_branch(struct store *s, struct error *err);

/* Makes the run whole: numbers the requests, syncs, renames. The store can be read from then on. */
int store_finish(struct store *s, struct error *err);

/* --- in PostgreSQL ------------------------------------------------------------------------- */

/* Wherever a run file is named to be read, postgresql://…#NAME may stand instead: this is how it is
 * told. */
bool store_is_remote(const char *name);
/* The address as it may be shown: without a password. */
int store_shown_name(const char *where, struct buf *shown, struct error *err);
/* The address with the name of a run at its end: run, which may be NULL, or what the address says,
 * or otherwise. */
int store_named(const char *where, const char *run, const char *otherwise, struct buf *named,
		struct error *err);
/* Whether a run could be stored there: makes the tables if they are missing. */
int store_publish_check(const char *where, struct error *err);
/* Copies a finished run there, under the name in the address. It replaces one of that name, and is
 * seen by nobody before it is whole. */
int store_publish(struct store *s, const char *where, struct error *err);

/* --- reading ------------------------------------------------------------------------------- */

/* One line of error for a file (or address) that is foreign, damaged, unfinished or newer than this
 * program. */
int store_open(struct store **s, const char *path, struct error *err);
/* Also throws an unfinished run away. */
void store_close(struct store *s);
/* Asked now and then while the run is read, true: whoever reads fails with -ECANCELED. NULL: nobody
 * is asked. */
void store_watch(struct store *s, bool (*is_over)(void *to), void *to);
/* Handles of one run, each in a thread of its own, need not read everything each by itself: what
 * one of them has unpacked is kept, up to a bound, for all that share it. A handle of a file has
 * one to itself otherwise. */
struct store_shared;
struct store_shared *store_shared_new(void);
/* Handles that use it may go on. */
void store_shared_free(struct store_shared *k);
void store_share(struct store *s, struct store_shared *k);
/* What a question has worked out of a whole run, under a name of its own, for whoever asks later or
 * beside it: nobody changes it any more, and it lives as long as any handle that shares it. NULL
 * where there is none. */
const void *store_memo(struct store *s, const char *what);
/* False where another was faster or the handle keeps nothing: then it is still the caller's. */
bool store_set_memo(struct store *s, const char *what, void *memo, void (*memo_free)(void *memo));
/* Another run that replaced this one in PostgreSQL has another one; 0 for a file. */
uint64_t store_stamp(const struct store *s);
/* Whether the file begins like a run file; false when it cannot be read. */
bool store_is_run(const char *path);

/* nr_log_lines counts raw lines, nr_spans the spans of requests, bytes the input as it is stored.
 */
struct store_totals {
	uint64_t nr_files, nr_events, nr_log_lines, nr_spans, nr_requests, bytes;
	int64_t first_ns, last_ns; /* NS_NONE when there is nothing with a time */
};
int store_totals(struct store *s, struct store_totals *t, struct error *err);
/* first_ns of the totals, which costs nothing. */
int64_t store_first_ns(const struct store *s);
/* A fact, borrowed until close; the empty string when it was never set. */
struct str store_fact(struct store *s, const char *name);

struct stored_file {
	uint32_t number; /* from 1, as in the events */
	struct file_seen seen;
	uint64_t nr_events, nr_lines;
};
/* Each walk calls back in the order given; a callback that returns non-zero ends it, and that is
 * returned. */
int store_each_file(struct store *s, int (*each)(void *ctx, const struct stored_file *f), void *ctx,
		    struct error *err);
int store_each_clock_fix(struct store *s, int (*each)(void *ctx, const struct clock_fix *f),
			 void *ctx, struct error *err);

/* Which requests: zero means all. */
struct request_filter {
	struct str type; /* exact, or a part of it that only one type has: see store_find_type */
	struct str
		node; /* of store_narrow only: a span of it is there; exact, see store_find_node */
	int64_t from_ns, until_ns; /* start within [from, until) when until > 0 */
	int64_t min_ns, max_ns;    /* duration within [min, max] when max > 0 */
	uint64_t limit;            /* 0 for no limit */
	uint64_t offset;           /* so many are left out in front */
	enum { BY_ID, BY_SLOWEST, BY_FASTEST, BY_LATEST, BY_TYPE } order;
};

/* From now on every walk of requests, and what is told of types and totals, is of these requests
 * only; NULL for all again. What asks for one request by its number still finds any. */
int store_narrow(struct store *s, const struct request_filter *f, struct error *err);
/* How many are left: cheaper than the totals. */
uint64_t store_nr_requests(const struct store *s);
/* From now on, until store_narrow, a walk of bodies reads about so many of them and leaves the
 * others out; the same ones each time. 0: all. */
void store_sample(struct store *s, uint64_t nr);
/* What store_sample was told. A question that knows better which ones to read than by lot reads so
 * many, and says how many of how many. */
uint64_t store_sample_of(const struct store *s);
void store_was_sampled(struct store *s, uint64_t nr_unread);
/* How many the walks since then left out, at the most. */
uint64_t store_nr_unread(const struct store *s);

/* In order of id (that is, of start), or as the filter says. */
int store_each_request(struct store *s, const struct request_filter *f,
		       int (*each)(void *ctx, const struct request *r), void *ctx,
		       struct error *err);
/* A request without its texts. */
struct brief {
	uint64_t id;
	int64_t start, duration;
	uint32_t type; /* see store_type */
	float confidence;
	bool error, incomplete;
};
/* Much faster than the former. In order of id; limit, offset and order of the filter have no part
 * in it. */
int store_each_brief(struct store *s, const struct request_filter *f,
		     int (*each)(void *ctx, const struct brief *b), void *ctx, struct error *err);
/* The name of a type of a brief. */
struct str store_type(const struct store *s, uint32_t type);
uint32_t store_nr_types(const struct store *s);
/* Requests with spans, edges and events, in an order of the store's own choosing that is fast. Body
 * borrowed for the call. */
int store_each_body(struct store *s, const struct request_filter *f,
		    int (*each)(void *ctx, const struct request *r,
				const struct request_body *body),
		    void *ctx, struct error *err);
/* The same of the requests with these ids, which ascend. */
int store_each_body_of(struct store *s, const uint64_t *ids, size_t nr,
		       int (*each)(void *ctx, const struct request *r,
				   const struct request_body *body),
		       void *ctx, struct error *err);
/* The same in the order of the filter: for a page of a list, which reads a little of the run. */
int store_each_body_in_order(struct store *s, const struct request_filter *f,
			     int (*each)(void *ctx, const struct request *r,
					 const struct request_body *body),
			     void *ctx, struct error *err);
/* 1 found, 0 no such request. Everything is allocated in the arena. */
int store_request(struct store *s, uint64_t id, struct arena *arena, struct request *r,
		  struct request_body *body, struct error *err);
/* The request that the input names so (trace id …), the first if there are several: 1 and its id,
 * or 0. */
int store_request_by_key(struct store *s, struct str key, uint64_t *id, struct error *err);

/* Type names with their number of requests, the most frequent first. */
int store_each_type(struct store *s, int (*each)(void *ctx, struct str type, uint64_t nr),
		    void *ctx, struct error *err);
/* A type by its whole name or by a part that is unique, ignoring case: 1 and *type, 0 and a
 * sentence in *err with the candidates. */
int store_find_type(struct store *s, struct str part, struct str *type, struct error *err);

/* Likewise a node that requests cross. */
int store_find_node(struct store *s, struct str part, struct str *node, struct error *err);

/* Events by number, counted from 0 as they were delivered: from first on, in order. Works before
 * store_finish too, for inferences that read events which carry no key. */
int store_each_event(struct store *s, uint64_t first, uint64_t nr,
		     int (*each)(void *ctx, uint64_t number, const struct event *ev), void *ctx,
		     struct error *err);
/* For every event its request (0: none), an array of nr_events from malloc. */
int store_event_requests(struct store *s, uint64_t **requests, uint64_t *nr_events,
			 struct error *err);
/* The raw text of an event, read back from its file: 1, or 0 and the reason in *err when the file
 * is gone or has changed. */
int store_event_text(struct store *s, const struct event *ev, struct buf *text, struct error *err);

#endif
