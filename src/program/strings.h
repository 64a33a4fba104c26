/* The constant strings of a program file, whatever the program is written in: what it may print. */
#ifndef CULPRIT_PROGRAM_STRINGS_H
#define CULPRIT_PROGRAM_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct losses;

/*
 * A string that formats something is given with a byte for each place where a value goes. The
 * pieces between are constants of their own. No text holds these bytes otherwise.
 */
enum string_hole {
	STRING_ANY = 1, /* also what a recipe of makeConcatWithConstants has */
	STRING_INTEGER = 2,
	STRING_HEX = 3,
	STRING_DECIMAL = 4,
	STRING_CHAR = 5,
};

enum {
	STRING_MIN = 3, /* programs hold nearly all texts that are shorter */
	STRING_MAX = 4096,
};

static inline bool string_is_hole(char c)
{
	return c >= STRING_ANY && c <= STRING_CHAR;
}

/* Takes one string: a line of text that has a letter, of a length within the bounds above. The
 * same may come many times. */
struct strings_sink {
	void (*add)(void *ctx, struct str s);
	void *ctx;
};

/*
 * All strings of an ELF file, a class file, a jar or war or a folder of those, a Python source or
 * its compiled form; of any other file the runs of printable bytes. What is damaged or too large is
 * counted. 0, or negative failure when the file cannot be read.
 */
int strings_read(const char *path, const struct strings_sink *to, struct losses *losses,
		 struct error *err);

/* The same for the bytes of one file that is no jar. */
void strings_of_bytes(struct str bytes, struct str name, const struct strings_sink *to,
		      struct losses *losses);

#endif
