#include "source/layout_names.h"

/* Both ends and the length: names that differ only in between share a place, no more. */
static unsigned place_of(struct str name)
{
	uint64_t front = 0, end = 0;

	if (name.n >= sizeof(front)) {
		memcpy(&front, name.p, sizeof(front));
		memcpy(&end, name.p + name.n - sizeof(end), sizeof(end));
	} else if (name.n >= sizeof(uint32_t)) {
		memcpy(&front, name.p, sizeof(uint32_t));
		memcpy(&end, name.p + name.n - sizeof(uint32_t), sizeof(uint32_t));
	} else {
		for (size_t i = 0; i < name.n; i++)
			front = front << 8 | (unsigned char)name.p[i];
	}
	front ^= (end << 23 | end >> 41) + name.n;
	return (unsigned)(front * 0x9e3779b97f4a7c15ULL >> 56) % LAYOUT_NAMES;
}

enum layout_meaning layout_names_find(struct layout_names *names, struct str name, uint8_t *rank)
{
	unsigned at = place_of(name);

	if (!name.n || name.n > LAYOUT_NAME_BYTES)
		return layout_meaning_of(name, rank);
	if (names->known[at].n != name.n || memcmp(names->known[at].name, name.p, name.n) != 0) {
		uint8_t found = 0;

		names->known[at].means = (uint8_t)layout_meaning_of(name, &found);
		names->known[at].rank = found;
		names->known[at].n = (uint8_t)name.n;
		memcpy(names->known[at].name, name.p, name.n);
	}
	if (names->known[at].means != MEANS_NOTHING)
		*rank = names->known[at].rank;
	return (enum layout_meaning)names->known[at].means;
}
