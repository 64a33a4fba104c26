#include "capture/probe/kin.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define THREADS_OFTEN 4

uint64_t kin_started(int pid)
{
	char path[32], line[1024], *p;
	cleanup(close_fd) int fd = -1;
	unsigned long long at = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return 0;
	line[n] = 0;
	p = strrchr(line, ')');
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0;
	for (int i = 0; i < 20 && p; i++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p, "%llu", &at);
	return at ? at : 1;
}

void kin_children(int pid, bool is_full, int *pids, size_t *nr, size_t room)
{
	char path[64], *p;
	cleanup(free) char *text = NULL;
	struct dirent *e;
	size_t n = 0, nr_threads = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		FILE *f;

		if (e->d_name[0] == '.' || (nr_threads++ > THREADS_OFTEN && !is_full))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/children", pid, e->d_name);
		f = fopen(path, "re");
		if (f && getline(&text, &n, f) > 0)
			for (p = text; *nr < room && *p >= '0' && *p <= '9';) {
				pids[(*nr)++] = (int)strtol(p, &p, 10);
				p += *p == ' ';
			}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

size_t kin_below(int pid, int *pids, size_t room)
{
	size_t nr = 0;

	kin_children(pid, true, pids, &nr, room);
	for (size_t i = 0; i < nr; i++)
		kin_children(pids[i], true, pids, &nr, room);
	return nr;
}
