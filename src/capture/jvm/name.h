/* What a JVM is called by people: the simple name of its main class, or of its jar. */
#ifndef CULPRIT_CAPTURE_JVM_NAME_H
#define CULPRIT_CAPTURE_JVM_NAME_H

#include <stddef.h>

struct error;
struct jvm_arguments;

/* org.apache.hadoop.hdfs.server.datanode.DataNode is DataNode, -jar lib/shop.jar is shop, and
 * -Dculprit.name=NAME is NAME. Empty when nothing is known. A name that is too long is cut. */
void jvm_name_of(const struct jvm_arguments *a, char *name, size_t room);
/* The same of a process; one that was not started by a launcher is called as the kernel does. */
int jvm_name(int pid, char *name, size_t room);

#endif
