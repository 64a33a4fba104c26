/* Asks our library in a JVM what it does there; whoever asks changes nothing. */
#ifndef CULPRIT_CAPTURE_JVM_STATUS_H
#define CULPRIT_CAPTURE_JVM_STATUS_H

#include "base/str.h"

struct buf;
struct error;

/* Loads the library if it is not there. It is given the options "status PATH", and writes lines
 * "name<tab>value" into the file; those are added to told. */
int jvm_status(int pid, struct buf *told, struct error *err);
/* The next line of these; false at the end. Lines of another form have no value. */
bool jvm_status_take(struct str *told, struct str *name, struct str *value);
/* The value of a name in what jvm_properties gave; false when it is not there. */
bool jvm_property(struct str properties, struct str name, struct str *value);

#endif
