/* Definitions of tracepoints as a command is given them: files, put together into one text. */
#ifndef CULPRIT_CLI_LIVE_POINTS_H
#define CULPRIT_CLI_LIVE_POINTS_H

struct buf;
struct call;
struct error;

/* All files and sets of --tracepoints, each checked by itself. */
int live_points_read(const struct call *call, struct buf *text, struct error *err);
/* Process ids of --pid, at most max; how many, or what is wrong with them. */
int live_pids(const struct call *call, int *pids, int max, struct error *err);

#endif
