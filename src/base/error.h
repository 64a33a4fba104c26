/* Describes a failure once, where it happened, in a sentence that the user can act on. */
#ifndef CULPRIT_BASE_ERROR_H
#define CULPRIT_BASE_ERROR_H

struct error {
	int code; /* a positive errno */
	char msg[512];
};

/* Fills *err (which may be NULL) and returns -code, so that "return error_set(…)" reads well. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts context in front of the message; keeps the code and returns it negated. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
