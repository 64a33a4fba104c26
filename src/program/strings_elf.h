/* The constant strings of ELF files: those that end with a zero byte, and those that do not. */
#ifndef CULPRIT_PROGRAM_STRINGS_ELF_H
#define CULPRIT_PROGRAM_STRINGS_ELF_H

#include "base/str.h"

struct losses;
struct strings_sink;

void strings_of_elf(struct str bytes, const struct strings_sink *to, struct losses *losses);

#endif
