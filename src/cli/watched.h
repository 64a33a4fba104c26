/* A command of the user that runs while it is recorded. */
#ifndef CULPRIT_CLI_WATCHED_H
#define CULPRIT_CLI_WATCHED_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

/* Zero is no command. */
struct watched {
	pid_t pid;  /* 0 when none runs */
	int status; /* as waitpid gives it, once it has ended */
	bool has_ended;
};

/* argv ends with NULL. What it prints goes to standard error: the answer has the other for itself.
 */
int watched_start(struct watched *w, char *const *argv, struct error *err);
/* Whether it has ended by itself; false when there is none. */
bool watched_has_ended(struct watched *w);
/* Asks it to end when it still runs, and waits a little; says how it ended when that was no
 * success. */
void watched_end(struct watched *w);

#endif
