/* What is said of several processes in the same words, in one line. */
#ifndef CULPRIT_CAPTURE_WEAVE_SAID_H
#define CULPRIT_CAPTURE_WEAVE_SAID_H

struct buf;

/* Lines "process 4711: …" that end alike become "processes 4711, 4712: …", where the first of them
 * stood. Others stay as they are. */
void said_fold(struct buf *said);

#endif
