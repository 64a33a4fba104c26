/* Places in the code that calls come from, by number: the same for all processes of a program. */
#ifndef CULPRIT_CAPTURE_PROBE_SITES_H
#define CULPRIT_CAPTURE_PROBE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct site {
	const char *module; /* NULL: in none */
	uint64_t address;   /* in its file */
};

#define SITES_NEAR 4096

/* Zero is empty. */
struct sites {
	struct arena arena;
	VEC(struct site) v;    /* site - 1 */
	struct map by_address; /* the site, by family and address */
	struct map by_place;   /* the site, by hash of module and address */
	uint64_t nr_unread;    /* processes whose mappings could not be read */
	struct {
		uint64_t key;
		uint32_t site;
	} near[SITES_NEAR]; /* those that were asked for last */
};

void sites_done(struct sites *s);
/* Of an address in a process of the family. */
uint32_t sites_add(struct sites *s, uint32_t family, int pid, uint64_t address);

static inline uint32_t sites_at(struct sites *s, uint32_t family, int pid, uint64_t address)
{
	uint64_t key = (uint64_t)family << 48 | address;
	size_t i = (key ^ key >> 12 ^ key >> 40) % SITES_NEAR;

	if (s->near[i].key != key) {
		const uint64_t *known = map_find(&s->by_address, key);

		s->near[i].site = known ? (uint32_t)*known : sites_add(s, family, pid, address);
		s->near[i].key = key;
	}
	return s->near[i].site;
}

#endif
