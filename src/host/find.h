/* Finds the logs of a running host: what its processes have open to write to, is text, and is named
 * like a log. */
#ifndef CULPRIT_HOST_FIND_H
#define CULPRIT_HOST_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct find;
struct losses;

struct found_log {
	const char *path; /* to open it */
	const char *name; /* as it is called: its path on the host, or within its container */
	pid_t pid;        /* one that writes it */
};

/* proc is where the system shows its processes; without is a directory whose files are never
 * taken (may be NULL). Both are borrowed. */
struct find *find_new(const char *proc, const char *without);
void find_free(struct find *f);
/* Whether a file holds text, or nothing yet; one that does not is counted once. */
bool find_is_text(struct find *f, const char *path, struct losses *losses);
/* Strings are valid during the call. Files that hold no text are counted once. Each file is told
 * once, by the first process that has it. */
void find_logs(struct find *f, void (*each)(void *ctx, const struct found_log *log), void *ctx,
	       struct losses *losses);

#endif
