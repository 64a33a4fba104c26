/* Names the node that a log file is of, from its path: for files whose lines do not say it. */
#ifndef CULPRIT_SOURCE_NODENAME_H
#define CULPRIT_SOURCE_NODENAME_H

#include "base/str.h"

struct arena;

/* "logs/dn1.log.2.gz" is "dn1", "nm1/syslog" is "nm1/syslog", "-" is "stdin". */
struct str nodename_of_path(struct arena *a, struct str path);

#endif
