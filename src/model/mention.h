/* What lines of one kind named together: what a host sends of its logs, and what objects are
 * inferred from. */
#ifndef CULPRIT_MODEL_MENTION_H
#define CULPRIT_MODEL_MENTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/level.h"

struct arena;

/* Where an identifier stands; several may hold. */
enum {
	NAMED_IN_THREAD = 1, /* in the name of the thread, not in the text */
	NAMED_WITHIN = 2,    /* a part of another identifier of the line (a container in a path) */
	NAMED_IN_LIST = 4,   /* one of several of its type in the line */
	NAMED_NUMBER = 8,    /* digits only: means something within a scope, or is an amount */
	NAMED_WORD = 16,     /* letters only: known by its key */
	NAMED_ID = 32,       /* a number that its key calls an id */
};

/* One identifier of a line. The type is how the text shows it (the schema of constants within, or
 * the word before it): whether two types are one, and whether it is an identifier at all, is
 * decided by the values. */
struct named {
	struct str type;  /* "app_#", "attempt#_m_#", "pid", "ip:port", "path/user" */
	struct str value; /* in one spelling: "app_14", "10.0.0.1:50010" */
	uint32_t place;
};

/* Lines of one log and one template with the same identifiers, one after the other or not. All
 * strings are borrowed. */
struct mention {
	int64_t first_ns, last_ns; /* NS_NONE when nothing tells the time */
	uint64_t count;            /* of lines */
	struct str node, file, thread;
	enum level level;
	uint64_t template;     /* a hash that is the same on all hosts */
	struct str title;      /* the text of the template; may be empty when it was told before */
	const struct named *v; /* in the order of the line */
	size_t nr;
};

/* One more line, seen at that time or at NS_NONE. */
void mention_count(struct mention *m, int64_t ns);
/* With all that it borrows, and no line so far. */
struct mention *mention_copy(const struct mention *m, struct arena *arena);

#endif
