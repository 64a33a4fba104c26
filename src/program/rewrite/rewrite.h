/* A Java class with instructions put into its methods: where they begin, where they end, where
 * something is thrown out of them, where lines begin, and around calls in them. */
#ifndef CULPRIT_PROGRAM_REWRITE_REWRITE_H
#define CULPRIT_PROGRAM_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct class;
struct code;
struct error;
struct member;

#define REWRITE_RECENT 64

/* Constants that are added to those of the class. Zero but for class is a class as it is. */
struct rewrite {
	const struct class *class;
	struct buf constants;
	uint32_t nr; /* of them */
	/* some of them, by their hash: those that are wanted again are mostly there */
	struct {
		uint32_t at, bytes; /* of constants */
		uint16_t number;
	} recent[REWRITE_RECENT];
};

void rewrite_done(struct rewrite *r);
/* Numbers of constants, which are made; 0 when the class can have no more. */
uint16_t rewrite_utf8(struct rewrite *r, struct str text);
uint16_t rewrite_class_named(struct rewrite *r, struct str name);
uint16_t rewrite_integer(struct rewrite *r, int32_t number);
uint16_t rewrite_method(struct rewrite *r, struct str owner, struct str name, struct str type);
/* Appends the instruction that pushes the number; false when a constant for it has no room. */
bool rewrite_push(struct rewrite *r, struct buf *code, int32_t number);

enum rewrite_where {
	REWRITE_ENTRY,       /* jumps to the beginning pass it by */
	REWRITE_EXIT,        /* before each return; what is returned is on the stack */
	REWRITE_THROW,       /* what is thrown is on the stack, and is thrown on; no constructors */
	REWRITE_LINE,        /* whenever the line is reached */
	REWRITE_BEFORE_CALL, /* receiver and arguments are on the stack */
	REWRITE_AFTER_CALL,  /* the result is on the stack; jumps to what follows pass it by */
};

/* Which calls; what is empty may be anything. Not those of invokedynamic, which have no owner. */
struct rewrite_call {
	struct str owner;
	struct str name; /* empty: any but a constructor, whose receiver is not made yet */
	struct str type;
	bool is_static; /* those without a receiver; else only those with one */
};

/*
 * Instructions without branches that leave the stack as they found it. They may store into locals
 * of their own, which begin at the max_locals of the class as it was read, and find nothing in
 * them; at the entry also into parameters, what is of the type of the parameter.
 *
 * Parameters lie in the first locals, but the method may put other things there, and its frames
 * may forget them: code at a throw, an exit, a line or a call may load only those that
 * rewrite_sees tells of.
 */
struct rewrite_put {
	uint16_t method; /* of class.methods */
	enum rewrite_where where;
	uint16_t line;
	struct rewrite_call call;
	struct str code;
	uint16_t stack;      /* the most words that it has on the stack besides what was there */
	uint16_t locals;     /* words of its own locals */
	const char *refused; /* why it was left out, else NULL */
};

/* Appends the class to *out. Methods that cannot hold all that is put into them are left as they
 * are, with a reason in each of the puts; those of one method are in the order in which they run.
 */
int rewrite_write(struct rewrite *r, struct rewrite_put *puts, size_t nr, struct buf *out,
		  struct error *err);

/* No instruction of the method stores into this word of its locals: it holds what the caller (or
 * what is put at the entry) put there. A long or double lies in two words, both are to be asked. */
bool rewrite_parameter_is_kept(const struct code *code, uint16_t slot);
/* The parameter of this type that begins at slot ('this' is of type L) can be loaded at every
 * return, throw, line and call of the method, and is what was handed over. References can be
 * loaded as of class Object. In a constructor 'this' can be loaded at returns only. */
bool rewrite_sees(const struct member *method, uint16_t slot, char type);

#endif
