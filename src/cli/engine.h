/* Has an engine that runs on many machines (Spark, Hadoop) read the logs: culprit analyze --on. */
#ifndef CULPRIT_CLI_ENGINE_H
#define CULPRIT_CLI_ENGINE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"

struct call;
struct error;
struct plan;
struct store;

/* What an engine is given. All paths are below one folder, which goes away in the end. */
struct engine_job {
	const char *folder;
	const char *program;   /* that workers run */
	const char *plan_path; /* to be sent to them, and so are the models */
	VEC(const char *) models;
	const char *records;   /* where the records are to be written, in order */
	const char *chains;    /* those of chains, which the reducers are to read */
	const char *fragments; /* where what they made is to be written */
	unsigned nr_reducers;
	const char *log;   /* what the engine says */
	const char *where; /* behind the colon of --on: a master; "" for none */
	struct plan *plan;
	struct arena arena;
};

/* A command line, ended by NULL. */
struct engine_words {
	VEC(const char *) of;
};
void engine_say(struct engine_words *w, const char *word);

/* One that is known. Adding one is a file, and a line in the table of engine.c. */
struct engine {
	const char *name;
	/* Map and combine over all files of the plan; the records in order. */
	int (*run)(struct engine_job *j, struct error *err);
	/* Records of one chain to one reducer, in order; what all of them wrote. */
	int (*reduce)(struct engine_job *j, struct error *err);
	/* What files there are at or below a URI, as lines "BYTES SECONDS URI" with tabs between;
	 * the first ENGINE_HEAD_BYTES of the n-th from 0 in the file head-n of the folder. */
	int (*look)(struct engine_job *j, const char *uri, const char *listing, struct error *err);
};
#define ENGINE_HEAD_BYTES 524288

extern const struct engine engine_spark, engine_hadoop;

/* Runs a program to its end in the folder of the job, its output added to a file: 0, or a failure
 * that names it. */
int engine_run(struct engine_job *j, const char *const *words, const char *output,
	       struct error *err);
/* Makes the failure what the log of the engine says was the reason, as far as it can be told. */
int engine_blame_log(struct engine_job *j, const char *engine, struct error *err);
/* One that can be run: in the folders given, or else on PATH; or NULL. */
const char *engine_find(struct engine_job *j, const char *name, const char *const *folders);
/* Whether workers are sent this program, or have one. */
bool engine_is_sent(const struct engine_job *j);
const char *engine_below(struct engine_job *j, const char *name); /* a path in the folder */
/* Where the path begins, behind scheme and machine. */
size_t engine_path_of(struct str uri);

/* A finished run, as observe makes it. */
int engine_observe(const struct call *call, const char *path, struct store **s, struct error *err);

#endif
