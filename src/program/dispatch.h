/* Knows handlers, the constant or the class of event that each is chosen by, and who sends such. */
#ifndef CULPRIT_PROGRAM_DISPATCH_H
#define CULPRIT_PROGRAM_DISPATCH_H

#include "program/scope.h"

/* A method of a generic interface made for one class of events: handle(AppEvent). */
struct typed_handler {
	uint32_t declared; /* as the interface has it: handle(Event) */
	uint32_t event;    /* class */
	uint32_t handler;
	uint16_t argument; /* which one is the event, this included */
};

/* A handler that is registered with a constant of an enumeration. */
struct tie {
	uint32_t constants; /* class */
	struct str constant;
	uint32_t handler; /* NO_METHOD: it is a serializer that was registered */
};

struct dispatch {
	const struct program *program;
	VEC(struct typed_handler) typed; /* by declared, event and handler */
	bool *is_name;                   /* by sym: names of the methods declared */
	VEC(struct tie) ties;            /* by constants, constant and handler */
};

/* Finds the typed handlers; ties are added by who walks over the program. */
void dispatch_init(struct dispatch *d, const struct program *p);
void dispatch_done(struct dispatch *d);

/* The class of the event that a call of a generic interface carries, when there are handlers made
 * for it; NO_CLASS otherwise. *declared is the method called. */
uint32_t dispatch_event(const struct dispatch *d, struct where call, uint32_t *declared);

enum { TIES_MAX = 4 };
/* The ties that a call makes: register(Verb.READ, new ReadHandler()); how many. */
uint32_t dispatch_ties(struct where call, struct arena *a, struct tie *ties);
/* The constant of an enumeration that the value is; false if it is none. */
bool dispatch_constant(struct where w, uint32_t *constants, struct str *constant);
/* Whether handlers are registered with it. */
bool dispatch_is_tied(const struct dispatch *d, uint32_t constants, struct str constant);
void dispatch_sort(struct dispatch *d);

#endif
