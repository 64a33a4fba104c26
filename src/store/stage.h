/* Sets aside what carries a key, so that all of one key can be had together in bounded memory. */
#ifndef CULPRIT_STORE_STAGE_H
#define CULPRIT_STORE_STAGE_H

#include <stdint.h>

#include "store/store.h"

struct event_syms;
struct place;
struct stage;
struct syms;

struct stage *stage_new(const struct place *place, struct syms *syms);
void stage_free(struct stage *g);
int stage_add_event(struct stage *g, const struct event *ev, const struct event_syms *syms,
		    uint64_t number, struct error *err);
int stage_add_span(struct stage *g, const struct span *s, struct error *err);
/* Forgets events. */
int stage_leave(struct stage *g, bool (*is_left)(const void *ctx, uint64_t number), const void *ctx,
		struct error *err);
unsigned stage_nr_parts(const struct stage *g);
int stage_part(struct stage *g, unsigned nr, struct arena *arena, struct part *part,
	       struct error *err);

#endif
