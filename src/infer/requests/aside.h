/* Lines that are about no object, beside lines that are: which of them go with those, and which do
 * not. */
#ifndef CULPRIT_INFER_REQUESTS_ASIDE_H
#define CULPRIT_INFER_REQUESTS_ASIDE_H

#include "infer/requests/subject.h"

/* A line goes with the next one of its thread if such lines nearly always stand right before lines
 * of that statement: then it is about the same. It stays where it is if such lines nearly always
 * stand between two lines about the same object. Others are aside. */
void aside_find(const struct work *w, struct subjects *s);

#endif
