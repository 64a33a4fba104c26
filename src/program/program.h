/* A whole program: every class that was given, who extends whom, and where a call may lead. */
#ifndef CULPRIT_PROGRAM_PROGRAM_H
#define CULPRIT_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/vec.h"
#include "program/class.h"

struct error;
struct losses;

#define NO_CLASS UINT32_MAX
#define NO_METHOD UINT32_MAX

/* Classes and methods are numbered across the program, in the order of the input. */
struct program_class {
	struct class c;
	struct str origin; /* "hadoop-hdfs-3.3.6.jar!org/…" */
	sym_t name;
	uint32_t super;  /* NO_CLASS when it is not given */
	uint32_t *above; /* super and interfaces that are given */
	uint32_t *below; /* the classes of which it is above */
	uint32_t nr_above, nr_below;
	uint32_t first_method;
	uint16_t release;
	bool is_made; /* an object of just this class is made somewhere */
};

struct program_method {
	uint32_t class;
	sym_t name, type;
	const struct member *member;
};

struct program {
	struct arena arena;
	struct names names; /* of classes, members and types */
	VEC(struct program_class) classes;
	VEC(struct program_method) methods;
	uint32_t *class_by_name; /* by sym; NO_CLASS for names of no class */
	uint32_t nr_by_name;
	uint32_t *method_slots, nr_method_slots; /* by class, name and type */
	uint32_t nr_containers;
	uint64_t nr_bytes;
	struct arena *loaded; /* where the classes lie, one for each slot of the loader */
	uint32_t nr_loaded;
	unsigned threads; /* that the work on it may use; 0: all cores */
};

/* threads 0: as many as there are cores. The result does not depend on it. */
int program_load(struct program **p, const char *const *paths, size_t nr, unsigned threads,
		 struct losses *losses, struct error *err);
void program_free(struct program *p);

uint32_t program_class(const struct program *p, struct str internal_name);
/* Declared in just this class. */
uint32_t program_declared(const struct program *p, uint32_t class, sym_t name, sym_t type);
/* What a call to it finds: in the class, in those above, in their interfaces. */
uint32_t program_resolve(const struct program *p, uint32_t class, sym_t name, sym_t type);
enum { KIN_MAX = 256 }; /* classes looked at above one: damaged ones may stand in a circle */
/* The class and all that are given above it, each once, supers first; how many. */
uint32_t program_kin(const struct program *p, uint32_t class, uint32_t kin[KIN_MAX]);
/* The same or above. Names of classes that are not given are compared too, as far as they are seen.
 */
bool program_is_a(const struct program *p, uint32_t class, struct str internal_name);

static inline const struct class *program_class_of(const struct program *p, uint32_t method)
{
	return &p->classes.v[p->methods.v[method].class].c;
}

#endif
