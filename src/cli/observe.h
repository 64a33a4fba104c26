/* Turns raw inputs, or a running system, into a run: reads, then lets every inference that applies
 * do its part. */
#ifndef CULPRIT_CLI_OBSERVE_H
#define CULPRIT_CLI_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct error;
struct infer_options;
struct reducers;
struct sink;
struct source_options;
struct store;

/* Whoever delivers what is seen: files that are read, or a system that is recorded. */
struct observer {
	void *to;
	int (*read)(void *to, struct sink *sink, struct error *err);
	/* When all is read, and before anything is inferred of it; may be NULL. */
	int (*keep)(void *to, struct store *s, struct error *err);
	/* What else the inferences shall know; may be NULL. */
	void (*prepare)(void *to, struct infer_options *o);
	/* When all is inferred; may be NULL. */
	int (*finish)(void *to, struct store *s, struct error *err);
	bool is_not_inferred; /* requests are not asked for */
};

/* A finished run in *s, written to path, or to nowhere that lasts when path is NULL. */
int observe(const struct call *call, char *const *inputs, unsigned long nr_inputs, const char *path,
	    struct store **s, struct error *err);
/* Files that are known already, by number: what answers call each, and how it is read (as
 * source_read does). -ESTALE ends it all. */
struct observed_files {
	void *to;
	size_t nr;
	uint64_t bytes;
	const char *(*name)(void *to, size_t nr);
	int (*read)(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		    struct error *err);
	bool is_strict;                  /* whatever fails ends it */
	const struct reducers *reducers; /* who works on many lines; NULL: this program */
};
int observe_files(const struct call *call, const struct observed_files *files, const char *path,
		  struct store **s, struct error *err);
/*
 * The same of files that grow, in several steps. What is kept of them once and for all is not read
 * again; observation_tell takes it and the rest into a run. That uses the observation up: who has a
 * run before the end lets a child make it (observation_pause, then, in the child, is_branch).
 */
struct observation;
int observation_begin(struct observation **ob, const struct call *call, const char *path,
		      struct error *err);
void observation_free(struct observation *ob);
int observation_keep(struct observation *ob, const struct observed_files *files, struct error *err);
int observation_pause(struct observation *ob, struct error *err);
int observation_tell(struct observation *ob, const struct observed_files *files, bool is_branch,
		     struct store **s, struct error *err);
/* Whether a signal came since this was last asked. */
bool observe_was_interrupted(void);
/* Ends what is being read on another thread, as a signal would. */
void observe_interrupt(void);
/* Whether the name is that of a run, rather than of something that is to be read. */
bool observe_is_run(const char *name);
/* The same from a live observer, which sees to signals itself while it reads. */
int observe_live(const struct call *call, const struct observer *o, const char *path,
		 struct store **s, struct error *err);
/* Fails when one of them is a run already. */
int observe_refuse_runs(char *const *inputs, unsigned long nr_inputs, struct error *err);
/* The same from a run file or raw inputs, whichever is given. */
int observe_or_open(const struct call *call, char *const *inputs, unsigned long nr_inputs,
		    struct store **s, struct error *err);

#endif
