#include "cli/engine_reduce.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/engine_lines.h"
#include "infer/requests/merge.h"
#include "infer/requests/reduce.h"
#include "infer/requests/shuffle.h"

static int write_line(void *to, struct str record, struct error *err)
{
	FILE *out = to;

	if (fwrite(record.p, 1, record.n, out) == record.n && putc('\n', out) != EOF)
		return 0;
	return error_set(err, errno, "cannot write records: %s", strerror(errno));
}

int engine_shuffle(const struct shuffle *sh, FILE *out, struct error *err)
{
	return shuffle_write(sh, write_line, out, err);
}

int engine_reduce(const struct matcher *m, const char *chains, FILE *out, struct error *err)
{
	const struct reducer_out to = { out, write_line };
	struct reducer *r = reducer_new(m, &to);
	struct engine_lines lines;
	struct str line;
	int got = engine_lines_open(&lines, chains, err);

	while (got >= 0 && (got = engine_lines_next(&lines, &line, err)) > 0)
		got = reducer_add(r, line, err);
	if (got >= 0)
		got = reducer_end(r, err);
	engine_lines_close(&lines);
	reducer_free(r);
	return got;
}

int engine_fragments(const char *path, struct merge *m, struct error *err)
{
	struct engine_lines lines;
	struct str line;
	int got = engine_lines_open(&lines, path, err);

	while (got >= 0 && (got = engine_lines_next(&lines, &line, err)) > 0)
		got = merge_record(m, line, err);
	engine_lines_close(&lines);
	return got;
}
