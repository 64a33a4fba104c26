/* The object that a line is about, of the one kind that most work is about: a table, with all that
 * belongs to it. */
#ifndef CULPRIT_INFER_REQUESTS_SUBJECT_H
#define CULPRIT_INFER_REQUESTS_SUBJECT_H

#include "infer/requests/work.h"

#define SUBJECT_SEVERAL UINT32_MAX

struct subjects {
	uint32_t kind;     /* 0: there is none */
	uint32_t *owner;   /* of each thing: the object that it belongs to, or 0 */
	bool *is_aside;    /* of each line as gathered: see aside.h */
	uint32_t *of_line; /* of each line as gathered: what it is about, 0, or SUBJECT_SEVERAL */
};

/* What the line at this place in by_thread is about; 0: nothing, or several things. */
static inline uint32_t subject_at(const struct work *w, const struct subjects *s, uint32_t at)
{
	uint32_t subject = s->of_line[w->by_thread[at]];

	return subject == SUBJECT_SEVERAL ? 0 : subject;
}

void subjects_find(struct subjects *s, const struct work *w);
void subjects_done(struct subjects *s);

#endif
