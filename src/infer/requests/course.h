/* In which order statements may follow each other within one method, by the program's own course.
 */
#ifndef CULPRIT_INFER_REQUESTS_COURSE_H
#define CULPRIT_INFER_REQUESTS_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct course;
struct matcher;

/* The matcher is borrowed; NULL knows no order. */
struct course *course_new(const struct matcher *m);
void course_free(struct course *c);

/* Whether the second statement can only stand in front of the first one, so that a new execution
 * begins with it. Statements are numbers of the matcher. */
bool course_is_back(struct course *c, uint32_t first, uint32_t second);
/* Whether the second may follow the first within one execution, in a further round of a loop too.
 */
bool course_goes_on(struct course *c, uint32_t first, uint32_t second);
/* Methods that were asked for and are too large, or too many, to be walked. */
uint64_t course_nr_left(const struct course *c);

#endif
