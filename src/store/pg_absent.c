/* Stands in for fetch.c and publish.c where the build had no libpq. */
#include <errno.h>

#include "base/error.h"
#include "store/fetch.h"
#include "store/store.h"

static int absent(struct error *err)
{
	return error_set(
		err, ENOTSUP,
		"this culprit was built without PostgreSQL: install libpq-dev and build it "
		"again, or use a run file (-o FILE)");
}

int fetch_open(struct db **db, const char *where, struct error *err)
{
	(void)db, (void)where;
	return absent(err);
}

int store_publish_check(const char *where, struct error *err)
{
	(void)where;
	return absent(err);
}

int store_publish(struct store *s, const char *where, struct error *err)
{
	(void)s, (void)where;
	return absent(err);
}
