/* Which family of names (an application with its containers, jobs and tasks) a unit of work is of.
 */
#ifndef CULPRIT_INFER_REQUESTS_FAMILY_H
#define CULPRIT_INFER_REQUESTS_FAMILY_H

#include "infer/requests/work.h"

#define FAMILY_SEVERAL UINT32_MAX

/* Cuts units whose lines name several families, one after another. */
void family_split(struct work *w);
/* Sets the family of every unit: by its names, by numbers that stand for one, by its file, by what
 * else it names. */
void family_find(struct work *w);

#endif
