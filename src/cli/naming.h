/* What lines name, on its way from the readers of logs to the objects of a run. */
#ifndef CULPRIT_CLI_NAMING_H
#define CULPRIT_CLI_NAMING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "ident/namer.h"
#include "model/loss.h"
#include "model/object.h"
#include "source/source.h"

struct call;
struct event;
struct mention;
struct objects;
struct store;

struct naming {
	bool is_on;     /* objects are asked for */
	bool is_alone;  /* nothing else is */
	bool is_branch; /* its parent tells the user */
	struct namers namers;
	struct namer_options options;
	struct overrides *overrides;
	struct constants *constants;
	struct objects *objects;
	struct str file; /* the log at hand */
	VEC(struct mention *) round;
	struct map turns; /* by template: 1, or 2 if it says that something begins or ends */
	VEC(struct namer *) idle; /* what they know of one file is good for the next */
	pthread_mutex_t lock;
	/* of the thread that settles them, meanwhile */
	pthread_t settler;
	bool is_settling;
	struct losses losses;
};

/* path: where the run will stand, or NULL. */
int naming_init(struct naming *n, const struct call *call, const char *path, struct error *err);
void naming_done(struct naming *n);
/* In a child that goes on with it by itself. */
int naming_branch(struct naming *n, struct error *err);
/* The log from which the next events come; borrowed until the next. */
void naming_file(struct naming *n, struct str log);
void naming_events(struct naming *n, const struct event *ev, size_t nr);
/* When all is read: finds the objects, while others do something else. */
void naming_settle(struct naming *n);
/* After that: puts the objects into the run. */
int naming_end(struct naming *n, struct store *s, struct losses *losses, struct error *err);

#endif
