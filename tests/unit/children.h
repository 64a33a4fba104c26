/* The processes that a test has made. */
#ifndef CULPRIT_TESTS_UNIT_CHILDREN_H
#define CULPRIT_TESTS_UNIT_CHILDREN_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Whether it has become that program: where a machine has no time for it, it may be between fork
 * and exec for long, and runs none. */
static inline bool child_runs(pid_t pid, const char *program)
{
	struct stat runs, wanted;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &runs) == 0 && stat(program, &wanted) == 0 &&
	       runs.st_dev == wanted.st_dev && runs.st_ino == wanted.st_ino;
}

static inline bool child_begins(pid_t pid, const char *program)
{
	for (int i = 0; i < 180000 && !child_runs(pid, program); i++)
		usleep(1000);
	return child_runs(pid, program);
}

/* Whether it has come to where it handles that signal, and would not end by it. */
static inline bool child_handles(pid_t pid, int signal)
{
	unsigned long long handled = 0;
	char path[32], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "SigCgt:", 7) == 0)
			sscanf(line + 7, "%llx", &handled);
	if (f)
		fclose(f);
	return handled >> (signal - 1) & 1;
}

static inline bool child_is_ready(pid_t pid, int signal)
{
	for (int i = 0; i < 180000 && !child_handles(pid, signal); i++)
		usleep(1000);
	return child_handles(pid, signal);
}

/* The one that was made last: after a weave_enter the guardian of what was entered; 0: none. */
static inline pid_t child_youngest(void)
{
	char path[64], text[4096] = "";
	const char *at = text;
	int pid = 0, n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	for (; sscanf(at, "%d%n", &pid, &n) == 1; at += n)
		;
	return pid;
}

#endif
