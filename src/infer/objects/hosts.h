/* Hosts that lines name by their connections only. */
#ifndef CULPRIT_INFER_OBJECTS_HOSTS_H
#define CULPRIT_INFER_OBJECTS_HOSTS_H

#include <stdbool.h>

struct census;

/* Whether connections show several hosts, of which each has several. */
bool hosts_are_known(struct census *w);
/* Lines that name 10.0.0.1:40312 name the host 10.0.0.1, too, where there are several hosts. */
void hosts_name(struct census *w);

#endif
