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
	const char *records; /* where the records are to be written, in order */
	const char *log;     /* what the engine says */
	const char *where;   /* behind the colon of --on: a master; "" for none */
	const struct plan *plan;
	struct arena arena;
};

/* A command line, ended by NULL. */
struct engine_words {
	VEC(const char *) of;
};
void engine_say(struct engine_words *w, const char *word);

int engine_spark(struct engine_job *j, struct error *err);
int engine_hadoop(struct engine_job *j, struct error *err);

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

/* A finished run, as observe makes it. */
int engine_observe(const struct call *call, const char *path, struct store **s, struct error *err);

#endif
