/* Logs that grow and rotate: which files there are now, known by what they are and not by their
 * names, and how much of each is whole. */
#ifndef CULPRIT_SOURCE_FOLLOW_H
#define CULPRIT_SOURCE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct follow;
struct sink;
struct source_options;

struct follow_options {
	char *const *args; /* as source_expand takes them, "-" left out; borrowed */
	size_t nr_args;
	const char *output;  /* of the run that is written meanwhile: never read; may be NULL */
	int64_t rest_ns;     /* silence after which a last line without its end is taken as whole */
	unsigned open_max;   /* files that may be kept open */
	uint64_t kept_bytes; /* of deleted files that may be kept alive by keeping them open */
};

struct follow *follow_new(const struct follow_options *o);
void follow_free(struct follow *f);

/*
 * Looks at everything again; now is of a clock that never jumps. True when there is anything new
 * for a run. What cannot be looked at stays as it was known, with the reason in *trouble (code 0:
 * none).
 */
bool follow_look(struct follow *f, int64_t now, struct error *trouble);

struct follow_state {
	size_t nr_files;  /* that would be read */
	uint64_t bytes;   /* in them, as stored */
	size_t nr_copies; /* files left out, since another holds the same */
	size_t nr_kept;   /* deleted, but read on */
	uint64_t nr_lost; /* files, or former contents of files, that were known and are gone */
};
void follow_state(const struct follow *f, struct follow_state *s);
/* The directories in which names may change. */
void follow_each_directory(const struct follow *f, void (*each)(void *ctx, const char *path),
			   void *ctx);

/*
 * What is whole at this moment, as numbers 0 .. nr - 1, in order; valid until the next look. A line
 * at the end that is still being written waits, unless this is the last time. *has_more tells that
 * something waits.
 */
size_t follow_take(struct follow *f, int64_t now, bool is_last, bool *has_more);
const char *follow_name(const struct follow *f, size_t nr); /* as answers show it */
const char *follow_path(const struct follow *f, size_t nr);
/*
 * Reads on in what is a log, from where it was left: once and for all, and no further than its
 * events are known to end. What was so delivered is left out by follow_read from then on, which
 * delivers the rest. 0, or a failure, after which follow_forget comes first.
 */
int follow_read_on(struct follow *f, size_t nr, int64_t now, const struct source_options *o,
		   struct sink *sink, struct error *err);
/* Everything is read from its beginning again. */
void follow_forget(struct follow *f);
/* As source_read; -ESTALE when the file is not what it was at the last look: look again, and begin
 * anew. */
int follow_read(struct follow *f, size_t nr, const struct source_options *o, struct sink *sink,
		struct error *err);

#endif
