#include "web/ahead.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/runs.h"

#define LOOK_S 1 /* how often a run that is being made is looked at again */

/* As the views ask it when nothing is selected yet: the first that one sees stands first. */
static const struct {
	const char *path;
	struct asked_param params[3];
} asked_first[] = {
	{ "/api/answer", { { 0 } } },
	{ "/api/requests", { { "types", "" } } },
	{ "/api/requests", { { "over-time", "" }, { "steps", "80" } } },
	{ "/api/paths", { { "graph", "" } } },
	{ "/api/paths", { { "fold", "" }, { "spread", "" }, { "limit", "1000" } } },
	{ "/api/slow", { { 0 } } },
	{ "/api/variance", { { "tree", "" }, { "top", "300" } } },
};

struct ahead {
	const struct api *api;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool is_stopped;
};

static bool is_stopped(struct ahead *a)
{
	bool stopped;

	pthread_mutex_lock(&a->lock);
	stopped = a->is_stopped;
	pthread_mutex_unlock(&a->lock);
	return stopped;
}

static void pause_a_little(struct ahead *a)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOOK_S;
	pthread_mutex_lock(&a->lock);
	if (!a->is_stopped)
		pthread_cond_timedwait(&a->woken, &a->lock, &until);
	pthread_mutex_unlock(&a->lock);
}

static void ask_of(struct ahead *a, unsigned run)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", run);
	for (size_t i = 0; i < sizeof(asked_first) / sizeof(*asked_first) && !is_stopped(a); i++) {
		struct asked q = { .method = "GET", .path = asked_first[i].path };

		q.params[q.nr_params++] = (struct asked_param){ "run", number };
		for (int k = 0; k < 3 && asked_first[i].params[k].name; k++)
			q.params[q.nr_params++] = asked_first[i].params[k];
		/* others came first: it is asked again */
		while (!api_ahead(a->api, &q) && !is_stopped(a))
			pause_a_little(a);
	}
}

static void *think(void *to)
{
	struct ahead *a = to;

	for (unsigned run = 1; run <= runs_nr(a->api->runs) && !is_stopped(a);) {
		if (runs_is_pending(a->api->runs, run))
			pause_a_little(a);
		else
			ask_of(a, run++);
	}
	return NULL;
}

struct ahead *ahead_start(const struct api *api)
{
	struct ahead *a = mem_zalloc(sizeof(*a));

	a->api = api;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->woken, NULL);
	if (!pthread_create(&a->thread, NULL, think, a))
		return a;
	free(a);
	return NULL;
}

void ahead_stop(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_stopped = true;
	pthread_cond_signal(&a->woken);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->woken);
	free(a);
}
