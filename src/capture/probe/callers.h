/* Code that a process has made itself (a just-in-time compiler's): who made it looks at return
 * addresses on its own, so that calls that come from there are left alone. */
#ifndef CULPRIT_CAPTURE_PROBE_CALLERS_H
#define CULPRIT_CAPTURE_PROBE_CALLERS_H

#include <stdbool.h>

struct family;
struct image;

/* Writes down where code of files lies, for our code in the process. Whether there is other code.
 */
bool callers_read(const struct family *f, const struct image *im);

#endif
