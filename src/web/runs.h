/*
 * The runs that are served: each with its state and some open handles, since a handle is used by
 * one thread at a time. A run that was replaced (hub, analyze --follow, --store) is opened anew,
 * one that vanished is told.
 */
#ifndef CULPRIT_WEB_RUNS_H
#define CULPRIT_WEB_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct jsonout;
struct runs;
struct store;

struct runs *runs_new(void);
/* Nobody may hold a handle any more. */
void runs_free(struct runs *r);

/* A run that is there: its number, from 1. */
unsigned runs_add(struct runs *r, const char *path, const char *shown);
/* One that is being made: its number. It becomes one of the former, or it fails. */
unsigned runs_add_pending(struct runs *r, const char *shown);
void runs_progress(struct runs *r, unsigned run, const char *doing, double share);
void runs_ready(struct runs *r, unsigned run, const char *path);
void runs_failed(struct runs *r, unsigned run, const char *why);
size_t runs_nr(struct runs *r);
bool runs_is_pending(struct runs *r, unsigned run);

/* An open handle, to be given back; *generation changes when the file does. */
int runs_take(struct runs *r, unsigned run, struct store **s, uint64_t *generation,
	      struct error *err);
void runs_give(struct runs *r, unsigned run, uint64_t generation, struct store *s);
/* Nobody asks: what holds a connection elsewhere is closed. */
void runs_rest(struct runs *r);
/* Where the run stands, if it is a file that answers call so too: another process could be asked.
 * NULL otherwise. */
const char *runs_file(struct runs *r, unsigned run);
/* How answers call the run; lives as long as the runs. */
const char *runs_name(struct runs *r, unsigned run);
/* One object for each run: number, name, state. */
void runs_tell(struct runs *r, struct jsonout *j, unsigned run);

#endif
