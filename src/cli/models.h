/* The programs that wrote the logs: models that the user names, and jars that are learned on the
 * spot. */
#ifndef CULPRIT_CLI_MODELS_H
#define CULPRIT_CLI_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "source/source.h"

struct call;
struct error;
struct event;
struct losses;
struct matcher;
struct model_file;
struct store;

enum { MODELS_MAX = 16 };

/* Zero is "none". */
struct models {
	struct model_file *v[MODELS_MAX];
	unsigned nr;
	struct buf image;             /* of what was learned on the spot */
	struct buf names;             /* "hdfs.model, lib/" */
	struct matcher *matcher;      /* NULL when no program is given */
	struct statements statements; /* what the reader of logs asks */
	uint64_t nr_lines, nr_found;  /* events of logs so far, and those with a statement */
};

/* Whether an input is a program or a model of one, and nothing to read lines from. */
bool models_is_program(const char *path);

/* Those of --model, and the programs among the inputs. */
int models_open(struct models *ms, const struct call *call, char *const *inputs, size_t nr,
		struct error *err);
void models_close(struct models *ms);
/* What could not be learned of jars that were learned on the spot. */
void models_losses(const struct models *ms, struct losses *losses);
/* Events on their way to the store are counted, and in the end kept with the run as facts. */
void models_count(struct models *ms, const struct event *events, size_t nr);
int models_keep(const struct models *ms, struct store *s, struct error *err);

#define FACT_MODELS "models"
#define FACT_LINES_ASKED "lines_asked"
#define FACT_LINES_OF_STATEMENTS "lines_of_statements"

#endif
