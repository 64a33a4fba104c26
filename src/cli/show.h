/* Shows a report the way the user asked for: terminal, JSON, HTML. */
#ifndef CULPRIT_CLI_SHOW_H
#define CULPRIT_CLI_SHOW_H

#include "report/writer.h"

struct call;
struct error;
struct report;

/* What the terminal shows, if standard output is one. */
struct text_style show_style(void);
/* To be called before the question runs: lets a long list be shown as it grows. */
void show_begin(struct report *r, const struct call *call);
int show_report(const struct report *r, const struct call *call, struct error *err);

#endif
