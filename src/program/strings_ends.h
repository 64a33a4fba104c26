/* Finds where strings begin and end that have no end of their own, by who uses them. */
#ifndef CULPRIT_PROGRAM_STRINGS_ENDS_H
#define CULPRIT_PROGRAM_STRINGS_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct elf;
struct losses;
struct strings_sink;

/*
 * Of Go and Rust: what data points to with a length behind the pointer, what code loads the address
 * of with a length close by, and what Rust keeps ready for formatting. Of other programs: the ends
 * of strings that code refers to.
 */
void strings_without_ends(const struct elf *e, const struct strings_sink *to,
			  struct losses *losses);

/* What Rust formats by, at these addresses; where none are known, wherever it stands. */
void strings_of_templates(const struct elf *e, const uint64_t *starts, size_t nr,
			  const struct strings_sink *to, struct losses *losses);

#endif
