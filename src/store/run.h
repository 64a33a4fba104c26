/* The insides of an open run, which the files of this folder share and nobody else sees. */
#ifndef CULPRIT_STORE_RUN_H
#define CULPRIT_STORE_RUN_H

#include "base/vec.h"
#include "store/bodies.h"
#include "store/brief.h"
#include "store/catalog.h"
#include "store/narrow.h"
#include "store/nodesets.h"
#include "store/place.h"
#include "store/store.h"
#include "store/sym.h"

struct block_writer;
struct db;
struct events_read;
struct lead;
struct objects_made;
struct sorter;
struct stage;
struct texts;

struct store {
	struct db *db;
	struct catalog catalog;
	struct syms syms;

	/* writing only */
	bool writing;
	int failed; /* the first failure of a write: nothing is finished after it */
	struct place place;
	struct stage *stage;
	struct sorter *sorter; /* of requests */
	struct block_writer *block;
	struct buf scratch;
	struct bodies_made bodies;
	VEC(uint8_t) placed;             /* a bit for each event that is in a request */
	struct objects_made *objects;    /* NULL: none were begun */
	struct nodesets sets;            /* of the nodes that requests cross */
	int64_t first_start, last_start; /* of requests */

	/* reading only */
	struct events_read *events; /* the block that was decoded last */
	struct texts *texts;        /* source files that are open */
	struct brief_names brief_names;
	struct store_shared *shared; /* NULL: nothing is kept */
	struct lead *lead;           /* by which pieces of bodies are read, once it is wanted */
	struct narrow narrow;        /* which requests walks see */
};

/* Every write passes here, so that a run that failed once is never made whole. */
int run_wrote(struct store *s, int r);
int run_writable(const struct store *s, struct error *err);

/* events.c */
int events_flush(struct store *s, struct error *err);
void events_read_free(struct events_read *e);
/* number.c: sorts and numbers the requests, counts their types. */
int number_requests(struct store *s, struct error *err);
/* objects.c */
void objects_made_free(struct objects_made *m);
/* text.c */
void texts_free(struct texts *t);

#endif
