/* What the driver of a distributed run tells its workers: the files, how each begins, and how it is
 * to be read. */
#ifndef CULPRIT_CLI_ENGINE_PLAN_H
#define CULPRIT_CLI_ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct call;
struct error;
struct logs;
struct model_file;
struct source_list;
struct statements;

struct plan_file {
	const char *path; /* as it was given */
	const char *name; /* as answers show it */
	const char *uri; /* what the engine calls it: an absolute path, or hdfs://…; "": read by the
			    driver itself, since an engine cannot cut it or would change it */
	uint64_t bytes;
	int64_t mtime_ns;
	uint64_t mark;
	bool is_plain; /* bytes is what the parts must come to */
	bool is_found; /* and not named by the user */
	struct str head, kin;
};

/* Zero is a valid, empty one. */
struct plan {
	VEC(struct plan_file) files;
	const char *layout, *zone; /* NULL: found out */
	const char *timezone;      /* of the driver, for times that name none */
	VEC(uint64_t) models;      /* marks: other ones would number statements otherwise */
	struct arena arena;
	struct buf image;
};

/* From the inputs of a call, those that are programs left out. */
int plan_make(struct plan *p, const struct call *call, char *const *inputs, size_t nr,
	      struct error *err);
int plan_write(const struct plan *p, const char *path, struct error *err);
int plan_read(struct plan *p, const char *path, struct error *err);
/* The same from bytes, which are borrowed. */
int plan_of_bytes(struct plan *p, struct str image, struct error *err);
void plan_done(struct plan *p);

/* Tells models apart. */
uint64_t plan_model_mark(const struct model_file *m);
/* The file that an engine calls so, or -1. */
int64_t plan_find(const struct plan *p, struct str uri);
/* How the lines of a file are read. */
int plan_logs(const struct plan *p, size_t nr, const struct statements *st, struct logs *logs,
	      struct error *err);

#endif
