/*
 * The calling thread fills and drains, the workers work. Slots form a ring: fill goes ahead while a
 * slot is free, drain takes the oldest as soon as its work is done, so order is kept without a
 * queue.
 */
#include "base/pipeline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

enum slot_state { SLOT_FREE, SLOT_FILLED, SLOT_WORKED };

struct ring {
	const struct pipeline *p;
	void **slots;
	enum slot_state *state;
	size_t nr;
	size_t filled, taken; /* counts since the start */
	bool closed;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static void *worker(void *arg)
{
	struct ring *r = arg;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		size_t at;

		while (r->taken == r->filled && !r->closed)
			pthread_cond_wait(&r->changed, &r->lock);
		if (r->taken == r->filled)
			break;
		at = r->taken++ % r->nr;
		pthread_mutex_unlock(&r->lock);
		r->p->work(r->p->ctx, r->slots[at]);
		pthread_mutex_lock(&r->lock);
		r->state[at] = SLOT_WORKED;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void set_state(struct ring *r, size_t at, enum slot_state state)
{
	pthread_mutex_lock(&r->lock);
	r->state[at] = state;
	if (state == SLOT_FILLED)
		r->filled++;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static bool is_worked(struct ring *r, size_t at, bool wait)
{
	bool yes;

	pthread_mutex_lock(&r->lock);
	while (wait && r->state[at] != SLOT_WORKED)
		pthread_cond_wait(&r->changed, &r->lock);
	yes = r->state[at] == SLOT_WORKED;
	pthread_mutex_unlock(&r->lock);
	return yes;
}

static int fill_and_drain(struct ring *r, struct error *err)
{
	size_t filled = 0, drained = 0;
	bool end = false;

	while (!end || drained < filled) {
		bool room = !end && filled - drained < r->nr;
		int got;

		if (drained < filled && is_worked(r, drained % r->nr, !room)) {
			got = r->p->drain(r->p->ctx, r->slots[drained % r->nr], err);
			if (got < 0)
				return got;
			set_state(r, drained++ % r->nr, SLOT_FREE);
			continue;
		}
		if (!room)
			continue;
		got = r->p->fill(r->p->ctx, r->slots[filled % r->nr], err);
		if (got < 0)
			return got;
		if (got)
			set_state(r, filled++ % r->nr, SLOT_FILLED);
		else
			end = true;
	}
	return 0;
}

static int run_alone(const struct pipeline *p, void *slot, struct error *err)
{
	int got;

	while ((got = p->fill(p->ctx, slot, err)) > 0) {
		p->work(p->ctx, slot);
		got = p->drain(p->ctx, slot, err);
		if (got < 0)
			break;
	}
	return got;
}

int pipeline_run(const struct pipeline *p, void **slots, size_t nr_slots, unsigned nr_workers,
		 struct error *err)
{
	struct ring r = { .p = p, .slots = slots, .nr = nr_slots };
	unsigned started = 0;
	pthread_t *threads;
	int got;

	if (nr_workers < 2 || nr_slots < 2)
		return run_alone(p, slots[0], err);
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.changed, NULL);
	r.state = mem_zalloc(mem_bytes(nr_slots, sizeof(*r.state)));
	threads = mem_zalloc(mem_bytes(nr_workers, sizeof(*threads)));
	while (started < nr_workers && !pthread_create(&threads[started], NULL, worker, &r))
		started++;
	got = started ? fill_and_drain(&r, err) : run_alone(p, slots[0], err);
	pthread_mutex_lock(&r.lock);
	r.closed = true;
	pthread_cond_broadcast(&r.changed);
	pthread_mutex_unlock(&r.lock);
	while (started)
		pthread_join(threads[--started], NULL);
	free(threads);
	free(r.state);
	pthread_cond_destroy(&r.changed);
	pthread_mutex_destroy(&r.lock);
	return got;
}

unsigned pipeline_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}
