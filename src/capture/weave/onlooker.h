/*
 * Advice at places that are watched from outside (capture/outside.h): it runs here, over what the
 * kernel told and a copy of what the thread carried at that moment. So it can filter, unpack and
 * emit; packing would come too late, as the thread has gone on.
 */
#ifndef CULPRIT_CAPTURE_WEAVE_ONLOOKER_H
#define CULPRIT_CAPTURE_WEAVE_ONLOOKER_H

#include "capture/weave/places.h"
#include "capture/weave/reap.h"

struct advice_row;
struct bag_spill;
struct bag_writer;
struct error;
struct losses;
struct onlooker;

/* What runs tell, and what waits for other hosts, is handed over as that of processes is. */
struct onlooker_options {
	const char *host;
	uint64_t session; /* of bags */
	void *to;
	reap_row *row;
	void (*emit)(void *to, const struct advice_row *row);
	void (*writer)(void *to, struct bag_writer *w); /* begins one that nobody else is */
	struct bag_spill *spill;
	struct reap_counts *counts;
};

/* Fails where the kernel does not let us. */
int onlooker_open(struct onlooker **o, const struct onlooker_options *opts, struct error *err);
void onlooker_close(struct onlooker *o);

/* A family of processes that was entered, once, and what its program is called. */
void onlooker_family(struct onlooker *o, struct probe_view view, const char *name);

/* What runs at a place is struct probe_advice, as for processes; it must emit. is_open: of all
 * processes of this host. */
int onlooker_call(struct onlooker *o, const struct tracepoint_place *at, bool is_open,
		  const struct probe_advice *a, struct error *err);
/* A function or static probe of a process and those that it makes, by breakpoints of the kernel: in
 * its file, where nobody else has that mapped, else in the processes that there are now. */
int onlooker_function(struct onlooker *o, int pid, const struct probe_function *how,
		      enum piece_moment moment, const struct probe_advice *a, struct error *err);
void onlooker_remove(struct onlooker *o, uint32_t query);

/* Takes what was told since, and runs advice over it. */
int onlooker_read(struct onlooker *o, struct error *err);
/* Adds what of a query was not seen, or not with what was carried, since this was asked last. */
void onlooker_lost(struct onlooker *o, uint32_t query, struct losses *lost);
size_t onlooker_nr_places(const struct onlooker *o);

#endif
