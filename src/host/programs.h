/* The programs of a host that write logs: the files of which each process is made, and the constant
 * strings of all of them. */
#ifndef CULPRIT_HOST_PROGRAMS_H
#define CULPRIT_HOST_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct constants;
struct losses;

/*
 * Every file of the program that a process runs: its executable and libraries; of a JVM the jars,
 * wars and folders of its class path, and those that it has open; of Python the script and all that
 * it imports. Paths can be opened from here also when the process is in a container; each is told
 * once. proc is where the system shows its processes.
 */
void programs_files(const char *proc, pid_t pid, void (*each)(void *ctx, const char *path),
		    void *ctx, struct losses *losses);

/* The strings of the programs of many processes, read when one comes that is not known yet. */
struct programs;

struct programs *programs_new(const char *proc);
void programs_free(struct programs *p);
/* A process that writes a log. Asking again about the same one costs little. */
void programs_add(struct programs *p, pid_t pid, struct losses *losses);
/* Whether files came that the constants do not have yet. */
bool programs_is_new(const struct programs *p);
/* All strings of all files so far; *p keeps them. Those that were given before are no longer valid.
 * NULL when there are none. */
const struct constants *programs_constants(struct programs *p, struct losses *losses);

#endif
