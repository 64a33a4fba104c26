#include "cli/variance_learn.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "base/time.h"
#include "capture/probe/stacks.h"
#include "cli/variance_watchlist.h"
#include "program/functions.h"

#define LEARN_NS (4 * NS_S)
#define PASSES 32 /* then threads that are new have their turn, too */
#define LEARN_STACKS 100
#define OPEN_NS (20 * NS_S) /* then they are opened anew: modules come and go */
#define DEEP 64

/* The function that a place is in, or UINT32_MAX. */
static uint32_t function_at(const struct functions *f, const struct stack_place *place)
{
	for (uint32_t m = 0; place->module && m < f->modules.nr; m++)
		if (str_eq(f->modules.v[m].path, str_of(place->module)))
			return functions_at(f, m, place->address);
	return UINT32_MAX;
}

/* Which of those that are looked into this is. */
static const struct watch *wanted(const struct learning *l, uint32_t function)
{
	vec_each (&l->numbers, n)
		if (l->list->v.v[*n].function == function)
			return &l->list->v.v[*n];
	return NULL;
}

/* All that stands below one of them on the stack was called by it, or for it. False: none is. */
static bool take_stack(struct learning *l, const struct stack_place *v, size_t nr)
{
	uint32_t functions[DEEP];

	for (size_t i = 0; i < nr; i++) {
		const struct watch *w;
		uint32_t depth;

		functions[i] = function_at(l->list->functions, &v[i]);
		w = functions[i] == UINT32_MAX ? NULL : wanted(l, functions[i]);
		if (!w)
			continue;
		depth = w->depth;
		for (size_t k = i; k-- > 0;)
			if (functions[k] != UINT32_MAX && functions[k] != functions[i])
				watchlist_meet(l->list, functions[k], ++depth);
		return true;
	}
	return false;
}

static void close_all(struct learning *l)
{
	for (size_t i = 0; i < l->nr_open; i++)
		stacks_close(l->open[i].stacks);
	l->nr_open = 0;
}

/* Reading what a process has loaded takes long: it is done once for several rounds. */
static void open_all(struct learning *l, const struct map *processes)
{
	const struct map_slot *at = NULL;
	size_t nr = 0, known = 0;

	while (nr < LEARN_PROCESSES && (at = map_next(processes, at))) {
		nr += at->value == 1;
		for (size_t i = 0; i < l->nr_open; i++)
			known += at->value == 1 && l->open[i].pid == (int)at->key;
	}
	if (l->nr_open && known == nr && time_tick() - l->opened < OPEN_NS)
		return;
	close_all(l);
	l->opened = time_tick();
	for (at = NULL; l->nr_open < LEARN_PROCESSES && (at = map_next(processes, at));) {
		struct error ignored = { 0 };

		if (at->value != 1)
			continue;
		l->open[l->nr_open].pid = (int)at->key;
		l->nr_open += stacks_open(&l->open[l->nr_open].stacks, (int)at->key, &ignored) >= 0;
	}
}

static void list_threads(struct learning *l)
{
	l->nr_turn = l->next = 0;
	for (size_t i = 0; i < l->nr_open; i++) {
		char path[64];
		struct dirent *d;
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%d/task", l->open[i].pid);
		dir = opendir(path);
		while (dir && l->nr_turn < sizeof(l->turn) / sizeof(*l->turn) &&
		       (d = readdir(dir))) {
			int tid = atoi(d->d_name);

			if (tid > 0)
				l->turn[l->nr_turn++] = (struct learn_thread){ i, tid };
		}
		if (dir)
			closedir(dir);
	}
}

void learn_begin(struct learning *l, struct watchlist *p, const struct map *processes,
		 const uint32_t *numbers, size_t nr)
{
	l->list = p;
	l->is_begun = true;
	l->nr_stacks = 0;
	vec_clear(&l->numbers);
	for (size_t i = 0; i < nr; i++)
		vec_push(&l->numbers, numbers[i]);
	open_all(l, processes);
	list_threads(l);
	l->began = time_tick();
}

static void look_at(struct learning *l, struct learn_thread *t)
{
	struct stacks *s = l->open[t->of].stacks;
	struct stack_place places[DEEP];
	uint64_t waits_at = stacks_waits_at(s, t->tid);
	int64_t before = stacks_held_ns(s);

	/* one that waits for work tells nothing, however often it is looked at */
	if (waits_at && waits_at == t->idle)
		return;
	t->idle = take_stack(l, places, stacks_sample(s, t->tid, places, DEEP)) ? 0 : waits_at;
	l->held_ns += stacks_held_ns(s) - before;
	l->nr_stacks++;
}

enum learn_step learn_one(struct learning *l)
{
	if (l->nr_stacks >= LEARN_STACKS || time_tick() - l->began > LEARN_NS || !l->nr_open) {
		l->is_begun = false;
		return LEARN_OVER;
	}
	if (l->next < l->nr_turn) {
		look_at(l, &l->turn[l->next++]);
		return LEARN_ON;
	}
	l->next = 0;
	if (++l->nr_passes % PASSES == 0)
		list_threads(l);
	return LEARN_LATER;
}

void learn_done(struct learning *l)
{
	close_all(l);
	vec_done(&l->numbers);
}
