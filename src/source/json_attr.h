/* Turns JSON values into attributes, and back into text where an attribute holds a list or a map.
 */
#ifndef CULPRIT_SOURCE_JSON_ATTR_H
#define CULPRIT_SOURCE_JSON_ATTR_H

#include "base/json.h"
#include "base/jsonout.h"
#include "model/attr.h"

/* The value as JSON text again; what is nested deeper than the writer can becomes null. */
void json_attr_write(struct jsonout *out, struct json_value v);
/* Adds one attribute with the type that the value has. */
void json_attr_add(struct buf *packed, enum attr_scope scope, struct str key, struct json_value v);
/* Each member of an object as an attribute. */
void json_attr_add_all(struct buf *packed, enum attr_scope scope, struct json_value object);

#endif
