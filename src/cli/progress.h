/* A bar on standard error for work that takes more than a second; nothing when that is no terminal.
 */
#ifndef CULPRIT_CLI_PROGRESS_H
#define CULPRIT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t done, total; /* bytes; total 0 when unknown */
	int64_t began, drawn;
	bool is_terminal, is_shown;
};

void progress_begin(struct progress *p, const char *what, uint64_t total);
void progress_add(struct progress *p, uint64_t bytes);
/* Whoever shows the progress elsewhere is told it too: what is done, and the share that is, or a
 * negative number. One for the whole program; NULL ends it. */
void progress_watch(void (*told)(void *to, const char *what, double share), void *to);
/* Wipes the bar. */
void progress_end(struct progress *p);

#endif
