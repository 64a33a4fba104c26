/* Which addresses the code of a program calls or hands out: functions begin there. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_CALLED_H
#define CULPRIT_PROGRAM_FUNCTIONS_CALLED_H

#include "base/map.h"
#include "program/elf.h"

/* Sets the values of those addresses that are in the map to 1; false when the machine is none whose
 * code can be read. */
bool functions_called(const struct elf *e, struct map *addresses);

#endif
