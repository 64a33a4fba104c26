#include "program/functions.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "program/functions_disasm.h"
#include "program/functions_load.h"

void functions_done(struct functions *f)
{
	vec_each (&f->modules, m)
		function_image_free(m->image);
	functions_disasm_done(f);
	vec_done(&f->modules);
	vec_done(&f->v);
	vec_done(&f->aliases);
	map_done(&f->by_name);
	arena_done(&f->arena);
	*f = (struct functions){ 0 };
}

static int load_single(struct functions *f, struct function_image *m, const char *path)
{
	functions_load(f, m, str_of(path), "", true);
	functions_index(f);
	return 0;
}

int functions_of_file(struct functions *f, const char *path, struct error *err)
{
	struct error why = { 0 };
	struct function_image *m = function_image_open(path, &why);

	if (!m)
		return error_set(err, why.code, "%s", why.msg);
	return load_single(f, m, path);
}

int functions_of_bytes(struct functions *f, struct str bytes, const char *path, struct error *err)
{
	struct function_image *m = function_image_of(bytes, err);

	return m ? load_single(f, m, path) : -EBADMSG;
}

/* A file that the process maps as code. */
struct mapped {
	uint64_t start, end;
	uint64_t device, inode;
	struct str path;
	bool is_deleted, is_main;
};

struct process {
	int pid;
	char root[32];
	char exe[PATH_MAX];
	struct arena arena;
	VEC(struct mapped) files; /* each once */
};

/* "start-end rwxp offset major:minor inode   path"; false for what is no code of a file. */
static bool parse_mapping(struct str s, struct mapped *m)
{
	struct str word;
	uint64_t skipped, major, minor;

	if (!str_take_hex(&s, &m->start) || !str_take_char(&s, '-') || !str_take_hex(&s, &m->end) ||
	    !str_take_word(&s, &word) || word.n < 4 || word.p[2] != 'x')
		return false;
	str_take_spaces(&s);
	if (!str_take_hex(&s, &skipped))
		return false;
	str_take_spaces(&s);
	if (!str_take_hex(&s, &major) || !str_take_char(&s, ':') || !str_take_hex(&s, &minor))
		return false;
	str_take_spaces(&s);
	if (!str_take_uint(&s, &m->inode) || !m->inode)
		return false;
	str_take_spaces(&s);
	m->device = major << 32 | minor;
	m->is_deleted = str_ends(s, STR(" (deleted)"));
	m->path = m->is_deleted ? str_head(s, s.n - 10) : s;
	return m->path.n > 0 && m->path.p[0] == '/';
}

static void add_mapping(struct process *p, struct str line)
{
	struct mapped m = { 0 };

	if (!parse_mapping(line, &m))
		return;
	vec_each (&p->files, other)
		if (other->device == m.device && other->inode == m.inode)
			return;
	m.is_main = str_eq(m.path, str_of(p->exe));
	m.path = arena_str(&p->arena, m.path);
	vec_push(&p->files, m);
}

static int read_mappings(struct process *p, struct error *err)
{
	cleanup(free) char *line = NULL;
	cleanup(fclose) FILE *maps = NULL;
	char path[64];
	size_t room = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	maps = fopen(path, "re");
	if (!maps && errno == ENOENT)
		return error_set(err, ESRCH, "there is no process %d", p->pid);
	if (!maps)
		return error_set(err, errno,
				 "cannot see what process %d runs: %s (it must be yours, or run "
				 "as root)",
				 p->pid, strerror(errno));
	while ((n = getline(&line, &room, maps)) > 0)
		add_mapping(p, (struct str){ line, (size_t)n - (line[n - 1] == '\n') });
	if (ferror(maps))
		return error_set(err, EACCES, "not allowed to see what process %d runs", p->pid);
	if (!p->files.nr)
		return error_set(err, ESRCH, "process %d runs no program: it has ended, or %s",
				 p->pid, "may not be looked at, or is one of the kernel");
	return 0;
}

static void process_init(struct process *p, int pid)
{
	char link[64];
	ssize_t n;

	*p = (struct process){ .pid = pid };
	snprintf(p->root, sizeof(p->root), "/proc/%d/root", pid);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, p->exe, sizeof(p->exe) - 1);
	p->exe[n > 0 ? n : 0] = '\0';
	if (n > 10 && !strcmp(p->exe + n - 10, " (deleted)"))
		p->exe[n - 10] = '\0';
}

