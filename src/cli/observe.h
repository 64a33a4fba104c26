/* Turns raw inputs into a run: reads every file, then lets every inference that applies do its
 * part. */
#ifndef CULPRIT_CLI_OBSERVE_H
#define CULPRIT_CLI_OBSERVE_H

struct call;
struct error;
struct store;

/* A finished run in *s, written to path, or to nowhere that lasts when path is NULL. */
int observe(const struct call *call, char *const *inputs, unsigned long nr_inputs, const char *path,
	    struct store **s, struct error *err);
/* The same from a run file or raw inputs, whichever is given. */
int observe_or_open(const struct call *call, char *const *inputs, unsigned long nr_inputs,
		    struct store **s, struct error *err);

#endif
