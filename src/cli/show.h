/* Shows a report the way the user asked for: terminal, JSON, HTML. */
#ifndef CULPRIT_CLI_SHOW_H
#define CULPRIT_CLI_SHOW_H

struct call;
struct error;
struct report;

int show_report(const struct report *r, const struct call *call, struct error *err);
/* Writes bytes to a file, whole or not at all; "-" is standard output. */
int show_to_file(const char *path, const char *bytes, unsigned long nr, struct error *err);

#endif
