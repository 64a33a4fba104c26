#include "cli/live_points.h"

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/tracepoint_files.h"

int live_points_read(const struct call *call, struct buf *text, struct error *err)
{
	struct tracepoint_files files = { 0 };
	int r = tracepoint_files_list(&files, call_get(call, "tracepoints"), err);

	/* of what is defined twice the later one */
	for (size_t i = 0; r >= 0 && i < files.v.nr; i++)
		for (size_t k = 0; k < files.v.v[i].nr; k++) {
			const struct tracepoint *t = &files.v.v[i].v[k];

			if (tracepoints_find(files.v.v, files.v.nr, t->name) != t)
				continue;
			buf_add(text, t->text);
			buf_char(text, '\n');
		}
	tracepoint_files_done(&files);
	return r;
}

int live_pids(const struct call *call, int *pids, int max, struct error *err)
{
	struct str left = str_of(call_get(call, "pid"));
	uint64_t pid;
	int nr = 0;

	while (left.n) {
		if (!str_take_uint(&left, &pid) || !pid || pid > INT32_MAX ||
		    (left.n && !str_take_char(&left, ',')))
			return error_set(err, EINVAL,
					 "--pid wants numbers of processes with commas between");
		if (nr == max)
			return error_set(err, E2BIG, "at most %d processes can be named", max);
		pids[nr++] = (int)pid;
	}
	return nr;
}
