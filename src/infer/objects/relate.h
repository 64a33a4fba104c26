/* How kinds of things relate: 1:1, 1:n or m:n, by which things lines name together, with what
 * speaks for it and what against. */
#ifndef CULPRIT_INFER_OBJECTS_RELATE_H
#define CULPRIT_INFER_OBJECTS_RELATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/object.h"

struct census;
struct shelf;

/* Two things that lines of one template name together. */
struct pair {
	uint32_t child, parent;
	uint32_t template;
	uint32_t nr_notes;
	uint64_t count;
	int64_t first_ns;
};

struct belongs {
	uint32_t child, parent;
};

/* Whether each of a kind belongs to one thing of another kind. */
struct function {
	bool holds;
	bool is_loose;       /* holds for nine lines in ten */
	uint64_t lines;      /* that name both */
	uint64_t exceptions; /* of them, that speak against it */
	uint32_t nr_children, nr_parents;
	uint32_t nr_late;    /* children seen clearly before their parent */
	uint64_t nr_again;   /* times that a child was seen again with its parent */
	uint32_t begin, end; /* in relating.belongs, by child */
};

/* Two kinds of which lines name things together; a < b. */
struct tie {
	uint32_t a, b;
	struct function a_of_b,
		b_of_a; /* the one a that each b has, and the one b that each a has */
	uint32_t nr_templates;
	uint32_t templates[4]; /* some of those that name both, those with the most lines */
	uint64_t template_lines[4];
	bool is_within;   /* one's scope is the other */
	bool is_embedded; /* known from the numbers in the names: one's begin with the other's */
	bool is_alias;    /* the same numbers: two names of one thing */
	bool is_equal;    /* lines name the same number under both keys */
	bool is_near;     /* from lines next to each other */
	uint32_t above;   /* is_embedded, is_near: the kind that the other's belong to */
};

struct relating {
	VEC(struct tie) ties;        /* by a, then b */
	VEC(struct tie) shown;       /* the same, as lines alone tell it */
	VEC(struct belongs) belongs; /* on the shelf */
	struct shelf *shelf;
};

/* From lines, paths and scopes. What was told before of kinds that are settled since is taken from
 * there, and all kinds are settled then; before: what it made earlier, or NULL. */
void relate_make(struct relating *r, struct census *w, const struct relating *before);
void relate_done(struct relating *r);

/* The tie of two kinds, or NULL. */
struct tie *relate_find(const struct relating *r, uint32_t kind, uint32_t other);
enum relation relate_kind(const struct tie *t);
/* The thing of the kind that this child belongs to, or UINT32_MAX. */
uint32_t relate_parent(const struct relating *r, const struct function *f, uint32_t child);

/* Adds a tie, or makes the one that there is say so, too: each child of one kind belongs to the
 * parent of another that is given, whatever lines say; by child. */
void relate_tell(struct relating *r, const struct census *w, const struct belongs *v, size_t nr,
		 struct tie how);

/* For relate_make: tests one direction. Sorts the pairs; by_parent: they stand in the order of
 * their parents already. */
void function_test(struct function *f, struct relating *r, const struct census *w,
		   struct pair *pairs, size_t nr, bool by_parent);
/* The same of pairs that stand in the order of children, then parents. */
void function_weigh(struct function *f, struct relating *r, const struct census *w,
		    const struct pair *pairs, size_t nr);

#endif
