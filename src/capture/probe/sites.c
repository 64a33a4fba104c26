#include "capture/probe/sites.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"
#include "capture/probe/image.h"

#define SITES_MAX (1u << 24)

void sites_done(struct sites *s)
{
	arena_done(&s->arena);
	vec_done(&s->v);
	map_done(&s->by_address);
	map_done(&s->by_place);
}

static struct site site_find(struct sites *s, int pid, uint64_t address)
{
	struct site found = { .address = address };
	cleanup(close_fd) int mem = -1;
	struct error err;
	struct image im;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0 || image_read(&im, pid, mem, &err) < 0) {
		s->nr_unread++;
		return found;
	}
	vec_each (&im.modules, m)
		if (address >= m->low && address < m->high) {
			found.module = arena_z(&s->arena, str_of(m->path));
			found.address = address - m->bias;
			break;
		}
	image_done(&im);
	return found;
}

uint32_t sites_add(struct sites *s, uint32_t family, int pid, uint64_t address)
{
	struct site place;
	uint64_t *nr, key;

	if (s->v.nr >= SITES_MAX)
		return 0;
	place = site_find(s, pid, address);
	key = place.module ? str_hash(str_of(place.module)) : 1;
	key = (key ^ place.address) * 0x9e3779b97f4a7c15u;
	nr = map_at(&s->by_place, key);
	if (!*nr) {
		vec_push(&s->v, place);
		*nr = s->v.nr;
	}
	*map_at(&s->by_address, (uint64_t)family << 48 | address) = *nr;
	return (uint32_t)*nr;
}
