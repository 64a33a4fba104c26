/* The only place that speaks to the user on standard error. */
#ifndef CULPRIT_CLI_SAY_H
#define CULPRIT_CLI_SAY_H

/* "culprit: …" on one line; control characters in it are made visible. */
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
