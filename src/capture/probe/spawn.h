/* A program that is started to be watched: it waits before its first own instruction. What is
 * started may be a script: then it is the first program that is the one that is meant. */
#ifndef CULPRIT_CAPTURE_PROBE_SPAWN_H
#define CULPRIT_CAPTURE_PROBE_SPAWN_H

#include <stdbool.h>

struct error;

/* Which program is meant, of all that the command becomes or starts. */
struct spawn_wish {
	void *to;
	/* 1: this one, whose libraries are loaded; 0: another one; negative ends it all. */
	int (*wants)(void *to, int pid, struct error *err);
	/* Whether nobody wants to wait any more. */
	bool (*is_over)(void *to);
};

struct spawned {
	int pid;        /* whom it is about, stopped as by SIGSTOP; 0: nobody was wanted */
	int command;    /* what was started */
	bool has_ended; /* the command, … */
	int status;     /* … as waitpid() tells */
};

/* Its libraries are loaded, nothing of it has run. It is stopped, as by SIGSTOP. argv ends with
 * NULL. prints: where its standard output goes, -1 for ours. */
int spawn_stopped(char *const argv[], int prints, int *pid, struct error *err);
/* The same for the first program that is wanted; all others run on meanwhile. */
int spawn_until(char *const argv[], int prints, const struct spawn_wish *wish, struct spawned *out,
		struct error *err);
/* A process that has just become another program runs to where it begins, if it has not passed that
 * place already. */
void spawn_catch(int pid);
/* Lets it run. */
int spawn_go(int pid);

#endif
