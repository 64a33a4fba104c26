/* Names in a few words what a file that is no run file seems to be. */
#ifndef CULPRIT_STORE_LOOKS_H
#define CULPRIT_STORE_LOOKS_H

#include "base/str.h"

const char *looks_like(struct str head);

#endif
