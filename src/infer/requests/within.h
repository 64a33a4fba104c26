/* Work of another thread that is done while a piece of work waits for it, and that names little or
 * nothing. */
#ifndef CULPRIT_INFER_REQUESTS_WITHIN_H
#define CULPRIT_INFER_REQUESTS_WITHIN_H

#include "infer/requests/work.h"

/* Units that nothing else explains join the one unit of their log during which they are done, when
 * such units always are done during such work. */
void within_find(struct work *w);

#endif
