#include "cli/live_metrics.h"

#include <errno.h>
#include <stddef.h>

#include "base/error.h"

int live_metrics_start(struct live_metrics **m, const char *listen, const char *endpoint,
		       const char *keys, struct error *err)
{
	(void)m;
	(void)listen;
	(void)endpoint;
	(void)keys;
	return error_set(err, ENOSYS, "--metrics: this culprit was built without HTTP");
}

void live_metrics_stop(struct live_metrics *m)
{
	(void)m;
}
