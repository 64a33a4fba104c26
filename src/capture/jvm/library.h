/* Where a JVM finds our agent library: as it lies beside us, or as a copy in the JVM's own /tmp. */
#ifndef CULPRIT_CAPTURE_JVM_LIBRARY_H
#define CULPRIT_CAPTURE_JVM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;

#define JVM_LIBRARY "libculprit-jvm.so"

/* Where the library lies for us: CULPRIT_JVM_AGENT, the build tree, or the installation. */
int jvm_library_find(char *path, size_t room, struct error *err);
/* The path that the JVM can load it by. */
int jvm_library_for(int pid, char *path, size_t room, struct error *err);
/* Whether a file that the process has mapped is the library, or a copy. */
bool jvm_library_is(struct str mapped);
/* The first such file of the process, as the process sees it; false when there is none. */
bool jvm_library_in(int pid, char *path, size_t room);

#endif
