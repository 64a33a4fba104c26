/* culprit analyze --follow: keeps a run up to date while logs grow and rotate. */
#ifndef CULPRIT_CLI_FOLLOW_H
#define CULPRIT_CLI_FOLLOW_H

struct call;
struct error;
struct store;

/*
 * Until a signal comes; then writes the run a last time and leaves it in *s. The run at path is
 * replaced whenever there is something new.
 */
int follow_until_told(const struct call *call, const char *path, struct store **s,
		      struct error *err);

#endif
