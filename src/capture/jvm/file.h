/* Files by which we and a library in a JVM exchange text: in the JVM's own /tmp, of its own user.
 */
#ifndef CULPRIT_CAPTURE_JVM_FILE_H
#define CULPRIT_CAPTURE_JVM_FILE_H

#include <stddef.h>

#include "base/str.h"

struct buf;
struct error;

struct jvm_file {
	int fd, tmp;   /* of its folder, which outlives the JVM */
	char path[64]; /* as the JVM sees it */
};

/* A new file that only the JVM's user can read and write. What is made is removed by close. */
int jvm_file_open(struct jvm_file *f, int pid, struct str content, struct error *err);
/* All that is in it now from there on; whoever writes must not put another file in its place. */
int jvm_file_read(const struct jvm_file *f, size_t from, struct buf *content, struct error *err);
void jvm_file_close(struct jvm_file *f);

#endif
