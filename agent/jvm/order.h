/*
 * What who watches wants to be woven: all of it, as an order file says (docs/jvm.md), and which
 * classes and methods are meant.
 */
#ifndef CULPRIT_AGENT_JVM_ORDER_H
#define CULPRIT_AGENT_JVM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct class;
struct error;
struct member;

enum wanted_moment {
	WANTED_ENTRY,
	WANTED_EXIT,
	WANTED_EXCEPTION,
	WANTED_LINE,
	WANTED_CALL, /* right before the method calls another one that has no arguments */
};

/* What is done there. */
enum wanted_action {
	WANTED_ADVISE,  /* advice runs */
	WANTED_KEEP,    /* an object gets what the thread carries */
	WANTED_OWN,     /* the same, and what queues tell of it is passed over */
	WANTED_TAKE,    /* the thread carries what an object got, and nothing else */
	WANTED_SWAP,    /* the same, until … */
	WANTED_BACK,    /* … it carries again what it did before */
	WANTED_DROP,    /* the thread carries nothing any more */
	WANTED_JOIN,    /* the thread carries what an object got as well */
	WANTED_PUT,     /* a message gets what the thread carries, or another object has got */
	WANTED_FILL,    /* the same, of a message that was made just now: nobody else has it */
	WANTED_REPLY,   /* the same, of an answer to who goes on with what it has asked with: what
			   that was is not told again */
	WANTED_FROM,    /* the thread carries what came with a message, and nothing else */
	WANTED_SERVE,   /* the same, of a message that is answered by WANTED_REPLY */
	WANTED_ADD,     /* … as well */
	WANTED_PASS,    /* an object gets what came with a message, as of WANTED_SERVE */
	WANTED_SEND,    /* the headers of an object get what the thread carries */
	WANTED_RECEIVE, /* the thread carries what came with headers, and nothing else */
	WANTED_ACCEPT,  /* … as well */
	WANTED_ANSWER,  /* as WANTED_SEND, where the headers of another object had something */
	WANTED_MORE,    /* as WANTED_KEEP, beside what the object has */
	WANTED_WITH,    /* as WANTED_JOIN, until WANTED_BACK */
	WANTED_EITHER,  /* as WANTED_JOIN of the first of two objects that has something */
	WANTED_GATHER,  /* an object gets what others have got as well */
	WANTED_FIRST,   /* … what the first of an array that was noted, and has something, got */
	WANTED_NOTE,    /* until WANTED_BACK one or two objects are known, for … */
	WANTED_NOTED,   /* … WANTED_JOIN of both, unless something is there */
	WANTED_QUEUE,   /* as WANTED_KEEP, of what is put into a queue */
	WANTED_NEXT,    /* … and is taken out of it */
	WANTED_IDLE,    /* … unless it is null: the thread has nothing to do */
	WANTED_DRAIN,   /* … and all of a collection are taken out at once */
	WANTED_LEAVE,   /* the thread carries nothing */
	WANTED_BESIDE,  /* as WANTED_SEND, where the program has set such a header itself */
	WANTED_BEAR,    /* a process gets what the thread carries, by its environment */
	WANTED_MOUNT,   /* the thread is a virtual one, until … */
	WANTED_YIELD,   /* … that has to wait, … */
	WANTED_UNMOUNT, /* … or runs no further here */
	WANTED_END,     /* … and it is over */
	WANTED_ACTIONS,
	/* of our own: a call is entered, or left, whose time is asked for */
	WANTED_CLOCK_ON = WANTED_ACTIONS,
	WANTED_CLOCK_OFF,
	/* calls are told: one is entered, left, or left by an exception */
	WANTED_TIME,
	WANTED_TIME_OFF,
	WANTED_TIME_THROWN,
};

/* Of WANTED_TIME. */
#define WANTED_MARK 1u      /* a mark when it is entered */
#define WANTED_UNIT 2u      /* counted as a piece of work */
#define WANTED_MARK_EXIT 4u /* a mark when it is left */
#define WANTED_LONG 8u      /* told only when it took so long that it may have waited */
#define WANTED_AMOUNT 16u   /* the value at the exit is an amount, otherwise it names something */
#define WANTED_FLAGS 31u

#define WANTED_OPERANDS 2

struct wanted_export {
	uint8_t number;
	struct str path;
};

/* One line of it, with its exports. */
struct wanted {
	uint64_t hash; /* of all that is said of it */
	enum wanted_action action;
	enum wanted_moment moment;
	uint16_t line;
	uint32_t function;
	uint8_t flags;
	struct str class;          /* with dots; may have stars; … */
	bool has_subtypes;         /* … and a plus behind it */
	_Atomic bool is_interface; /* found out later: those that implement it are meant; … */
	_Atomic bool is_noted;     /* … it has been, of the classes that were there */
	_Atomic bool is_left;      /* it is passed too often: nothing is woven for it any more */
	struct str method, types;
	struct str class_annotation, method_annotation; /* that it must have, or empty */
	struct str call;                                /* WANTED_CALL: class.method */
	/* Paths; of WANTED_TIME the value of the mark at the entry, and of that at the exit. */
	struct str operands[WANTED_OPERANDS];
	struct wanted_export *exports;
	size_t nr_exports;
};

/* Which methods there are: asked, not woven. */
struct wanted_look {
	uint32_t number;
	struct wanted of; /* class, method */
};

#define ORDER_NONE UINT32_MAX

struct order {
	struct arena arena;
	int nr_users;
	struct str answer; /* a path */
	uint64_t region;
	bool is_another; /* of another session than the one before */
	VEC(struct wanted) v;
	VEC(struct str) loads; /* classes of the machine itself that are to be there first */
	VEC(struct str) mutes; /* classes whose objects tell nothing where they lie in queues */
	VEC(struct wanted_look) looks;
	uint32_t pauses; /* the function that pauses are told by, or ORDER_NONE; … */
	uint32_t locks;  /* … and waits for monitors */
};

/* text: of the whole file. Borrows nothing. */
int order_read(struct order *o, struct str text, struct error *err);
void order_done(struct order *o);

#define WANTED_RANKS 3
/* Of several in one place those of a lower rank come first: what a thread is to carry is there
 * before advice runs, and what advice packs is there before it is handed on. */
unsigned wanted_rank(const struct wanted *w);

/* A star is any text. */
bool wanted_matches(struct str pattern, struct str text);
/* name: with dots. Supertypes are the caller's to ask for. */
bool wanted_is_named(const struct wanted *w, struct str name);
const char *wanted_moment_name(enum wanted_moment m);
const char *wanted_action_name(enum wanted_action a);
bool wanted_has_method(const struct wanted *w, const struct member *m);
/* Whether class and method have the annotations that are wanted of them. */
bool wanted_has_annotations(const struct wanted *w, const struct class *c, const struct member *m);
/* Whether an instruction that calls this is meant: owner with slashes. */
bool wanted_has_call(const struct wanted *w, struct str owner, struct str name);

#endif
