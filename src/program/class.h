/* A Java class file as it lies in memory: its constants, its fields and methods, their attributes.
 */
#ifndef CULPRIT_PROGRAM_CLASS_H
#define CULPRIT_PROGRAM_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct error;

enum constant_tag {
	CONSTANT_NONE = 0, /* index 0, and the second half of a long or double */
	CONSTANT_UTF8 = 1,
	CONSTANT_INTEGER = 3,
	CONSTANT_FLOAT = 4,
	CONSTANT_LONG = 5,
	CONSTANT_DOUBLE = 6,
	CONSTANT_CLASS = 7,
	CONSTANT_STRING = 8,
	CONSTANT_FIELD = 9,
	CONSTANT_METHOD = 10,
	CONSTANT_INTERFACE_METHOD = 11,
	CONSTANT_NAME_AND_TYPE = 12,
	CONSTANT_HANDLE = 15,
	CONSTANT_METHOD_TYPE = 16,
	CONSTANT_DYNAMIC = 17,
	CONSTANT_INVOKE_DYNAMIC = 18,
	CONSTANT_MODULE = 19,
	CONSTANT_PACKAGE = 20,
};

enum access {
	ACCESS_PUBLIC = 0x0001,
	ACCESS_PRIVATE = 0x0002,
	ACCESS_STATIC = 0x0008,
	ACCESS_FINAL = 0x0010,
	ACCESS_SYNCHRONIZED = 0x0020, /* of a method */
	ACCESS_BRIDGE = 0x0040,       /* of a method */
	ACCESS_NATIVE = 0x0100,
	ACCESS_INTERFACE = 0x0200,
	ACCESS_ABSTRACT = 0x0400,
	ACCESS_SYNTHETIC = 0x1000,
	ACCESS_ENUM = 0x4000,
	ACCESS_MODULE = 0x8000,
};

/* What a FIELD, METHOD, INTERFACE_METHOD, DYNAMIC or INVOKE_DYNAMIC constant names. */
struct member_ref {
	struct str owner; /* internal name, a/b/C; empty for the dynamic kinds */
	struct str name;
	struct str type;    /* descriptor */
	uint16_t bootstrap; /* of the dynamic kinds: index into the bootstrap methods */
};

/* A HANDLE constant. */
struct handle_ref {
	uint8_t kind; /* 1..9 as the format has them; 5..9 invoke */
	struct member_ref member;
};

struct bootstrap {
	uint16_t handle; /* constant */
	uint16_t nr;
	uint16_t *args; /* constants */
};

struct line {
	uint16_t pc, line;
};

/* [from, to) is guarded: what is thrown there goes to handler. */
struct guard {
	uint16_t from, to, handler;
	uint16_t type; /* constant; 0 for anything */
};

struct code {
	uint16_t max_stack, max_locals;
	struct str bytes;
	struct guard *guards;
	uint16_t nr_guards;
	struct line *lines; /* in the order of pc */
	uint32_t nr_lines;
	struct str frames; /* the StackMapTable, raw */
};

/* A field or a method. */
struct member {
	uint16_t access;
	struct str name, type;
	struct str signature;   /* generic, empty if there is none */
	uint16_t constant;      /* of a field: its ConstantValue, 0 for none */
	struct code *code;      /* of a method, NULL for abstract and native ones */
	struct str annotations; /* annotation.h */
	uint16_t *throws;       /* constants */
	uint16_t nr_throws;
};

struct inner {
	struct str inner, outer, name; /* outer and name may be empty */
	uint16_t access;
};

struct class
{
	struct str bytes; /* borrowed for as long as the class lives */
	uint16_t minor, major, access;
	uint16_t nr_constants;
	uint32_t *constants;    /* where each begins in bytes, 0 for none */
	uint32_t constants_end; /* where the last one ends */
	struct str name, super; /* internal names; super is empty for Object and modules */
	struct str *interfaces;
	uint16_t nr_interfaces;
	struct member *fields, *methods;
	uint16_t nr_fields, nr_methods;
	struct bootstrap *bootstraps;
	uint16_t nr_bootstraps;
	struct inner *inners;
	uint16_t nr_inners;
	struct str source, signature;
	struct str annotations;  /* annotation.h */
	struct str outer_class;  /* EnclosingMethod, may be empty */
	struct str outer_method; /* its name, may be empty */
	bool is_record;
	uint32_t nr_damaged; /* attributes that could not be read; the rest is used */
};

/*
 * Reads a class; what it needs to keep goes into the arena, strings stay in the bytes. 0, or
 * negative failure when the frame of the file itself is broken.
 */
int class_read(struct class *c, struct str bytes, struct arena *a, struct error *err);

enum constant_tag class_tag(const struct class *c, uint16_t constant);
/* These answer with an empty string, zero or false where the constant is not of that kind. */
struct str class_utf8(const struct class *c, uint16_t constant);
/* The name of a CLASS, MODULE or PACKAGE, the text of a STRING, the type of a METHOD_TYPE. */
struct str class_named(const struct class *c, uint16_t constant);
bool class_member(const struct class *c, uint16_t constant, struct member_ref *m);
/* Fills name and type only. */
bool class_name_and_type(const struct class *c, uint16_t constant, struct member_ref *m);
bool class_handle(const struct class *c, uint16_t constant, struct handle_ref *h);
/* INTEGER, LONG, and the bits of FLOAT and DOUBLE. */
bool class_number(const struct class *c, uint16_t constant, int64_t *bits);
/* The line of the instruction, 0 if unknown. */
uint16_t code_line(const struct code *code, uint32_t pc);

#endif
