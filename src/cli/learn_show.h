/* Shows the model of a program: its log points, the methods where requests begin, who talks to
 * whom. */
#ifndef CULPRIT_CLI_LEARN_SHOW_H
#define CULPRIT_CLI_LEARN_SHOW_H

#include "base/buf.h"
#include "base/vec.h"
#include "program/model_file.h"

struct error;
struct report;

/* Each fills the report: 0 answered, 1 nothing found (said in the report). */
int learn_show_summary(const struct model_file *m, struct report *r);
int learn_show_points(const struct model_file *m, struct report *r);
int learn_show_method(const struct model_file *m, const char *name, struct report *r);
int learn_show_pairs(const struct model_file *m, struct report *r);
/* The figures of table 2 of the lprof paper, for this program. */
int learn_show_table(const struct model_file *m, struct report *r);
/* The order of the log points of the methods of that name, for Graphviz. */
int learn_show_dot(const struct model_file *m, const char *name, struct buf *out,
		   struct error *err);

/* Whom a method talks to: for people as a table of the report, for scripts in a cell of a row. */
struct row;
struct section;
void learn_show_partners(const struct model_file *m, const struct model_top *t, struct report *r);
void learn_add_partners(const struct model_file *m, const struct model_top *t, struct section *s,
			struct row *row, size_t column);

/* The closing report of learning: what was found, one line each. */
void learn_tell(const struct model_file *m, struct report *r);

/* Methods where requests begin and whose name this is: a.b.C.method, C.method, or any part of it
 * when there is none of that name. */
struct learn_found {
	VEC(uint32_t) tops;
	VEC(uint32_t) methods; /* that are no tops, but have log points */
};
void learn_find(const struct model_file *m, struct str name, struct learn_found *found);
void learn_found_done(struct learn_found *found);

/* "a.b.C.method"; "C.method" when short; a point has its line behind that. */
void learn_name_method(const struct model_file *m, uint32_t method, bool is_short, struct buf *b);
void learn_name_point(const struct model_file *m, uint32_t point, bool is_short, struct buf *b);
/* "Receiving {} src: {}" */
void learn_write_version(const struct model_file *m, uint32_t version, struct buf *b);
/* The wordiest version of a point. */
void learn_write_text(const struct model_file *m, uint32_t point, struct buf *b);

#endif
