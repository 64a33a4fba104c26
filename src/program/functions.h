/* The functions of a native program: names and extents from all that its files say of them. */
#ifndef CULPRIT_PROGRAM_FUNCTIONS_H
#define CULPRIT_PROGRAM_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct error;

enum function_source {
	FUNCTION_SYMTAB,
	FUNCTION_DYNSYM,
	FUNCTION_DEBUG,
	FUNCTION_MINIDEBUG,
	FUNCTION_FRAME, /* no name but its address */
	FUNCTION_TOLD,  /* "name?": likely so, by a text that it refers to (__func__) */
};

struct function_of {
	struct str
		name; /* demangled, without arguments; "postgres+0x1a2b0" where nothing names it */
	struct str folded; /* the same for clones and instances of a template: what reports tell */
	uint64_t address, size;
	uint32_t module;
	enum function_source source;
	bool is_exported;
};

struct module_of {
	struct str path; /* as the process has it */
	uint64_t build;  /* a hash of its build id */
	bool is_main, is_stripped;
	bool is_go; /* moves and walks its own stacks: return addresses must stay as they are */
	uint16_t machine;   /* as ELF numbers them */
	uint32_t first, nr; /* its functions */
	uint64_t device, inode;
	struct function_image *image;
};

/* A name by which a function may be asked for. */
struct function_alias {
	struct str name;
	uint32_t function;
	uint32_t
		next; /* 1 + position of another with the same hash, of a later function; 0: none */
};

/* Zero is empty. */
struct functions {
	struct arena arena;
	VEC(struct module_of) modules; /* of a process, the program itself first */
	VEC(struct function_of) v;     /* by module, then address */
	VEC(struct function_alias) aliases;
	struct map by_name;     /* 1 + position of the alias, by hash of the name */
	uint64_t nr_unread;     /* files that could not be read */
	uint64_t nr_told;       /* functions whose names are likely, not certain */
	size_t disassembler[2]; /* made when it is needed, for 64 and 32 bits */
};

/* All modules that the process maps as code, below the root that it sees. Asked again, of the same
 * process or of others, it adds those that are new; numbers stay. */
int functions_of_process(struct functions *f, int pid, struct error *err);
int functions_of_file(struct functions *f, const char *path, struct error *err);
/* An ELF file in memory that stays where it is. */
int functions_of_bytes(struct functions *f, struct str bytes, const char *path, struct error *err);
void functions_done(struct functions *f);

/* Numbers of all functions of that name, rising, at most max; how many were given. The name is
 * folded, plain or mangled; "module!name" is of one module ("libc.so.6" or "libc"). */
size_t functions_find(const struct functions *f, struct str name, uint32_t *out, size_t max);
/* Up to max names that are nearest to this one, the nearest first. */
size_t functions_near(const struct functions *f, struct str name, struct str *out, size_t max);
/* "no function 'proces_order'; did you mean process_order or process_orders?" */
int functions_missing(const struct functions *f, struct str name, struct error *err);
/* The function that holds the address, or UINT32_MAX. */
uint32_t functions_at(const struct functions *f, uint32_t module, uint64_t address);

/* Functions that this one calls directly or jumps to as a tail, through the PLT as well;
 * is_indirect when it calls by pointer, too. Numbers rise, in the arena's memory until
 * functions_done. */
struct callees {
	uint32_t *v;
	size_t nr;
	bool is_indirect;
};
/* -ENOTSUP where instructions of that machine cannot be read. */
int functions_callees(struct functions *f, uint32_t function, struct callees *out,
		      struct error *err);
/* Functions of the same module that call this one directly, at most max; how many were given. */
size_t functions_callers(struct functions *f, uint32_t function, uint32_t *out, size_t max);

#endif
