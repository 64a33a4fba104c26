/*
 * A file is known by its device, inode, size and time, so that a program that was replaced is read
 * again. Strings are not given back when a process ends: others will run the same.
 */
#include "host/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "ident/constants.h"
#include "model/loss.h"

#define KNOWN_MAX 65536 /* processes; then those that ended are forgotten with the rest */

struct programs {
	const char *proc;
	struct map processes; /* that were looked at */
	struct map files;     /* that were read */
	struct constants *constants;
	VEC(char *) paths; /* of files that are new */
};

struct programs *programs_new(const char *proc)
{
	struct programs *p = mem_zalloc(sizeof(*p));

	p->proc = proc;
	return p;
}

void programs_free(struct programs *p)
{
	if (!p)
		return;
	vec_each (&p->paths, path)
		free(*path);
	vec_done(&p->paths);
	map_done(&p->processes);
	map_done(&p->files);
	constants_free(p->constants);
	free(p);
}

static uint64_t hash_of(const uint64_t *v, size_t nr)
{
	return str_hash((struct str){ (const char *)v, nr * sizeof(*v) });
}

/* By its number and when it began, since numbers are used again; 0 when it is gone. */
static uint64_t process_key(const struct programs *p, pid_t pid)
{
	char path[128], text[1024];
	struct str rest, word = STR("");
	const char *end;
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "%.90s/%d/stat", p->proc, (int)pid);
	in = fopen(path, "re");
	n = in ? fread(text, 1, sizeof(text), in) : 0;
	if (in)
		fclose(in);
	rest = (struct str){ text, n };
	end = n ? memrchr(text, ')', n) : NULL;
	if (end) /* the name in front of it may hold anything */
		rest = str_skip(rest, (size_t)(end + 1 - text));
	for (int i = 0; i < 20; i++)
		if (!str_take_word(&rest, &word))
			return 0;
	return str_hash(word) ^ hash_of(&(uint64_t){ (uint64_t)pid }, 1);
}

static char *copied(const char *z)
{
	size_t n = strlen(z) + 1;

	return memcpy(mem_alloc(n), z, n);
}

static void note_file(void *ctx, const char *path)
{
	struct programs *p = ctx;
	uint64_t *known;
	struct stat st;

	if (stat(path, &st) < 0)
		return; /* of a class path, not all need be there */
	known = map_at(&p->files,
		       hash_of((const uint64_t[]){ st.st_dev, st.st_ino, (uint64_t)st.st_size,
						   (uint64_t)st.st_mtime },
			       4));
	if (!*known)
		vec_push(&p->paths, copied(path));
	*known = 1;
}

void programs_add(struct programs *p, pid_t pid, struct losses *losses)
{
	uint64_t key = process_key(p, pid), *known;

	if (!key)
		return;
	if (p->processes.nr > KNOWN_MAX)
		map_clear(&p->processes);
	known = map_at(&p->processes, key);
	if (*known)
		return;
	*known = 1;
	programs_files(p->proc, pid, note_file, p, losses);
}

bool programs_is_new(const struct programs *p)
{
	return p->paths.nr > 0;
}

const struct constants *programs_constants(struct programs *p, struct losses *losses)
{
	if (!p->paths.nr)
		return p->constants;
	if (!p->constants)
		p->constants = constants_new(0);
	constants_load(p->constants, (const char *const *)p->paths.v, p->paths.nr, losses);
	constants_settle(p->constants, losses);
	vec_each (&p->paths, path)
		free(*path);
	vec_clear(&p->paths);
	return p->constants;
}
