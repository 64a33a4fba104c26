#include "model/call.h"

const char *wait_why_name(enum wait_why why)
{
	static const char *const names[NR_WAITS] = { "none", "cpu",   "lock",  "queue",
						     "io",   "sleep", "other", "gc" };

	return (unsigned)why < NR_WAITS ? names[why] : "other";
}
