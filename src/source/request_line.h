/* The HTTP request that a line of text tells of: "GET /orders/7", also in quotes or with a host. */
#ifndef CULPRIT_SOURCE_REQUEST_LINE_H
#define CULPRIT_SOURCE_REQUEST_LINE_H

#include <stdbool.h>

#include "base/str.h"

/* The first one; both are parts of the text. */
bool request_line_find(struct str text, struct str *method, struct str *path);
/* Whether the line is about nothing else: it begins with the request, quotes it, or starts it. */
bool request_line_leads(struct str text, struct str method);

#endif
