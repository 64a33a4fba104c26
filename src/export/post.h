/* Hands bytes to a web service by HTTP POST; only this knows the library that does it. */
#ifndef CULPRIT_EXPORT_POST_H
#define CULPRIT_EXPORT_POST_H

#include "base/str.h"

struct error;

#define POST_WAIT_S 5 /* for the whole of it */

/* -EIO with a word where nobody takes them; -ENOSYS in a culprit that was built without. */
int post_bytes(const char *url, const char *type, struct str bytes, struct error *err);

#endif
