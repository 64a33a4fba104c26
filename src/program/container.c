/*
 * A stack of open containers: the paths given, folders in them, jars in those, jars in jars.
 * Entries leave in the order in which the stack is walked, folders sorted by name, so that two runs
 * see the same program.
 *
 * Jars come from anywhere, so every promise in them is bounded: the size of a class, the size of a
 * jar within a jar, how deep they stand in each other, and how much more than itself a jar may
 * unpack to.
 */
#include "program/container.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zip.h>
#include <zlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "model/loss.h"

enum {
	DEPTH_MAX = 64,     /* folders and jars */
	JARS_DEEP_MAX = 4,  /* jars within jars */
	SWELLING_MAX = 100, /* how many times itself a jar may unpack to */
};
#define SWELLING_FREE ((uint64_t)64 << 20) /* and this much more */
#define JAR_BYTES_MAX ((uint64_t)1 << 30)  /* of a jar within a jar */

struct level {
	char *path;
	zip_t *zip; /* NULL: a list of paths */
	char **names;
	size_t nr, at;
	bool is_borrowed; /* the names are the caller's, and whole paths */
	uint64_t stored, unpacked;
	unsigned jars_deep;
};

struct container {
	VEC(struct level) levels;
	struct losses *losses;
	uint32_t nr_opened;
};

static char *joined(const char *a, char between, const char *b)
{
	size_t n = strlen(a) + strlen(b) + 2;
	char *z = mem_alloc(n);

	snprintf(z, n, "%s%c%s", a, between, b);
	return z;
}

static char *copied(const char *z)
{
	size_t n = strlen(z) + 1;

	return memcpy(mem_alloc(n), z, n);
}

static bool ends_with(const char *name, const char *end)
{
	return str_ends(str_of(name), str_of(end));
}

static bool is_jar(const char *name)
{
	return ends_with(name, ".jar") || ends_with(name, ".war") || ends_with(name, ".ear") ||
	       ends_with(name, ".zip") || ends_with(name, ".jmod");
}

