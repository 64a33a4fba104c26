#include "capture/probe/callers.h"

#include <string.h>

#include "capture/probe/family.h"
#include "capture/probe/image.h"

static bool is_file(const struct image_map *m)
{
	return m->file && m->path[0] == '/' && strncmp(m->path, "/memfd:", 7) != 0 &&
	       strncmp(m->path, "/dev/", 5) != 0 && strncmp(m->path, "/SYSV", 5) != 0;
}

static bool is_ours(const struct family *f, uint64_t at)
{
	if (at >= f->code && at < f->code + f->region->code_bytes)
		return true;
	for (uint32_t i = 0; i < f->nr_areas; i++)
		if (at >= f->areas[i].start && at < f->areas[i].start + f->areas[i].bytes)
			return true;
	return false;
}

/* The kernel's own has a name in brackets. */
static bool is_generated(const struct family *f, const struct image_map *m)
{
	return m->path[0] != '[' && !is_ours(f, m->start) && !is_ours(f, m->end - 1);
}

bool callers_read(const struct family *f, const struct image *im)
{
	struct probe_stretch *v = f->region->codes;
	bool has_generated = false;
	uint32_t nr = 0;

	vec_each (&im->maps, m) {
		if (!m->is_code)
			continue;
		if (!is_file(m)) {
			has_generated |= is_generated(f, m);
			continue;
		}
		if (nr && v[nr - 1].end == m->start)
			v[nr - 1].end = m->end;
		else if (nr < PROBE_CODES)
			v[nr++] = (struct probe_stretch){ m->start, m->end };
	}
	__atomic_store_n(&f->region->nr_codes, nr, __ATOMIC_RELEASE);
	return has_generated;
}
