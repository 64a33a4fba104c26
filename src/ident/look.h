/* Shapes that begin a text: each answers how many bytes it takes, or 0 when it is not there. */
#ifndef CULPRIT_IDENT_LOOK_H
#define CULPRIT_IDENT_LOOK_H

#include <stddef.h>

#include "base/str.h"

size_t look_date(struct str s);     /* 2026-11-15 09:29:05,366; 09:29:05; 15/Nov/2026:09:29:05 */
size_t look_fraction(struct str s); /* 3/5 */
size_t look_ip(struct str s);       /* 10.0.0.1 */
size_t look_path(struct str s);     /* an absolute one */
size_t look_url(struct str s);      /* scheme://… */
/* A name, something or nothing, and a number, with commas between and no blank; the number may go
 * on behind a dot: "host,16020,1794735616441", "table,row,1794735671294.c2baf6cd…". */
size_t look_joined(struct str s);
/* Of a URL: where its path begins, behind scheme and host. */
size_t look_url_path(struct str url);

#endif
