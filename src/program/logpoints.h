/* Every statement of a program that logs, with what its lines look like. */
#ifndef CULPRIT_PROGRAM_LOGPOINTS_H
#define CULPRIT_PROGRAM_LOGPOINTS_H

#include "model/level.h"
#include "program/program.h"
#include "program/text.h"

struct losses;

struct log_point {
	uint32_t method;
	uint16_t pc, line; /* line 0: unknown */
	enum level level;  /* LEVEL_NONE: told at run time */
	struct str logger; /* see logger_name */
	struct text text;
	bool has_error;
	bool is_handed; /* the message is a parameter: what callers hand over was put in its place
			 */
};

struct log_points {
	VEC(struct log_point) v; /* in the order of methods and code */
	struct arena arena;
};

void log_points_find(struct log_points *l, const struct program *p, struct losses *losses);
void log_points_done(struct log_points *l);

#endif
