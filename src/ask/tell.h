/* Says a finding in words: which type, which hop and node, how sure, since when, and the command
 * that shows the evidence. */
#ifndef CULPRIT_ASK_TELL_H
#define CULPRIT_ASK_TELL_H

#include "ask/findings.h"

struct report;
struct section;

/* A section of one paragraph about a slow type. run is how the user names the run. */
void tell_finding(const struct findings *f, const struct finding *one, const char *run,
		  struct report *r);
/* One sentence when no type has anything slow; says how thin the evidence is, or, of lone requests,
 * where their time goes. */
void tell_nothing(const struct findings *f, const char *run, struct report *r);
/* A text as one word of a shell. */
void tell_shell_word(struct buf *b, struct str word);

#endif
