#include "capture/weave/concern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "query/tracepoint.h"

static struct str last_part(struct str path)
{
	size_t at = path.n;

	while (at && path.p[at - 1] != '/')
		at--;
	return str_skip(path, at);
}

/* "libc" is "libc.so.6" and "libc-2.31.so", too. */
static bool is_named(struct str file, struct str name)
{
	return str_starts(file, name) &&
	       (file.n == name.n || file.p[name.n] == '.' || file.p[name.n] == '-');
}

static bool is_in(struct str file, const struct tracepoint *t)
{
	for (size_t i = 0; i < t->nr_places; i++) {
		const struct tracepoint_place *at = &t->places[i];
		struct str name = last_part(at->binary);

		if (at->where == WHERE_FUNCTION && is_named(file, name))
			return true;
		if (at->where == WHERE_USDT &&
		    (!name.n || str_starts(name, file) || str_starts(file, name)))
			return true;
		/* which classes a machine has, or will have, nobody knows from outside */
		if (at->where == WHERE_CLASS && str_starts(file, STR("libjvm.")))
			return true;
	}
	return false;
}

bool concern_is(int pid, const struct tracepoint *t)
{
	cleanup(fclose) FILE *f = NULL;
	cleanup(free) char *line = NULL;
	char path[32];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0) {
		char *at = strchr(line, '/');

		if (!at || !strstr(line, " r-xp "))
			continue;
		at[strcspn(at, "\n ")] = 0;
		if (is_in(last_part(str_of(at)), t))
			return true;
	}
	return false;
}
