/* Built where there is no library that reads DWARF. */
#include "program/functions_symbols.h"

void function_symbols_debug(struct str file, struct arena *arena, struct function_symbols *to)
{
}
