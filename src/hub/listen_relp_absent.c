/* Stands in where librelp was missing when this was built. */
#include <errno.h>

#include "base/error.h"
#include "hub/listen_kind.h"

static int start(void **state, struct hub *h, const struct listen_at *at,
		 const struct listen_tls *tls, struct error *err)
{
	(void)state;
	(void)h;
	(void)at;
	(void)tls;
	return error_set(err, ENOTSUP,
			 "this culprit was built without RELP (librelp); tcp://HOST:PORT works");
}

static void stop(void *state)
{
	(void)state;
}

const struct listen_kind listen_relp = { "relp://", start, stop };
