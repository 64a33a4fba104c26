#include "cli/beside.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int cannot_write(const struct beside *b, struct error *err)
{
	if (b->file == stdout)
		return error_set(err, errno, "cannot write to standard output: %s",
				 strerror(errno));
	return error_set(err, errno, "cannot write '%s': %s", b->path, strerror(errno));
}

int beside_open(struct beside *b, const char *path, struct error *err)
{
	*b = (struct beside){ .path = path };
	if (!strcmp(path, "-")) {
		b->file = stdout;
		return 0;
	}
	if (asprintf(&b->partial, "%s.partial-%d", path, (int)getpid()) < 0) {
		b->partial = NULL;
		return error_set(err, ENOMEM, "out of memory");
	}
	b->file = fopen(b->partial, "we");
	if (b->file)
		return 0;
	cannot_write(b, err);
	free(b->partial);
	return -err->code;
}

int beside_close(struct beside *b, int got, struct error *err)
{
	bool ok = got >= 0 && !fflush(b->file) && !ferror(b->file);

	if (b->file == stdout) {
		/* a reader that has seen enough (head) is no failure */
		if (ok || got == -EPIPE || (got >= 0 && errno == EPIPE))
			return 0;
		return got < 0 ? got : cannot_write(b, err);
	}
	if (fclose(b->file))
		ok = false;
	if (ok && rename(b->partial, b->path))
		ok = false;
	if (!ok && got >= 0)
		got = cannot_write(b, err);
	if (!ok)
		unlink(b->partial);
	free(b->partial);
	return got;
}
