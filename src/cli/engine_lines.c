#include "cli/engine_lines.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "source/input.h"

enum { READ_BYTES = 1 << 18 };

int engine_lines_open(struct engine_lines *l, const char *path, struct error *err)
{
	*l = (struct engine_lines){ 0 };
	return input_open(&l->in, path, err);
}

void engine_lines_close(struct engine_lines *l)
{
	input_close(l->in);
	buf_done(&l->bytes);
}

static int broken(struct error *err, const char *what)
{
	return error_set(err, ESTALE, "the records of the workers are not whole: %s", what);
}

int engine_lines_next(struct engine_lines *l, struct str *line, struct error *err)
{
	size_t searched = l->at;

	for (;;) {
		const char *end = l->bytes.n > searched ? memchr(l->bytes.p + searched, '\n',
								 l->bytes.n - searched)
							: NULL;
		ssize_t got;

		if (end) {
			*line = (struct str){ l->bytes.p + l->at,
					      (size_t)(end - l->bytes.p) - l->at };
			l->at = (size_t)(end - l->bytes.p) + 1;
			return 1;
		}
		if (l->at) {
			memmove(l->bytes.p, l->bytes.p + l->at, l->bytes.n - l->at);
			l->bytes.n -= l->at;
			l->at = 0;
		}
		searched = l->bytes.n;
		got = input_read(l->in, buf_room(&l->bytes, READ_BYTES), READ_BYTES, err);
		if (got < 0)
			return broken(err, "they end in the middle");
		if (!got)
			return l->bytes.n ? broken(err, "the last one has no end") : 0;
		l->bytes.n += (size_t)got;
	}
}
