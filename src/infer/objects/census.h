/* What the steps from mentions to objects hand on: kinds of identifiers, the things that they
 * name, and which line names which. */
#ifndef CULPRIT_INFER_OBJECTS_CENSUS_H
#define CULPRIT_INFER_OBJECTS_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/names.h"
#include "base/shelf.h"
#include "base/vec.h"

struct kept;
struct losses;
struct shelf;
struct note;
struct told;
struct told_id;

/* How identifiers of a kind look; several may hold. */
enum {
	KIND_NUMBER = 1,  /* digits: means something within a scope */
	KIND_SMALL = 2,   /* and all of them below 10000 */
	KIND_WORD = 4,    /* letters only */
	KIND_ADDRESS = 8, /* of a host, with or without a port */
	KIND_BRIEF = 16,  /* an address that is used for a short time: a connection */
	KIND_PATH = 32,   /* of a file or the like */
	KIND_RANDOM =
		64, /* hexadecimal: equal values are the same thing whatever they are called */
	KIND_THREAD = 128,  /* stands in names of threads nearly always */
	KIND_LOG = 256,     /* who writes a log, by the log's name */
	KIND_FOLDER = 1024, /* seen in paths only, each value in several */
	KIND_DOTTED = 512,  /* 0 and 0.1 are both seen: what follows the point is a version */
};

/* Why a kind is no kind of object. */
enum fate {
	FATE_KEPT,
	FATE_RARE,     /* too few lines or values to tell */
	FATE_ONCE,     /* values hardly ever come back: an amount, a time */
	FATE_NO_ORDER, /* numbers that are not given out one after the other */
	FATE_ALONE,    /* values seen by one statement only */
	FATE_STATE,    /* words that a thing goes through */
	FATE_POOL,     /* threads of a pool */
	FATE_OUTER,    /* a path or name that is known by what it contains */
	FATE_PART,     /* seen only as a part of paths and longer names */
	FATE_MERGED,   /* another kind stands for it */
	FATE_COMBINED, /* tells things apart only together with another, a kind of its own */
};

struct kind {
	uint64_t id;            /* the same at each settling; see kind_made_of */
	struct str name, shown; /* for people, and as lines show it */
	unsigned traits;
	enum fate fate;
	sym_t elder;       /* shown as this, it tells whose child another of the kind is; or 0 */
	uint32_t into;     /* FATE_MERGED: the kind that stands for it */
	uint32_t scope;    /* 1 + the kind within which its values mean something */
	bool is_of_writer; /* the scope is who writes the log */
	bool is_called_id; /* what stands in front of its values says that they name something */
	bool is_family;    /* its names differ in the letters in front */
	bool zero_is_none; /* its number 0 stands where there is none */
	bool is_settled;   /* nothing about its things changed since it was related to others */
	uint64_t lines;    /* that name one of it */
	uint32_t nr_values, nr_templates;
	uint32_t nr_things;
	uint32_t version_of; /* 1 + the kind whose values these are with one more number at the end
			      */
};

/* What an identifier stands for. */
struct thing {
	uint32_t kind;
	sym_t value;    /* of told.values */
	uint32_t scope; /* 1 + the thing within which the value is meant */
	int64_t first_ns, last_ns;
	uint64_t lines;
	uint32_t life; /* things of the same name that were there before */
};

/* Another name of a thing. */
struct other_name {
	uint32_t thing, alias;
};

struct census {
	struct told *told;
	struct shelf *shelf; /* told's: for all that grows with lines and identifiers */
	struct losses *losses;
	struct arena *arena;          /* of the result */
	VEC(struct told_id) distinct; /* identifiers of told, each once, as they came */
	uint32_t *distinct_of;        /* by identifier of told: its number there */
	uint32_t *latest_of;          /* by value: 1 + the latest of distinct that has it */
	VEC(uint32_t) earlier;        /* by distinct: 1 + the one of the same value before it */
	uint32_t nr_values;           /* that latest_of knows; later ones are no identifiers */
	VEC(struct kind) kinds;
	uint32_t *kind_of; /* of told.shown, by how the value looks: see census_kind */
	VEC(struct thing) things;
	struct map thing_at;
	VEC(uint32_t) named;    /* things, line by line */
	VEC(uint32_t) named_at; /* of each note: where its things begin; one more */
	VEC(uint32_t) path;     /* things that the path of a log names, log by log */
	VEC(uint32_t) path_at;  /* the same for logs */
	VEC(uint32_t) writers;  /* of each log: the thing that writes it */
	VEC(struct other_name) aliases;
	struct map same;  /* (kind, value): 1 + (kind, value) that it is another spelling of */
	VEC(sym_t) logs;  /* files, in the order in which they came */
	uint32_t *log_of; /* by sym of the file: its number there */
	uint64_t nr_lines;
	int64_t first_ns, last_ns; /* of all lines */
	struct kept *kept;         /* what the last settling found; NULL: nothing is kept */
	uint32_t nr_related;       /* times that kinds were related, in this settling */
	bool is_small; /* so few lines that each of them counts: nothing is taken as noise */
};

void census_init(struct census *w, struct told *t, struct arena *a, struct losses *losses);
void census_done(struct census *w);

/* The kind of an identifier: one key may have numbers and words that have nothing in common. */
uint32_t census_kind(const struct census *w, const struct told_id *id);
void census_set_kind(struct census *w, const struct told_id *id, uint32_t kind);
/* Whether none of the distinct before it has the same value and kind. To be asked of all of them in
 * their order, with one table that is empty at first. */
bool census_is_first(const struct census *w, size_t distinct, struct map *many);
/* Whether an identifier of that kind has the value. */
bool census_has(const struct census *w, uint32_t kind, sym_t value);
/* The thing of that kind, made on first sight. scope: 0, or 1 + a thing. */
uint32_t census_thing(struct census *w, uint32_t kind, sym_t value, uint32_t scope);
/* "17", or "17#2" for the second of that name; in the arena. */
struct str census_name(const struct census *w, uint32_t thing, struct arena *a);
/* Widens the life of the thing by the lines of a note. */
void census_lives(struct census *w, uint32_t thing, const struct note *n);
/* How many things each kind has. */
void census_count(struct census *w);

/* In a loop that asks for things or notes at random: keeps the memory within its bound, now and
 * then. A page that is read from the file comes with up to fifteen others, so that so many steps
 * may bring 32 MB for each array that they ask. */
enum { LOOK_STEPS = 512 };

static inline void census_look_at(struct shelf *shelf, size_t step)
{
	if (step % LOOK_STEPS == LOOK_STEPS - 1)
		shelf_look(shelf);
}

static inline void census_look(const struct census *w, size_t step)
{
	census_look_at(w->shelf, step);
}

/* Number of the log of a note. */
static inline uint32_t census_log(const struct census *w, sym_t file)
{
	return w->log_of[file];
}

/* Things of a kind that got a scope are not used any more without one. */
static inline bool thing_is_used(const struct census *w, const struct thing *t)
{
	return t->lines && (t->scope || !w->kinds.v[t->kind].scope);
}

/* The id of a kind that is made of another one, and of a scope or 0. */
static inline uint64_t kind_made_of(uint64_t id, uint64_t scope)
{
	return (id ^ (scope + 1) * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
}

static inline bool kind_is_kept(const struct kind *k)
{
	return k->fate == FATE_KEPT;
}

#endif
