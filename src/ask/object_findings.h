/* What is worth saying of a run's objects without being asked: silences that surely wait for the
 * ends of others. */
#ifndef CULPRIT_ASK_OBJECT_FINDINGS_H
#define CULPRIT_ASK_OBJECT_FINDINGS_H

struct error;
struct report;
struct store;

/* Adds a section to the report when there is something; run is how the user names it. 0, or a
 * failure to read. */
int object_findings_tell(struct store *s, const char *run, struct report *report,
			 struct error *err);

#endif
