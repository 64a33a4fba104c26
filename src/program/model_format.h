/* How a model file is laid out: sections of records of 32-bit words, which refer to each other by
 * number. */
#ifndef CULPRIT_PROGRAM_MODEL_FORMAT_H
#define CULPRIT_PROGRAM_MODEL_FORMAT_H

#include <stdint.h>

#include "base/str.h"

/*
 *	head | section | section | …
 *
 * Everything is a multiple of eight bytes from the beginning, so that a file can be used as it
 * lies in memory. The sum is taken over all that follows it.
 */
#define MODEL_MAGIC "CULPRITM"
#define MODEL_VERSION 1
#define MODEL_ORDER 0x01020304U /* reads differently on a machine of the other byte order */
#define MODEL_NONE UINT32_MAX

/* X(id, words of a record) */
#define MODEL_SECTIONS(X) \
	X(SECTION_TEXT, 0)     /* the bytes of all strings */ \
	X(SECTION_STRINGS, 1)  /* where each string begins; one more at the end */ \
	X(SECTION_COUNTS, 2)   /* enum model_count, low and high word */ \
	X(SECTION_LOSSES, 3)   /* struct disk_loss */ \
	X(SECTION_INPUTS, 4)   /* struct disk_input */ \
	X(SECTION_METHODS, 5)  /* struct disk_method */ \
	X(SECTION_POINTS, 10)  /* struct disk_point */ \
	X(SECTION_VERSIONS, 5) /* struct disk_version */ \
	X(SECTION_PARTS, 3)    /* struct disk_part */ \
	X(SECTION_TOPS, 11)    /* struct disk_top */ \
	X(SECTION_IDS, 3)      /* struct disk_id */ \
	X(SECTION_NODES, 5)    /* struct disk_node */ \
	X(SECTION_PAIRS, 8)    /* struct disk_pair */ \
	X(SECTION_SHARED, 2)   /* struct disk_shared */ \
	X(SECTION_NAMES, 6)    /* struct disk_name: of threads */ \
	X(SECTION_LITERALS, 2) /* struct disk_literal */ \
	X(SECTION_LOGGERS, 3)  /* struct disk_logger */ \
	X(SECTION_PLACES, 3)   /* struct disk_place */ \
	X(SECTION_POINT_LISTS, 1) \
	X(SECTION_TOP_LISTS, 1) \
	X(SECTION_NODE_LISTS, 1) \
	X(SECTION_PAIR_LISTS, 1)

enum model_section {
#define SECTION_ENUM(id, words) id,
	MODEL_SECTIONS(SECTION_ENUM)
#undef SECTION_ENUM
		SECTION_NR
};

struct disk_section {
	uint64_t offset, nr; /* nr of records, or of bytes for SECTION_TEXT */
};

struct disk_head {
	char magic[8];
	uint32_t version, order;
	uint64_t sum;   /* of everything behind it */
	uint64_t bytes; /* of the whole file */
	struct disk_section sections[SECTION_NR];
};

/* Strings, methods, … are numbers of records; ranges are a first record and how many. */
struct disk_range {
	uint32_t first, nr;
};

struct disk_loss {
	uint32_t name, low, high;
};

struct disk_input {
	uint32_t name, nr_classes, low, high; /* bytes */
};

struct disk_method {
	uint32_t class, name, type, file;
	uint32_t top; /* or MODEL_NONE */
};

enum disk_point_flag {
	POINT_HAS_ERROR = 1,
	POINT_IS_HANDED = 2,
	POINT_IS_EXCEPTIONAL = 4,
	POINT_HAS_ID = 8,
	POINT_HAS_VALUE = 64, /* any hole */
	POINT_IS_COMMON = 32, /* belongs to no top: code that much of all work passes through */
	POINT_ANY_BELOW = 16, /* the logger may be named after a class below */
};

struct disk_point {
	uint32_t method, line, level, flags;
	uint32_t logger, pc;
	struct disk_range versions;
	struct disk_range tops; /* of SECTION_TOP_LISTS */
};

struct disk_version {
	uint32_t point;
	struct disk_range parts;
	uint32_t letters;
	uint32_t literal; /* its longest constant part, or MODEL_NONE */
};

enum disk_part_flag {
	PART_KIND_MASK = 0xf,
	PART_TYPE_SHIFT = 4, /* four bits */
	PART_IS_ID = 0x100,
};

struct disk_part {
	uint32_t flags;
	uint32_t text, path; /* strings */
};

struct disk_top {
	uint32_t method, flags; /* enum top_why, and TOP_MAY_BE_SILENT */
	uint32_t total;
	struct disk_range ids, nodes;
	struct disk_range points; /* of SECTION_POINT_LISTS */
	struct disk_range pairs;  /* of SECTION_PAIR_LISTS: those that lead to it or away */
};

enum { TOP_WHY_MASK = 0xff, TOP_MAY_BE_SILENT = 0x100 };

struct disk_id {
	uint32_t path, name, count;
};

enum disk_node_flag {
	NODE_IS_REPEATED = 1,
	NODE_IS_EXCEPTIONAL = 2,
	NODE_IS_FIRST = 4,
	NODE_IS_LAST = 8,
};

struct disk_node {
	uint32_t flags;
	struct disk_range points; /* of SECTION_POINT_LISTS */
	struct disk_range next;   /* of SECTION_NODE_LISTS: how far ahead each is */
};

struct disk_pair {
	uint32_t from, to; /* methods */
	uint32_t flags;    /* enum pair_kind and enum disk_pair_flag */
	uint32_t where, line;
	uint32_t through; /* string */
	struct disk_range shared;
};

enum disk_pair_flag {
	PAIR_KIND_MASK = 0xff,
	PAIR_TO_MANY = 0x100,
	PAIR_FROM_LINK = 0x200,
	PAIR_TO_LINK = 0x400,
};

struct disk_shared {
	uint32_t from, to; /* strings */
};

/* A name that a thread is given; its versions are of no point. */
struct disk_name {
	uint32_t method, runs, line, is_own; /* runs: a method or MODEL_NONE */
	struct disk_range versions;
};

/* In the order of the text: equal ones stand together. */
struct disk_literal {
	uint32_t text, version;
};

/* In the order of model_ending_cmp. */
struct disk_logger {
	uint32_t name;
	struct disk_range points; /* of SECTION_POINT_LISTS */
};

/* In the order of file and line. */
struct disk_place {
	uint32_t file, line, point;
};

/* The order of names read backwards, dots first: those with one ending stand together. */
int model_ending_cmp(struct str a, struct str b);

#endif
