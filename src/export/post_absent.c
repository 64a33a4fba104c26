#include "export/post.h"

#include <errno.h>

#include "base/error.h"

int post_bytes(const char *url, const char *type, struct str bytes, struct error *err)
{
	(void)type;
	(void)bytes;
	return error_set(err, ENOSYS, "cannot send to '%s': this culprit was built without libcurl",
			 url);
}
