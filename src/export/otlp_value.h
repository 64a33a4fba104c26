/* Writes attributes as OTLP's KeyValue lists. */
#ifndef CULPRIT_EXPORT_OTLP_VALUE_H
#define CULPRIT_EXPORT_OTLP_VALUE_H

#include "base/jsonout.h"

struct attr;
struct json;

/* One {"key":…,"value":{…}}; the parser is for lists and maps. */
void otlp_attr(struct jsonout *j, struct json *parser, const struct attr *a);

#endif
