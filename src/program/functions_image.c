/*
 * Files are mapped, not read: of a library of 100 MB only its tables are looked at. Programs are
 * replaced by renaming a new file over them, never written in place, so that what is mapped stays.
 */
#include "program/functions_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"

enum { NOTE_BUILD = 3, BUILD_MIN = 8, BUILD_MAX = 64 };

/* The bytes become those of the image, which unmaps them if map is given. */
static struct function_image *image_new(struct str bytes, void *map, const char *path,
					struct error *err)
{
	struct function_image *m = mem_zalloc(sizeof(*m));

	m->map = map;
	m->bytes = bytes.n;
	if (elf_read(&m->elf, bytes) && (m->elf.type == ELF_PROGRAM || m->elf.type == ELF_SHARED))
		return m;
	error_set(err, EBADMSG, "'%s' is no program or library (ELF)", path);
	function_image_free(m);
	return NULL;
}

struct function_image *function_image_open(const char *path, struct error *err)
{
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) < 0) {
		error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {
		error_set(err, EBADMSG, "'%s' is no program or library (ELF)", path);
		return NULL;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		error_set(err, errno, "cannot map '%s': %s", path, strerror(errno));
		return NULL;
	}
	return image_new((struct str){ map, (size_t)st.st_size }, map, path, err);
}

struct function_image *function_image_of(struct str bytes, struct error *err)
{
	return image_new(bytes, NULL, "memory", err);
}

void function_image_free(struct function_image *m)
{
	if (!m)
		return;
	elf_done(&m->elf);
	vec_done(&m->parts.v);
	map_done(&m->slots);
	if (m->map)
		munmap(m->map, m->bytes);
	free(m);
}

const struct section *function_image_section(const struct elf *e, uint64_t address)
{
	vec_each (&e->sections, s)
		if (s->flags & SECTION_ALLOC && address >= s->address &&
		    address - s->address < s->size)
			return s;
	return NULL;
}

/* Among notes that follow each other, that of the linker which names the build. */
static struct str build_in(const struct elf *e, struct str notes)
{
	uint64_t name, bytes, type;

	while (elf_number(e, notes, 0, 4, &name) && elf_number(e, notes, 4, 4, &bytes) &&
	       elf_number(e, notes, 8, 4, &type)) {
		uint64_t behind_name = 12 + ((name + 3) & ~(uint64_t)3);
		struct str id = str_head(str_skip(notes, behind_name), bytes);

		if (type == NOTE_BUILD && name == 4 &&
		    str_starts(str_skip(notes, 12), STR("GNU\0")) && id.n == bytes &&
		    bytes >= BUILD_MIN && bytes <= BUILD_MAX)
			return id;
		notes = str_skip(notes, behind_name + ((bytes + 3) & ~(uint64_t)3));
	}
	return STR("");
}

struct str function_image_build(const struct elf *e)
{
	struct str id = STR("");

	vec_each (&e->segments, s)
		if (s->type == SEGMENT_NOTE && !id.n)
			id = build_in(e, s->bytes);
	vec_each (&e->sections, s)
		if (s->type == SECTION_NOTE && !id.n)
			id = build_in(e, s->bytes);
	return id;
}

/* A file that may have the symbols: only when it is of the same build. */
static struct function_image *open_same(const char *path, struct str build)
{
	struct error err;
	struct function_image *m = function_image_open(path, &err);

	if (m && str_eq(function_image_build(&m->elf), build))
		return m;
	function_image_free(m);
	return NULL;
}

static struct function_image *debug_by_build(const char *root, struct str build)
{
	char path[PATH_MAX], hex[2 * BUILD_MAX + 1];

	for (size_t i = 0; i < build.n; i++)
		snprintf(hex + 2 * i, 3, "%02x", (uint8_t)build.p[i]);
	snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex,
		 hex + 2);
	return open_same(path, build);
}

/* .gnu_debuglink: a name without a folder, looked for where debuggers look. */
static struct function_image *debug_by_link(const struct elf *e, const char *root, struct str own,
					    struct str build)
{
	static const char *const places[] = { "%s%.*s/.debug/%.*s", "%s/usr/lib/debug%.*s/%.*s" };
	const struct section *s = elf_section_named(e, STR(".gnu_debuglink"));
	struct str name = s ? elf_text(s->bytes, 0) : STR("");
	struct function_image *m = NULL;
	char path[PATH_MAX];

	while (own.n && own.p[own.n - 1] != '/')
		own.n--;
	if (!name.n || !own.n || str_find_char(name, '/') < name.n)
		return NULL;
	own.n--;
	for (size_t i = 0; i < 2 && !m; i++) {
		int n = snprintf(path, sizeof(path), places[i], root, STR_ARG(own), STR_ARG(name));

		if (n > 0 && n < (int)sizeof(path))
			m = open_same(path, build);
	}
	return m;
}

struct function_image *function_image_debug(const struct function_image *m, const char *root,
					    struct str path)
{
	struct str build = function_image_build(&m->elf);
	struct function_image *d;

	if (!build.n)
		return NULL;
	d = debug_by_build(root, build);
	if (!d && root[0])
		d = debug_by_build("", build);
	return d ? d : debug_by_link(&m->elf, root, path, build);
}
