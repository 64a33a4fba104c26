#include "capture/probe/namesake.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool space_of(int pid, char *out, size_t room)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	n = readlink(path, out, room - 1);
	if (n <= 0)
		return false;
	out[n] = 0;
	return true;
}

void namesakes_init(struct namesakes *n, int pid)
{
	char ours[sizeof(n->space)];

	*n = (struct namesakes){ 0 };
	if (!space_of(getpid(), ours, sizeof(ours)) || !space_of(pid, n->space, sizeof(n->space)) ||
	    strcmp(ours, n->space) == 0)
		n->space[0] = 0;
}

void namesakes_done(struct namesakes *n)
{
	map_done(&n->here);
	map_done(&n->processes);
}

/* The innermost number of a process or thread. */
static uint32_t inner_number(const char *folder)
{
	cleanup(fclose) FILE *f = NULL;
	char path[320], line[512];

	snprintf(path, sizeof(path), "%s/status", folder);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "NSpid:", 6) == 0) {
			const char *last = strrchr(line, '\t');

			return last ? (uint32_t)atoi(last) : 0;
		}
	return 0;
}

/* The entry of a folder of /proc whose inner number this is. */
static uint32_t search(const char *folder, uint32_t inner, const char *space)
{
	char path[300], its[64];
	uint32_t found = 0;
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d && !found && (e = readdir(d))) {
		int nr = atoi(e->d_name);

		if (nr <= 0 || (space && (!space_of(nr, its, sizeof(its)) || strcmp(its, space))))
			continue;
		snprintf(path, sizeof(path), "%s/%d", folder, nr);
		if (inner_number(path) == inner)
			found = (uint32_t)nr;
	}
	if (d)
		closedir(d);
	return found;
}

uint64_t namesakes_here(struct namesakes *n, uint64_t owner)
{
	uint64_t *known, *process;
	char path[64];
	uint32_t thread;

	if (!n->space[0])
		return owner;
	known = map_find(&n->here, owner);
	if (known)
		return *known;
	process = map_at(&n->processes, owner >> 32);
	if (!*process)
		*process = search("/proc", (uint32_t)(owner >> 32), n->space);
	if (!*process)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task", (unsigned)*process);
	thread = search(path, (uint32_t)owner, NULL);
	if (!thread)
		return 0;
	return *map_at(&n->here, owner) = *process << 32 | thread;
}
