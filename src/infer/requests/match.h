/* Finds the log statement of a program that wrote a line, and what stands in its holes. */
#ifndef CULPRIT_INFER_REQUESTS_MATCH_H
#define CULPRIT_INFER_REQUESTS_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/level.h"

struct error;
struct matcher;
struct model_file;

enum {
	MATCH_VALUES = 128, /* further values of one line are left out */
	MATCH_ALSO = 4,     /* further statements likewise */
};

/* A hole (model_part) and what stands in it, borrowed from the line. */
struct match_value {
	uint32_t part;
	bool can_name; /* it may name something: it is no yes or no, no fraction, no exception */
	struct str text;
};

struct match {
	uint32_t model;   /* which of the models */
	uint32_t point;   /* of a line; of a thread's name the model_thread_name */
	uint32_t version; /* MODEL_NO: the place tells the point, but none of its texts fits */
	unsigned nr, nr_also;
	uint32_t also[MATCH_ALSO]; /* other points of the model that fit just as well */
	float sure;                /* 1: no doubt that this statement wrote the line */
	struct match_value values[MATCH_VALUES];
};

/* The models are borrowed. The matcher does not change afterwards: any thread may ask it. */
int matcher_new(struct matcher **m, const struct model_file *const *models, unsigned nr,
		struct error *err);
void matcher_free(struct matcher *m);

/*
 * The statement that wrote this message: 1 and *to, or 0. The point is what the layout printed of
 * it: "File.java:123", a logger's name, whole or shortened, or nothing. A message of several lines
 * is looked at as a whole, then its first line. The values of *to behind nr are not set.
 */
int matcher_find(const struct matcher *m, struct str point, enum level level, struct str message,
		 struct match *to);
/* Its number, or 0, where nothing else is wanted; and whether it might be another one if the
 * digits of the message were others, unless by_digits is NULL. */
uint32_t matcher_statement(const struct matcher *m, struct str point, enum level level,
			   struct str message, bool *by_digits);
/* The statement that gave a thread this name: 1 and *to, or 0. */
int matcher_thread(const struct matcher *m, struct str name, struct match *to);

/* All points of all models are numbered from 1 on; 0 is none. So are the names of threads. */
uint32_t matcher_number(const struct matcher *m, uint32_t model, uint32_t point);
const struct model_file *matcher_point(const struct matcher *m, uint32_t number, uint32_t *model,
				       uint32_t *point);
uint32_t matcher_thread_number(const struct matcher *m, uint32_t model, uint32_t name);
const struct model_file *matcher_thread_name(const struct matcher *m, uint32_t number,
					     uint32_t *model, uint32_t *name);
/* How many numbers there are; the largest is as large. */
uint32_t matcher_nr_points(const struct matcher *m);
uint32_t matcher_nr_thread_names(const struct matcher *m);

#endif
