/* A Java class with instructions put into its methods: where they begin, where they end, where
 * something is thrown out of them, and where lines begin. */
#ifndef CULPRIT_PROGRAM_REWRITE_REWRITE_H
#define CULPRIT_PROGRAM_REWRITE_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct class;
struct error;

/* Constants that are added to those of the class. Zero but for class is a class as it is. */
struct rewrite {
	const struct class *class;
	struct buf constants;
	uint32_t nr; /* of them */
};

void rewrite_done(struct rewrite *r);
/* Numbers of constants, which are made; 0 when the class can have no more. */
uint16_t rewrite_utf8(struct rewrite *r, struct str text);
uint16_t rewrite_class_named(struct rewrite *r, struct str name);
uint16_t rewrite_integer(struct rewrite *r, int32_t number);
uint16_t rewrite_method(struct rewrite *r, struct str owner, struct str name, struct str type);

enum rewrite_where {
	REWRITE_ENTRY, /* jumps to the beginning pass it by */
	REWRITE_EXIT,  /* before each return; what is returned is on the stack */
	REWRITE_THROW, /* what is thrown is on the stack, and is thrown on; not of constructors */
	REWRITE_LINE,  /* whenever the line is reached */
};

/* Instructions without branches that leave the stack as they found it, and so the locals. */
struct rewrite_put {
	uint16_t method; /* of class.methods */
	enum rewrite_where where;
	uint16_t line;
	struct str code;
	uint16_t stack;      /* the most words that it has on the stack besides what was there */
	const char *refused; /* why it was left out, else NULL */
};

/* Appends the class to *out. Methods that cannot hold all that is put into them are left as they
 * are, with a reason in each of the puts; those of one method are in the order in which they run.
 */
int rewrite_write(struct rewrite *r, struct rewrite_put *puts, size_t nr, struct buf *out,
		  struct error *err);

#endif
