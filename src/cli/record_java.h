/* culprit record --jvm: which Java machines, and what of them is recorded. */
#ifndef CULPRIT_CLI_RECORD_JAVA_H
#define CULPRIT_CLI_RECORD_JAVA_H

#include "base/buf.h"
#include "base/vec.h"
#include "capture/trace/points.h"
#include "capture/trace/trace.h"

struct call;
struct error;

#define RECORD_PIDS 256

/* Zero is empty. */
struct record_java {
	struct trace_points points;
	int pids[RECORD_PIDS];
	struct trace_options options;
};

int record_java_read(struct record_java *j, const struct call *call, struct error *err);
void record_java_done(struct record_java *j);

#endif
