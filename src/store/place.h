/* Where a run is written: a file beside its place, which becomes the run in one step or vanishes.
 */
#ifndef CULPRIT_STORE_PLACE_H
#define CULPRIT_STORE_PLACE_H

struct error;

/* Zero is a valid place: none, for a run that is only temporary. */
struct place {
	char *path;    /* where the run will stand; links are followed */
	char *partial; /* where it is written, locked as long as its writer lives */
	int fd;
};

int place_create(struct place *p, const char *path, struct error *err);
/* In a child of the process that made it: a copy of its own of what was written so far. */
int place_branch(struct place *p, struct error *err);
/* Syncs what was written and moves it over path. */
int place_finish(struct place *p, struct error *err);
/* Removes what was written, unless it was finished. */
void place_done(struct place *p);
/* An unlinked file beside the place (or in the temporary directory), for what need not last. */
int place_scratch(const struct place *p, struct error *err);

#endif
