/* Calls that come from a host go to the service there that made them: a capture tells the port of
 * who is called, but of the caller the address only. */
#ifndef CULPRIT_INFER_PATHS_HOSTS_H
#define CULPRIT_INFER_PATHS_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

struct feed;
struct hosts;
struct losses;
struct window;

struct hosts *hosts_new(const struct feed *f, struct losses *losses);
void hosts_free(struct hosts *h);
/* Changes the senders of the window's calls; receives[node]: it was ever called. */
void hosts_join(struct hosts *h, struct window *w, const bool *receives);

#endif
