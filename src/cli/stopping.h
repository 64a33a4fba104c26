/* The first signal ends what is watched, not the program; a child that ends only wakes it. */
#ifndef CULPRIT_CLI_STOPPING_H
#define CULPRIT_CLI_STOPPING_H

#include <stdbool.h>

void stopping_catch(void);
bool stopping_is_told(void);

#endif
