/* What is known of the thread that runs: whether it is in our hands already, and which watched
 * methods it is in. */
#ifndef CULPRIT_AGENT_JVM_HERE_H
#define CULPRIT_AGENT_JVM_HERE_H

#include <stdbool.h>
#include <stdint.h>

/* False: it is in our hands, since what we do has led back to us; nothing is to be done then. */
bool here_begin(void);
void here_end(void);
/* Whether it is. */
bool here_is_ours(void);

/* A method was entered whose time is asked for, and is left: when it was entered, 0: nobody knows,
 * HERE_TOO_DEEP: so many are under way that this one was not kept. By its site; method: the same
 * for all sites of a method, which may be several. Whatever was woven since, old code leaves what
 * old code has entered; calls below that were left without a word are forgotten. */
void here_enter(uint32_t site, uint64_t method, uint64_t tick);
uint64_t here_leave(uint32_t site, uint64_t method);
#define HERE_TOO_DEEP UINT64_MAX
/* A value that the call that was entered last is left with. */
void here_keep(uint64_t value);
/* As here_leave; false: nothing was kept, or it was too deep. */
uint64_t here_leave_with(uint32_t site, uint64_t method, uint64_t *value, bool *has_value);

/* The methods that a thread is in, where threads are carried by others (virtual.h). NULL: there is
 * no memory. */
struct here_calls;
struct here_calls *here_calls_new(void);
void here_calls_free(struct here_calls *c);
/* Those that the thread that runs is in, which is in none then. */
struct here_calls *here_calls_moved(void);
/* These are what the thread that runs is in; NULL: its own. */
void here_calls_use(struct here_calls *c);

/* Whether it may run advice once more: what would cost too much is left out, and counted. */
bool here_may_run(void);
/* Another half second has begun, for all threads. */
void here_turn(void);
/* Tells what was left out by then. */
void here_tell(void);

#endif
