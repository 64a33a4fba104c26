/*
 * What a query does at each tracepoint: a tree of stages, one for each From and Join, each of which
 * observes variables, takes what happened before from its children, filters, and packs for its
 * parent; the root emits. The paper calls what a stage does "advice".
 */
#ifndef CULPRIT_QUERY_PLAN_H
#define CULPRIT_QUERY_PLAN_H

#include "base/vec.h"
#include "query/ast.h"

struct arena;
struct buf;
struct error;

#define STAGES_MAX 64 /* so that a set of them is one number */
#define VARIABLES_MAX 256
#define STAGE_NONE UINT32_MAX

/* The rewrite rules of the paper's Table 3, in its order; the last four groups of A and G differ in
 * whose fields are grouped by (G) and aggregated (A). */
enum rewrite {
	REWRITE_PROJECT = 1,
	REWRITE_SELECT_P = 2,
	REWRITE_SELECT_Q = 4,
	REWRITE_A_P = 8,
	REWRITE_GA_P = 16,
	REWRITE_GA_Q = 32,
	REWRITE_G_P_A_Q = 64,
	REWRITE_G_Q_A_P = 128,
	REWRITE_ALL = 255,
};

struct variable {
	uint32_t stage;
	struct str field;            /* that is observed there; empty: */
	const struct expr *computed; /* from others of the stage and below, or from its output */
	struct str shown;
	struct place place; /* where the query names it first */
};

/* Rows into what Select says. */
struct output {
	VEC(struct expr *) keys;       /* rows with equal ones are one group */
	VEC(struct expr *) aggregates; /* by number */
	VEC(struct select_clause) selects;
	bool is_aggregated;
};

struct stage {
	struct str alias;
	const struct source_name *points; /* the tracepoints */
	size_t nr_points;
	enum take take; /* how the parent takes it */
	uint32_t at_most;
	uint32_t parent;
	VEC(uint32_t) children;
	/* The first so many are of the query that the stage is the source of: without a tuple of
	 * each of them the stage has none either. Others do not change which are the first or most
	 * recent ones. */
	size_t nr_inner;
	VEC(uint32_t) observed;   /* variables */
	VEC(uint32_t) computed;   /* likewise, when filters have passed */
	VEC(struct expr *) early; /* filters of what is observed alone */
	VEC(struct expr *) late;  /* filters of all */
	VEC(struct expr *) last;  /* those that read what is computed */
	VEC(uint32_t) packed;     /* variables */
	VEC(uint32_t) partials;   /* aggregates of the root that are packed half done */
	bool is_grouped;          /* equal tuples are packed as one, with their number */
	enum rewrite rule;        /* that allowed it */
	struct output *output;    /* what is joined are the groups of all tuples so far */
};

struct plan {
	struct str text; /* of the query */
	VEC(struct variable) variables;
	VEC(struct stage) stages; /* a parent comes before its children; the first one emits */
	struct output output;
};

/* Plans the last of the queries. -EINVAL and the place otherwise. The plan borrows from the queries
 * and the arena. */
int query_plan(struct plan *p, const struct queries *q, unsigned rewrites, struct arena *arena,
	       struct error *err);
void query_plan_done(struct plan *p);

/* Whether a is b or below it. */
bool plan_is_below(const struct plan *p, uint32_t a, uint32_t b);
/* Whether both mean the same. */
bool expr_same(const struct expr *a, const struct expr *b);
/* Calls back for each variable that an expression reads. */
void expr_each_variable(const struct expr *e, void (*each)(void *ctx, uint32_t variable),
			void *ctx);

/* rewrite.c: moves filters, projections and aggregates to where they cost least. */
void plan_rewrite(struct plan *p, unsigned rewrites);

/* explain.c */
struct advice {
	uint32_t stage;
	VEC(struct str) operations; /* "OBSERVE procName", in the arena */
};
/* The advice of all stages, the last one emits; in the paper's form. */
struct advices {
	VEC(struct advice) v;
};
void plan_explain(const struct plan *p, struct arena *arena, struct advices *a);
void advices_done(struct advices *a);
const char *rewrite_name(enum rewrite r);
/* An expression as it would be written. */
void expr_show(struct buf *b, const struct plan *p, const struct expr *e);

#endif
