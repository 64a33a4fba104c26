#include "capture/weave/sharing.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "capture/probe/kin.h"
#include "capture/spot.h"

#define KIN_MAX 4096

/* By inode: device numbers of some file systems differ from what stat says. */
static bool has_mapped(int pid, ino_t file)
{
	cleanup(fclose) FILE *f = NULL;
	cleanup(free) char *line = NULL;
	unsigned long long inode;
	char path[32], rights[8];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0)
		if (sscanf(line, "%*s %7s %*s %*s %llu", rights, &inode) == 2 && rights[2] == 'x' &&
		    inode == file)
			return true;
	return false;
}

static void kin_note(struct map *ours, int pid)
{
	int *pids = mem_alloc(mem_bytes(KIN_MAX, sizeof(*pids)));
	size_t nr = kin_below(pid, pids, KIN_MAX);

	*map_at(ours, (uint64_t)pid) = 1;
	for (size_t i = 0; i < nr; i++)
		*map_at(ours, (uint64_t)pids[i]) = 1;
	free(pids);
}

void sharing_look(struct sharing *s, int pid, const char *module)
{
	struct map ours = { 0 };
	struct dirent *e;
	char path[SPOT_PATH];
	struct stat st;
	DIR *d;

	*s = (struct sharing){ 0 };
	spot_path(pid, module, path);
	if (stat(path, &st) == 0) {
		s->device = st.st_dev;
		s->file = st.st_ino;
	}
	kin_note(&ours, pid);
	vec_push(&s->ours, pid);
	d = opendir("/proc");
	while (d && (e = readdir(d))) {
		int other = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (other <= 0 || other == pid || !has_mapped(other, s->file))
			continue;
		if (map_find(&ours, (uint64_t)other))
			vec_push(&s->ours, other);
		else
			s->nr_strangers++;
	}
	if (d)
		closedir(d);
	map_done(&ours);
}

void sharing_done(struct sharing *s)
{
	vec_done(&s->ours);
}
