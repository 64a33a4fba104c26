/* What a statement says is done: the verb in its text. */
#ifndef CULPRIT_INFER_OBJECTS_DEED_H
#define CULPRIT_INFER_OBJECTS_DEED_H

#include "base/str.h"
#include "model/object.h"

enum relation_deed deed_of(struct str title);

#endif
