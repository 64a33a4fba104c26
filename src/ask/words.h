/* What a node says of its own silence: that it stood still before, or that it is about to end. */
#ifndef CULPRIT_ASK_WORDS_H
#define CULPRIT_ASK_WORDS_H

#include "ask/activity.h"

/* What a node says of its silence: a line of its wakes that names about that length of time. */
struct pause_words {
	struct str said, point; /* where in the program, or by which logger; both empty: nothing */
};

/* The texts live in the arena. */
int words_of_pause(struct store *s, const struct life *l, int64_t begin, int64_t end,
		   struct arena *arena, struct pause_words *out, struct error *err);
/* Which part of the lines of that point name the length of the silence just before them: of lines
 * about pauses most do, of lines about work that took as long few. One pass over all events. */
int words_are_about_silence(struct store *s, const struct activity *a, struct str point,
			    double *part, struct error *err);
/* The node's last line; and whether it or one just before says that the node ends, without any
 * error. */
int words_at_end(struct store *s, const struct life *l, struct arena *arena, struct str *said,
		 bool *orderly, struct error *err);

#endif
