#include "source/follow_index.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "source/follow_set.h"

static size_t slot_of(const struct follow_index *x, dev_t dev, ino_t ino)
{
	const uint64_t id[] = { dev, ino };

	return str_hash((struct str){ (const char *)id, sizeof(id) }) & (x->nr_slots - 1);
}

static void put(struct follow_index *x, struct followed *it)
{
	size_t at = slot_of(x, it->dev, it->ino);

	while (x->slots[at])
		at = (at + 1) & (x->nr_slots - 1);
	x->slots[at] = it;
}

static void grow(struct follow_index *x)
{
	struct follow_index old = *x;

	x->nr_slots = old.nr_slots ? 2 * old.nr_slots : 64;
	x->slots = mem_zalloc(mem_bytes(x->nr_slots, sizeof(*x->slots)));
	for (size_t i = 0; i < old.nr_slots; i++)
		if (old.slots[i])
			put(x, old.slots[i]);
	free(old.slots);
}

void follow_index_add(struct follow_index *x, struct followed *it)
{
	if (2 * ++x->nr > x->nr_slots)
		grow(x);
	put(x, it);
}

struct followed *follow_index_find(const struct follow_index *x, dev_t dev, ino_t ino)
{
	if (!x->nr_slots)
		return NULL;
	for (size_t at = slot_of(x, dev, ino); x->slots[at]; at = (at + 1) & (x->nr_slots - 1))
		if (x->slots[at]->dev == dev && x->slots[at]->ino == ino)
			return x->slots[at];
	return NULL;
}

void follow_index_done(struct follow_index *x)
{
	free(x->slots);
	*x = (struct follow_index){ 0 };
}
