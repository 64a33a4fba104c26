#include "base/crew.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pipeline.h"

struct crew {
	uint32_t next, nr;
	void (*work)(void *ctx, uint32_t item);
	void *ctx;
};

static int fill(void *ctx, void *slot, struct error *err)
{
	struct crew *c = ctx;

	(void)err;
	if (c->next == c->nr)
		return 0;
	*(uint32_t *)slot = c->next++;
	return 1;
}

static void work(void *ctx, void *slot)
{
	struct crew *c = ctx;

	c->work(c->ctx, *(uint32_t *)slot);
}

static int drain(void *ctx, void *slot, struct error *err)
{
	(void)ctx;
	(void)slot;
	(void)err;
	return 0;
}

void crew_run_with(unsigned threads, uint32_t nr_items, void (*work_on)(void *ctx, uint32_t item),
		   void *ctx)
{
	struct crew crew = { 0, nr_items, work_on, ctx };
	const struct pipeline line = { fill, work, drain, &crew };
	/* items differ in size, and slots are drained in order: many, so that nobody waits */
	size_t nr_slots = nr_items < 4096 ? nr_items : 4096;
	uint32_t *items;
	void **slots;

	if (!nr_items)
		return;
	items = mem_alloc(mem_bytes(nr_slots, sizeof(*items)));
	slots = mem_alloc(mem_bytes(nr_slots, sizeof(*slots)));
	for (size_t i = 0; i < nr_slots; i++)
		slots[i] = &items[i];
	pipeline_run(&line, slots, nr_slots, threads ? threads : pipeline_cores(), NULL);
	free(slots);
	free(items);
}

void crew_run(uint32_t nr_items, void (*work_on)(void *ctx, uint32_t item), void *ctx)
{
	crew_run_with(0, nr_items, work_on, ctx);
}
