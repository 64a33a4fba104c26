/* Definitions of tracepoints that were asked for: files, and sets that come with culprit. */
#ifndef CULPRIT_CLI_TRACEPOINT_FILES_H
#define CULPRIT_CLI_TRACEPOINT_FILES_H

#include "base/arena.h"
#include "base/vec.h"
#include "query/tracepoint.h"

struct error;

/* Zero is empty. */
struct tracepoint_files {
	struct arena arena;
	VEC(struct tracepoints) v; /* later ones go before earlier ones */
};

/* A file, or the name of a set; NULL: all sets. */
int tracepoint_files_add(struct tracepoint_files *f, const char *name, struct error *err);
/* The value of an option with several names, comma between; NULL: all sets. */
int tracepoint_files_list(struct tracepoint_files *f, const char *names, struct error *err);
void tracepoint_files_done(struct tracepoint_files *f);

#endif
