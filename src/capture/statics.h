/* Marks of intervals by static probes of programs (USDT), of all processes that run them. */
#ifndef CULPRIT_CAPTURE_STATICS_H
#define CULPRIT_CAPTURE_STATICS_H

#include <stddef.h>
#include <stdint.h>

#include "model/call.h"

struct error;
struct probe_take;
struct statics;

int statics_open(struct statics **s, struct error *err);
void statics_close(struct statics *s);
/* All probes of that name in the file are told as marks of this number from now on. provider may be
 * empty: any. */
int statics_add(struct statics *s, const char *path, const char *provider, const char *name,
		uint32_t function, const struct probe_take *take, struct error *err);
/* What was passed since; of one thread in order. *until: all before this was told. */
int statics_read(struct statics *s,
		 int (*take)(void *to, const struct mark *m, size_t nr, struct error *err),
		 void *to, int64_t *until, struct error *err);
uint64_t statics_dropped(const struct statics *s);

#endif
