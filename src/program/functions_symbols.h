/* Symbols of an ELF file that are functions. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_SYMBOLS_H
#define CULPRIT_PROGRAM_FUNCTIONS_SYMBOLS_H

#include "base/vec.h"
#include "program/elf.h"
#include "program/functions.h"
#include "program/functions_frame.h"

struct function_symbol {
	uint64_t address, size;
	struct str name; /* in the bytes of the file, mangled */
	enum function_source source;
	bool is_exported, is_local;
	bool is_chooser; /* run once, to choose which function has this name */
};

struct function_symbols {
	VEC(struct function_symbol) v;
	struct function_ranges cold; /* what was put apart from functions */
};

void function_symbols_done(struct function_symbols *s);
/* .symtab, told to be of that source; how many. */
size_t function_symbols_all(const struct elf *e, enum function_source source,
			    struct function_symbols *to);
/* What the dynamic linker is told. */
void function_symbols_exported(const struct elf *e, struct function_symbols *to);
/* From what debuggers are told (DWARF); nothing where that cannot be read here. Names are in the
 * arena. */
void function_symbols_debug(struct str file, struct arena *arena, struct function_symbols *to);

/* One symbol of a table, of any kind. */
struct symbol {
	struct str name;
	uint64_t address, size;
	unsigned kind, binding, visibility, section;
};
/* The table of the dynamic linker, with or without sections; false when there is none. */
bool symbols_dynamic(const struct elf *e, struct str *table, struct str *names);
bool symbol_at(const struct elf *e, struct str table, struct str names, uint64_t i,
	       struct symbol *s);

#endif
