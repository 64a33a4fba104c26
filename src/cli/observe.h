/* Turns raw inputs, or a running system, into a run: reads, then lets every inference that applies
 * do its part. */
#ifndef CULPRIT_CLI_OBSERVE_H
#define CULPRIT_CLI_OBSERVE_H

struct call;
struct error;
struct sink;
struct store;

/* Whoever delivers what is seen: files that are read, or a system that is recorded. */
struct observer {
	void *to;
	int (*read)(void *to, struct sink *sink, struct error *err);
};

/* A finished run in *s, written to path, or to nowhere that lasts when path is NULL. */
int observe(const struct call *call, char *const *inputs, unsigned long nr_inputs, const char *path,
	    struct store **s, struct error *err);
/* The same from a live observer, which sees to signals itself while it reads. */
int observe_live(const struct call *call, const struct observer *o, const char *path,
		 struct store **s, struct error *err);
/* The same from a run file or raw inputs, whichever is given. */
int observe_or_open(const struct call *call, char *const *inputs, unsigned long nr_inputs,
		    struct store **s, struct error *err);

#endif
