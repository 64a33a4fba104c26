/* Reads a command's options and inputs from the command line. */
#ifndef CULPRIT_CLI_PARSE_H
#define CULPRIT_CLI_PARSE_H

#include <stdbool.h>

struct call;
struct command;
struct error;

/* Fills *call (free with parse_done); *help is set when help was asked for. */
int parse_call(const struct command *command, int argc, char **argv, struct call *call, bool *help,
	       struct error *err);
void parse_done(struct call *call);
/* A near match among the words given (ends with NULL), or NULL: for "did you mean". */
const char *parse_near(const char *word, const char *const *words);

#endif
