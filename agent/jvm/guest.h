/* The code that was put into this process from outside (src/capture/probe/guest), which runs advice
 * and has what threads carry: where it is, and how it is called. */
#ifndef CULPRIT_AGENT_JVM_GUEST_H
#define CULPRIT_AGENT_JVM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/probe_region.h"

struct bag;

/* region: where somebody says that it is. False: it is not there, or of another version. Sets
 * *is_another where another session is there than the last time. */
bool guest_use(uint64_t region, bool *is_another);
/* Whether who ordered what is woven watches now; tick: rdtsc. */
bool guest_is_watched(uint64_t tick);
/* … or will again: who watches is there, and pauses. */
bool guest_is_attended(uint64_t tick);
/* Bags of another session say nothing any more. */
uint64_t guest_session(void);
/* Whether advice waits there: cheap. */
bool guest_has_advice(uint32_t function, enum probe_moment moment);
void guest_advise(uint32_t function, enum probe_moment moment, const struct probe_met *met);
/* How often a thread may run advice in half a second; 0: as often as it likes. */
uint64_t guest_run_limit(void);
/* So many runs were left out. */
void guest_tell_limited(uint64_t nr);
/* As enum probe_service has them. */
void guest_tell(uint32_t function, uint32_t kind, uint64_t start, uint64_t end);
/* A piece of work began, whether anybody watches or not. */
void guest_count_unit(void);
const struct bag *guest_see(void);
void guest_carry(const struct bag *front);
void guest_join(const struct bag *front);
/* Another number whenever a request began in the thread, or came over a connection. */
uint64_t guest_mark(void);
/* The last that did was begun by a tracepoint. */
bool guest_has_begun(void);
/* Whether the thread carries anything: cheap. */
bool guest_holds(void);
/* Who ordered what is woven. */
uint64_t guest_order(void);
/* As PROBE_SERVICE_BECOME has it. */
long guest_become(uint64_t number, const struct probe_self *is, struct probe_self *was);

/* What was lost, told to who watches. */
enum guest_loss { GUEST_UNKEPT, GUEST_SHARED };
void guest_count(enum guest_loss what, uint64_t nr);

static inline uint64_t guest_tick(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
