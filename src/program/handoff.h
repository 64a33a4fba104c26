/* Finds where work is handed to another thread: threads started, tasks submitted, callbacks given.
 */
#ifndef CULPRIT_PROGRAM_HANDOFF_H
#define CULPRIT_PROGRAM_HANDOFF_H

#include "program/scope.h"

/* Whether the class names something that hands work over; cheap. */
bool handoff_may_happen(const struct class *c);
/*
 * The method that another thread will run because of this call, or NO_METHOD: x.start(),
 * executor.submit(x), new Thread(x), timer.schedule(x), runAsync(x).
 */
uint32_t handoff_method(struct where call, struct arena *a);
/*
 * Such a method may be inherited, and only call what the class of the object fills in: run() of an
 * abstract task that calls process(). Those methods, as the objects among the arguments have them;
 * how many, at most max.
 */
uint32_t handoff_filled_in(struct where call, uint32_t method, uint32_t *filled, uint32_t max);
/* The parameter of the method around the call that is handed over by it, or -1: who calls the
 * method hands over. */
int handoff_relayed(struct where call);
/* The method that is run when this value is handed over; NO_METHOD when it cannot be run. */
uint32_t handoff_runs(struct where value, struct arena *a);
/* The body of the lambda that the call makes, if it makes one and does not hand it over: it runs
 * here. */
uint32_t handoff_lambda(struct where call, struct arena *a);

#endif