static void level_done(struct level *l)
{
	if (l->zip)
		zip_discard(l->zip);
	for (size_t i = 0; !l->is_borrowed && !l->zip && i < l->nr; i++)
		free(l->names[i]);
	if (!l->is_borrowed)
		free(l->names);
	free(l->path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool push_folder(struct container *c, const char *path)
{
	struct level l = { .path = copied(path) };
	VEC(char *) names = { 0 };
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir || c->levels.nr >= DEPTH_MAX) {
		if (dir)
			closedir(dir);
		free(l.path);
		return false;
	}
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			vec_push(&names, joined(path, '/', e->d_name));
	closedir(dir);
	if (names.nr)
		qsort(names.v, names.nr, sizeof(*names.v), by_name);
	l.names = names.v;
	l.nr = names.nr;
	vec_push(&c->levels, l);
	c->nr_opened++;
	return true;
}

/* Takes the path over; false when the zip cannot be used. */
static bool push_zip(struct container *c, char *path, zip_t *zip, uint64_t stored, unsigned deep)
{
	struct level l = { .path = path, .zip = zip, .stored = stored, .jars_deep = deep };
	zip_int64_t nr = zip ? zip_get_num_entries(zip, 0) : -1;

	if (nr < 0 || c->levels.nr >= DEPTH_MAX || deep > JARS_DEEP_MAX) {
		if (zip)
			zip_discard(zip);
		free(path);
		return false;
	}
	l.nr = (size_t)nr;
	vec_push(&c->levels, l);
	c->nr_opened++;
	return true;
}

static bool push_jar_file(struct container *c, const char *path)
{
	struct stat st;
	int code;

	if (stat(path, &st) < 0)
		return false;
	return push_zip(c, copied(path), zip_open(path, ZIP_RDONLY, &code), (uint64_t)st.st_size,
			1);
}

/* The stored bytes of an entry; NULL when they cannot be had. */
static char *read_entry(zip_t *zip, zip_uint64_t index, zip_flags_t flags, uint64_t size)
{
	zip_file_t *f = zip_fopen_index(zip, index, flags);
	char *bytes;

	if (!f)
		return NULL;
	bytes = mem_alloc(size + 1);
	if (zip_fread(f, bytes, size) != (zip_int64_t)size) {
		free(bytes);
		bytes = NULL;
	}
	zip_fclose(f);
	return bytes;
}

/* Whether the jar has not yet unpacked to more than a jar may. */
static bool may_unpack(struct level *l, uint64_t bytes)
{
	l->unpacked += bytes;
	return l->unpacked <= l->stored * SWELLING_MAX + SWELLING_FREE;
}

static bool push_inner_jar(struct container *c, struct level *l, const zip_stat_t *st)
{
	zip_source_t *source;
	zip_error_t error;
	zip_t *zip = NULL;
	char *bytes;

	/* libzip does not give an empty buffer back */
	if (!st->size || st->size > JAR_BYTES_MAX || l->jars_deep >= JARS_DEEP_MAX ||
	    !may_unpack(l, st->size))
		return false;
	bytes = read_entry(l->zip, st->index, 0, st->size);
	if (!bytes)
		return false;
	zip_error_init(&error);
	source = zip_source_buffer_create(bytes, st->size, 1, &error);
	if (source)
		zip = zip_open_from_source(source, ZIP_RDONLY, &error);
	if (source && !zip)
		zip_source_free(source); /* and the bytes */
	if (!source)
		free(bytes);
	zip_error_fini(&error);
	return push_zip(c, joined(l->path, '!', st->name), zip, st->size, l->jars_deep + 1);
}

/* META-INF/versions/11/a/B.class counts from Java 11 on. */
static uint16_t release_of(const char *name)
{
	struct str s = str_of(name);
	uint64_t release;

	if (!str_take(&s, STR("META-INF/versions/")) || !str_take_uint(&s, &release) ||
	    release > 999)
		return 0;
	return (uint16_t)release;
}

/* 1 filled, 0 not to be had (counted). */
static int take_entry(struct container *c, struct level *l, const zip_stat_t *st, struct packed *p)
{
	bool is_deflated = st->comp_method == ZIP_CM_DEFLATE;
	zip_flags_t flags = is_deflated ? ZIP_FL_COMPRESSED : 0;
	uint64_t stored = is_deflated ? st->comp_size : st->size;

	*p = (struct packed){ .stored = stored,
			      .size = st->size,
			      .crc = st->crc,
			      .release = release_of(st->name),
			      .is_deflated = is_deflated };
	if (st->size > CLASS_BYTES_MAX || stored > CLASS_BYTES_MAX || !may_unpack(l, st->size) ||
	    st->encryption_method != ZIP_EM_NONE) {
		c->losses->count[LOSS_CLASSES_BROKEN]++;
		return 0;
	}
	p->bytes = read_entry(l->zip, st->index, flags, stored);
	if (!p->bytes) {
		c->losses->count[LOSS_CLASSES_BROKEN]++;
		return 0;
	}
	p->path = joined(l->path, '!', st->name);
	return 1;
}

static int next_of_zip(struct container *c, struct packed *p)
{
	struct level *l = &c->levels.v[c->levels.nr - 1];
	zip_stat_t st;

	zip_stat_init(&st);
	if (zip_stat_index(l->zip, l->at++, 0, &st) < 0 || !(st.valid & ZIP_STAT_NAME) ||
	    !(st.valid & ZIP_STAT_SIZE)) {
		c->losses->count[LOSS_CLASSES_BROKEN]++;
		return 0;
	}
	/* a jmod keeps its classes in a folder */
	if (ends_with(st.name, ".class"))
		return take_entry(c, l, &st, p);
	if (is_jar(st.name) && !push_inner_jar(c, l, &st))
		c->losses->count[LOSS_JARS_BROKEN]++;
	return 0;
}

static int take_file(struct container *c, const char *path, uint64_t size, struct packed *p)
{
	FILE *f = size <= CLASS_BYTES_MAX ? fopen(path, "re") : NULL;

	*p = (struct packed){ .stored = size, .size = size };
	if (f)
		p->bytes = mem_alloc(size + 1);
	if (!f || fread(p->bytes, 1, size, f) != size) {
		if (f)
			fclose(f);
		free(p->bytes);
		c->losses->count[LOSS_CLASSES_BROKEN]++;
		return 0;
	}
	fclose(f);
	p->path = copied(path);
	return 1;
}

static int next_of_list(struct container *c, struct packed *p, struct error *err)
{
	struct level *l = &c->levels.v[c->levels.nr - 1];
	const char *path = l->names[l->at++];
	bool is_given = l->is_borrowed;
	struct stat st;

	if (stat(path, &st) < 0) {
		if (is_given)
			return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
		c->losses->count[LOSS_FILES_UNREADABLE]++;
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		if (!push_folder(c, path))
			c->losses->count[LOSS_FILES_UNREADABLE]++;
	} else if (S_ISREG(st.st_mode) && ends_with(path, ".class")) {
		return take_file(c, path, (uint64_t)st.st_size, p);
	} else if (S_ISREG(st.st_mode) && (is_given || is_jar(path))) {
		if (!push_jar_file(c, path))
			c->losses->count[LOSS_JARS_BROKEN]++;
	}
	return 0;
}

int container_next(struct container *c, struct packed *p, struct error *err)
{
	int r = 0;

	while (!r && c->levels.nr) {
		struct level *l = &c->levels.v[c->levels.nr - 1];

		if (l->at >= l->nr) {
			level_done(l);
			c->levels.nr--;
			continue;
		}
		r = l->zip ? next_of_zip(c, p) : next_of_list(c, p, err);
	}
	return r;
}

int container_open(struct container **out, const char *const *paths, size_t nr,
		   struct losses *losses, struct error *err)
{
	struct container *c;
	struct level given = { .names = (char **)paths, .nr = nr, .is_borrowed = true };

	for (size_t i = 0; i < nr; i++) {
		struct stat st;

		if (stat(paths[i], &st) < 0)
			return error_set(err, errno, "cannot read '%s': %s", paths[i],
					 strerror(errno));
	}
	c = mem_zalloc(sizeof(*c));
	c->losses = losses;
	vec_push(&c->levels, given);
	*out = c;
	return 0;
}

void container_close(struct container *c)
{
	if (!c)
		return;
	vec_each (&c->levels, l)
		level_done(l);
	vec_done(&c->levels);
	free(c);
}

uint32_t container_nr_opened(const struct container *c)
{
	return c->nr_opened;
}

bool packed_unpack(const struct packed *p, struct arena *a, struct str *bytes)
{
	z_stream z = { .next_in = (Bytef *)p->bytes, .avail_in = (uInt)p->stored };
	char *plain = arena_alloc(a, p->size + 1);
	int r;

	if (!p->is_deflated) {
		memcpy(plain, p->bytes, p->size);
	} else {
		if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
			return false;
		z.next_out = (Bytef *)plain;
		z.avail_out = (uInt)p->size;
		r = inflate(&z, Z_FINISH);
		inflateEnd(&z);
		if (r != Z_STREAM_END || z.avail_out ||
		    crc32(0, (const Bytef *)plain, (uInt)p->size) != p->crc)
			return false;
	}
	*bytes = (struct str){ plain, p->size };
	return true;
}

void packed_done(struct packed *p)
{
	free(p->path);
	free(p->bytes);
	*p = (struct packed){ 0 };
}
