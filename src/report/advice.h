/* What a query does at its tracepoints, laid out for people and for scripts. */
#ifndef CULPRIT_REPORT_ADVICE_H
#define CULPRIT_REPORT_ADVICE_H

struct live_advice;
struct report;

/* One stage more, after those before. */
void advice_report(struct report *r, const struct live_advice *a);

#endif
