#include "host/tail_kin.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/vec.h"
#include "source/rotation.h"

#define KIN_MAX 4096 /* of one log */

static int by_age(const void *a, const void *b)
{
	return rotation_cmp(str_of(*(char *const *)a), str_of(*(char *const *)b));
}

static bool is_kin(const char *name, struct str log)
{
	struct rotation r;

	rotation_of(str_of(name), &r);
	return str_eq(str_of(r.log), log);
}

void tail_kin(const char *log, tail_kin_each *each, void *ctx)
{
	const char *slash = strrchr(log, '/');
	struct str base = str_of(slash ? slash + 1 : log);
	struct buf path = { 0 };
	VEC(char *) names = { 0 };
	struct dirent *e;
	struct stat st;
	bool is_enough = false;
	DIR *d;

	buf_add(&path, slash ? (struct str){ log, (size_t)(slash - log) + 1 } : STR("./"));
	size_t dir = path.n;
	buf_char(&path, 0);
	d = opendir(path.p);
	while (d && names.nr < KIN_MAX && (e = readdir(d)))
		if (e->d_name[0] != '.' && is_kin(e->d_name, base))
			vec_push(&names, strdup(e->d_name));
	if (d)
		closedir(d);
	if (names.nr)
		qsort(names.v, names.nr, sizeof(*names.v), by_age);
	for (size_t i = 0; i < names.nr; i++) {
		path.n = dir;
		buf_add(&path, str_of(names.v[i]));
		buf_char(&path, 0);
		free(names.v[i]);
		if (!is_enough && !stat(path.p, &st) && S_ISREG(st.st_mode))
			is_enough = each(ctx, path.p, &st);
	}
	vec_done(&names);
	buf_done(&path);
}
