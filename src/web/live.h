/*
 * Live queries over HTTP: what stands at a hub, the answers so far, who works for them, and new
 * ones. GET /api/live, /api/live/answer, /api/live/words, /api/live/explain and /metrics;
 * POST /api/live/measure, /api/live/install and /api/live/remove.
 */
#ifndef CULPRIT_WEB_LIVE_H
#define CULPRIT_WEB_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct api;
struct arena;
struct asked;
struct error;
struct live_advice;
struct live_answer;
struct live_peer;
struct live_standing;
struct live_word;
struct reply;

#define LIVE_ID_MAX 64

/* Who knows the hub; called on any thread. What is handed over is borrowed during the call. */
struct live_hub {
	void *ctx;
	struct str endpoint;
	/* Empty: the hub answers; otherwise why it does not. */
	void (*state)(void *ctx, char *why, size_t room);
	void (*standing)(void *ctx, void (*each)(void *to, const struct live_standing *q),
			 void *to);
	void (*peers)(void *ctx, void (*each)(void *to, const struct live_peer *p), void *to);
	void (*words)(void *ctx, void (*each)(void *to, const struct live_word *w), void *to);
	/* The same moment in several views: in each, rows are told apart by the keys in these
	 * columns, as bits, others are put together. -ENOENT where there is no such query. */
	int (*answer)(void *ctx, struct str id, const uint64_t *keep, size_t nr,
		      struct arena *arena, struct live_answer *a, struct error *err);
	/* measured: after counting for some seconds how often each stage would run. */
	int (*explain)(void *ctx, struct str text, bool is_measured,
		       void (*each)(void *to, const struct live_advice *a), void *to,
		       struct error *err);
	int (*install)(void *ctx, struct str text, char id[LIVE_ID_MAX], struct error *err);
	int (*remove)(void *ctx, struct str id, struct error *err);
};

void live_state(const struct api *api, const struct asked *a, struct reply *r);
void live_rows(const struct api *api, const struct asked *a, struct reply *r);
void live_words(const struct api *api, const struct asked *a, struct reply *r);
void live_explain(const struct api *api, const struct asked *a, struct reply *r);
void live_measure(const struct api *api, const struct asked *a, struct reply *r);
void live_install(const struct api *api, const struct asked *a, struct reply *r);
void live_remove(const struct api *api, const struct asked *a, struct reply *r);
void live_metrics(const struct api *api, const struct asked *a, struct reply *r);

#endif
