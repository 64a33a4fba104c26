/* Work that is passed on: A calls B, B hands over to C, and C answers A. */
#ifndef CULPRIT_INFER_PATHS_FORWARD_H
#define CULPRIT_INFER_PATHS_FORWARD_H

struct losses;
struct pairs;
struct window;

/* Closes calls that somebody else answered, and the messages that passed them on; these returns are
 * no orphans any more. */
void forward_tie(struct window *w, struct pairs *p, struct losses *losses);

#endif