/* The file as the process has it, even when its name is gone or taken by another. */
static struct function_image *open_mapped(const struct process *p, const struct mapped *m,
					  struct error *err)
{
	struct function_image *image = NULL;
	char path[PATH_MAX + 64];

	if (!m->is_deleted) {
		snprintf(path, sizeof(path), "%s" STR_FMT, p->root, STR_ARG(m->path));
		image = function_image_open(path, err);
	}
	if (!image) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", p->pid,
			 (unsigned long long)m->start, (unsigned long long)m->end);
		image = function_image_open(path, err);
	}
	if (!image && m->is_main) {
		snprintf(path, sizeof(path), "/proc/%d/exe", p->pid);
		image = function_image_open(path, err);
	}
	return image;
}

static bool is_loaded(const struct functions *f, const struct mapped *m)
{
	vec_each (&f->modules, other)
		if (other->device == m->device && other->inode == m->inode)
			return true;
	return false;
}

static void load_mapped(struct functions *f, const struct process *p, const struct mapped *m,
			struct error *err)
{
	struct function_image *image = is_loaded(f, m) ? NULL : open_mapped(p, m, err);

	if (image) {
		functions_load(f, image, m->path, p->root, m->is_main);
		f->modules.v[f->modules.nr - 1].device = m->device;
		f->modules.v[f->modules.nr - 1].inode = m->inode;
	} else if (!is_loaded(f, m)) {
		f->nr_unread++;
	}
}

int functions_of_process(struct functions *f, int pid, struct error *err)
{
	struct error why = { 0 };
	size_t before = f->modules.nr;
	struct process p;
	int r;

	process_init(&p, pid);
	r = read_mappings(&p, err);
	if (!r) {
		/* the program first, then the others as they lie in memory */
		for (int is_main = 1; is_main >= 0; is_main--)
			vec_each (&p.files, m)
				if (m->is_main == (bool)is_main)
					load_mapped(f, &p, m, &why);
		if (f->modules.nr > before)
			functions_index(f);
		if (!f->modules.nr)
			r = error_set(err, why.code, "%s", why.msg);
	}
	vec_done(&p.files);
	arena_done(&p.arena);
	return r;
}

uint32_t functions_at(const struct functions *f, uint32_t module, uint64_t address)
{
	const struct module_of *m = &f->modules.v[module];
	size_t low = m->first, high = m->first + (size_t)m->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->v.v[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->first || address - f->v.v[low - 1].address >= f->v.v[low - 1].size)
		return UINT32_MAX;
	return (uint32_t)low - 1;
}

static struct str file_of(struct str path)
{
	for (size_t i = path.n; i-- > 0;)
		if (path.p[i] == '/')
			return str_skip(path, i + 1);
	return path;
}

/* "libc.so.6", "libc", or a whole path. */
static bool is_module(const struct module_of *m, struct str name)
{
	struct str file = file_of(m->path);

	if (str_eq(m->path, name) || str_eq(file, name))
		return true;
	return str_starts(file, name) && name.n && str_starts(str_skip(file, name.n), STR(".so"));
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

size_t functions_find(const struct functions *f, struct str name, uint32_t *out, size_t max)
{
	struct str module = STR("");
	VEC(uint32_t) found = { 0 };
	uint64_t *first;
	size_t nr = 0;

	if (str_find_char(name, '!') < name.n)
		str_take_until(&name, '!', &module);
	first = map_find(&f->by_name, str_hash(name));
	for (size_t at = first ? *first : 0; at; at = f->aliases.v[at - 1].next) {
		const struct function_alias *a = &f->aliases.v[at - 1];

		if (str_eq(a->name, name) &&
		    (!module.n || is_module(&f->modules.v[f->v.v[a->function].module], module)))
			vec_push(&found, a->function);
	}
	if (found.nr)
		qsort(found.v, found.nr, sizeof(*found.v), by_number);
	for (size_t i = 0; i < found.nr && nr < max; i++)
		if (!i || found.v[i] != found.v[i - 1])
			out[nr++] = found.v[i];
	vec_done(&found);
	return nr;
}
