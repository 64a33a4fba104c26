/* The code behind a functional value: a lambda, a method reference, an object made for its one
 * method. */
#ifndef CULPRIT_PROGRAM_CLOSURE_H
#define CULPRIT_PROGRAM_CLOSURE_H

#include "program/scope.h"

/*
 * The method that runs when the value's method of this name (run, call, apply, get …) is called;
 * NO_METHOD when the value does not tell. *s is its scope, as far as what it captured is known;
 * NULL without code.
 */
uint32_t closure_method(struct where at, struct str name, struct arena *a, const struct scope **s);

#endif
