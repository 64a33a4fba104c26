#include "ask/anomaly.h"

#define MINOR 0.05 /* of the time that slow requests lose */

const char *anomaly_kind_name(enum anomaly_kind kind)
{
	static const char *const names[] = {
		[ANOMALY_PAUSE] = "pause",       [ANOMALY_DEAD] = "dead node",
		[ANOMALY_STUTTER] = "stutter",   [ANOMALY_SLOW_NODE] = "slow node",
		[ANOMALY_SLOW_HOP] = "slow hop", [ANOMALY_RETRIES] = "retries",
		[ANOMALY_WARNINGS] = "warnings", [ANOMALY_STOPS] = "stops midway",
		[ANOMALY_COURSE] = "new course", [ANOMALY_COUNT] = "count",
		[ANOMALY_LATENCY] = "latency",
	};

	return names[kind];
}

void anomaly_example(struct anomaly *a, uint64_t request)
{
	for (size_t i = 0; i < a->nr_examples; i++)
		if (a->examples[i] == request)
			return;
	if (a->nr_examples < ANOMALY_EXAMPLES)
		a->examples[a->nr_examples++] = request;
}

int anomaly_rank(const struct anomaly *a, double slowness)
{
	if (a->kind == ANOMALY_DEAD)
		return 0;
	return a->kind >= ANOMALY_RETRIES && a->lost < MINOR * slowness ? 2 : 1;
}
