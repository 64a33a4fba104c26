#include "cli/storing.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "store/store.h"

#define SUFFIX ".culprit"

/* "dir/today.culprit" is the run "today". */
static void name_of_file(const char *path, struct buf *name)
{
	const char *slash = strrchr(path, '/');
	struct str s = str_of(slash ? slash + 1 : path);

	if (s.n > strlen(SUFFIX) && str_ends(s, STR(SUFFIX)))
		s.n -= strlen(SUFFIX);
	buf_add(name, s);
	buf_char(name, 0);
}

/* The file that the run is written to, or is read from. */
static const char *file_of(const struct call *call)
{
	const char *path = call_get(call, "output");

	if (!path && call->nr_inputs == 1 && str_ends(str_of(call->inputs[0]), STR(SUFFIX)))
		path = call->inputs[0];
	return path ? path : "run" SUFFIX;
}

int storing_begin(const struct call *call, struct buf *where, struct error *err)
{
	const char *address = call_get(call, "store"), *run = call_get(call, "run");
	struct buf otherwise = { 0 };
	int got;

	if (!address)
		return run ? error_set(err, EINVAL,
				       "--run names a run in PostgreSQL: --store says where")
			   : 0;
	if (!store_is_remote(address))
		return error_set(err, EINVAL,
				 "--store takes an address, postgresql://USER@HOST/DATABASE; a run "
				 "file is named with -o");
	name_of_file(file_of(call), &otherwise);
	got = store_named(address, run, otherwise.p, where, err);
	buf_char(where, 0);
	buf_done(&otherwise);
	if (got >= 0)
		got = store_publish_check(where->p, err);
	return got < 0 ? got : 1;
}

int storing_end(struct store *s, const struct buf *where, struct error *err)
{
	/* nothing has to be tidied up behind a signal: the server undoes what is not whole */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return store_publish(s, where->p, err);
}

const char *storing_shown(const char *name, struct buf *shown)
{
	struct error err;

	buf_clear(shown);
	if (!store_is_remote(name))
		buf_add(shown, str_of(name));
	else if (store_shown_name(name, shown, &err) < 0)
		buf_add(shown, STR("postgresql://"));
	buf_char(shown, 0);
	return shown->p;
}
