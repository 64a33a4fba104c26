/* A model file, used as it lies in memory: log points, methods where requests begin, their order,
 * and the indexes that find a point for a line. */
#ifndef CULPRIT_PROGRAM_MODEL_FILE_H
#define CULPRIT_PROGRAM_MODEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/level.h"
#include "program/hole.h"

struct error;
struct losses;
struct model_file;

#define MODEL_NO UINT32_MAX /* no such record */

/* Everything that is handed out is borrowed from the file. */
int model_open(struct model_file **m, const char *path, struct error *err);
/* The bytes are borrowed, and aligned to eight. */
int model_of_bytes(struct model_file **m, struct str bytes, struct error *err);
void model_close(struct model_file *m);
/* Whether the file begins like a model; false when it cannot be read. */
bool model_is_model(const char *path);

/* What lprof's table 2 and the closing report count. */
enum model_count {
	COUNT_CLASSES,
	COUNT_METHODS,
	COUNT_CONTAINERS,
	COUNT_BYTES,
	COUNT_POINTS,
	COUNT_POINTS_ID,     /* with at least one identifier */
	COUNT_USUAL,         /* points that log by default, and not because of an exception */
	COUNT_USUAL_ID,      /* of these: with at least one identifier */
	COUNT_USUAL_VALUE,   /* of these: with any value at all */
	COUNT_THREADS,       /* methods that threads are begun with */
	COUNT_THREADS_LOG,   /* of these: that log */
	COUNT_THREADS_USUAL, /* of these: that log usually */
	COUNT_TOPS,          /* methods where requests begin */
	COUNT_TOPS_DROP,     /* of these, by reason */
	COUNT_TOPS_START,
	COUNT_TOPS_ROOT,
	COUNT_TOPS_REMOTE,
	COUNT_TOPS_REST,
	COUNT_TOPS_USUAL, /* with at least one usual point */
	COUNT_DAG_NODES,  /* of all of them together */
	COUNT_DAG_NODES_MAX,
	COUNT_DAG_USUAL, /* usual points in the DAGs of all of COUNT_TOPS_USUAL together */
	COUNT_NR,
};

uint64_t model_count(const struct model_file *m, enum model_count what);
void model_losses(const struct model_file *m, struct losses *losses);

/* Numbers of records. */
struct model_list {
	const uint32_t *v;
	uint32_t nr;
};

/* Numbers from first on. */
struct model_range {
	uint32_t first, nr;
};

struct model_input {
	struct str name;
	uint32_t nr_classes;
	uint64_t bytes; /* of these, unpacked */
};
uint32_t model_nr_inputs(const struct model_file *m);
struct model_input model_input(const struct model_file *m, uint32_t input);

struct model_method {
	struct str class; /* with dots */
	struct str name, type;
	struct str file; /* Source.java; may be empty */
	uint32_t top;    /* MODEL_NO: no request begins here */
};
uint32_t model_nr_methods(const struct model_file *m);
struct model_method model_method(const struct model_file *m, uint32_t method);

struct model_point {
	uint32_t method;
	uint32_t line; /* 0: unknown */
	uint32_t pc;
	enum level level;
	struct str logger;
	bool is_below; /* the logger is named after its class or one below */
	bool has_error, is_handed, is_exceptional, has_id;
	bool is_common;              /* much of all work passes through it: it belongs to no top */
	struct model_range versions; /* the wordiest first */
	struct model_list tops;      /* to which it belongs */
};
uint32_t model_nr_points(const struct model_file *m);
struct model_point model_point(const struct model_file *m, uint32_t point);

struct model_version {
	uint32_t point; /* MODEL_NO: the name of a thread */
	struct model_range parts;
	uint32_t letters; /* of constant text */
	uint32_t literal; /* its longest constant part; MODEL_NO when there is none */
};
uint32_t model_nr_versions(const struct model_file *m);
struct model_version model_version(const struct model_file *m, uint32_t version);

struct model_part {
	enum part_kind kind;
	enum hole_type type;
	struct str text; /* the constant; of a hole where its value comes from: Block.blockId */
	struct str path; /* of a hole, from a parameter of the method: #1/ExtendedBlock.block */
	bool is_id;      /* of a hole: its method logs it without changing it */
};
struct model_part model_part(const struct model_file *m, uint32_t part);

/* A method where requests begin. */
struct model_top {
	uint32_t method;
	unsigned why; /* enum top_why */
	bool may_be_silent;
	uint32_t total; /* how often identifiers are logged */
	struct model_range ids, nodes;
	struct model_list points; /* all that belong to it */
	struct model_list pairs;  /* that lead to it or away from it */
};
uint32_t model_nr_tops(const struct model_file *m);
struct model_top model_top(const struct model_file *m, uint32_t top);

struct model_id {
	struct str path, name; /* #1/ExtendedBlock.block/Block.blockId, Block.blockId */
	uint32_t count;
};
struct model_id model_id(const struct model_file *m, uint32_t id);

struct model_node {
	bool is_repeated, is_exceptional, is_first, is_last;
	struct model_list points;
	struct model_list ahead; /* the next nodes: how many numbers ahead each is */
};
struct model_node model_node(const struct model_file *m, uint32_t node);

/* Two methods of which the first makes the other one run. */
struct model_pair {
	uint32_t from, to;             /* methods */
	unsigned kind;                 /* enum pair_kind */
	bool is_many;                  /* one of from, any number of to */
	bool from_is_link, to_is_link; /* the end has no log points of its own */
	uint32_t where, line; /* where the communication stands: a method; line 0: unknown */
	struct str through;   /* what carries it */
	struct model_range shared;
};
uint32_t model_nr_pairs(const struct model_file *m);
struct model_pair model_pair(const struct model_file *m, uint32_t pair);

/* One value under the names that it has on both sides of a pair. */
struct model_shared {
	struct str from, to;
};
struct model_shared model_shared(const struct model_file *m, uint32_t shared);

/* A name that a thread is given. */
struct model_thread_name {
	uint32_t method; /* that gives it */
	uint32_t runs;   /* what the thread so named runs; MODEL_NO: unknown */
	uint32_t line;
	bool is_own; /* the thread names itself */
	struct model_range versions;
};
uint32_t model_nr_thread_names(const struct model_file *m);
struct model_thread_name model_thread_name(const struct model_file *m, uint32_t name);

/* The longest constant of each version of a point, in the order of the text. */
struct model_literal {
	struct str text;
	uint32_t version;
};
uint32_t model_nr_literals(const struct model_file *m);
struct model_literal model_literal(const struct model_file *m, uint32_t literal);

/* Loggers in the order of their names read backwards. */
struct model_logger {
	struct str name;
	struct model_list points;
};
uint32_t model_nr_loggers(const struct model_file *m);
struct model_logger model_logger(const struct model_file *m, uint32_t logger);
/* Loggers of this name, or whose name ends with it behind a dot, as %c{1} and %c{2} write them. */
struct model_range model_find_logger(const struct model_file *m, struct str ending);

/* Points in the order of file and line. */
struct model_place {
	struct str file;
	uint32_t line, point;
};
uint32_t model_nr_places(const struct model_file *m);
struct model_place model_place(const struct model_file *m, uint32_t place);
struct model_range model_find_place(const struct model_file *m, struct str file, uint32_t line);

#endif
