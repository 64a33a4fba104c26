/* Docker's json-file, the container runtime interface of Kubernetes, docker compose. */
#include "source/layout_wrap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_kind.h"

int layout_wrapped_parse(const struct layout *layout, struct layout_worker *worker,
			 const struct layout_wrapped *w, struct arena *arena, struct event *ev,
			 struct losses *losses)
{
	struct losses unused = { 0 };
	bool timed = w->ns != NS_NONE;

	if (w->inner && layout_parse(w->inner, layout_worker_inner(worker, w->nr, w->inner),
				     w->payload, arena, ev, timed ? &unused : losses) == 1) {
		if (timed)
			ev->ns = w->ns;
	} else {
		if (!timed || (w->inner && layout_is_continuation(w->payload)))
			return 0;
		layout_event_begin(layout, ev);
		ev->ns = w->ns;
		layout_event_finish(worker, ev, w->payload, arena);
	}
	if (w->node.n && str_eq(ev->node, layout->node))
		ev->node = w->node;
	return 1;
}

/* --- docker json-file ----------------------------------------------------------------------- */

static bool docker_take(struct layout_worker *worker, struct str line, struct str *log,
			struct str *time)
{
	struct json_value root;

	if (!str_starts(line, STR("{\"log\":")) && !str_starts(line, STR("{\"stream\":")))
		return false;
	if (json_parse(worker->json, line, false, &root, NULL) < 0)
		return false;
	return json_str(json_get(root, STR("log")), log) &&
	       json_str(json_get(root, STR("time")), time);
}

static bool docker_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct layout_sample inside = { .depth = sample->depth + 1 };
	struct arena arena = { 0 };
	size_t hits = 0;

	inside.lines = arena_array(&arena, struct str, sample->nr + 1);
	for (size_t i = 0; i < sample->nr; i++) {
		struct str log, time;

		if (!docker_take(worker, sample->lines[i], &log, &time))
			continue;
		hits++;
		log = layout_plain(str_trim(log), &arena);
		if (log.n)
			inside.lines[inside.nr++] = arena_str(&arena, log);
	}
	if (layout_most(hits, sample->nr, 60)) {
		layout->own = layout_learn_inner(layout, &inside);
		buf_add(&layout->pattern, STR("docker json-file"));
	}
	arena_done(&arena);
	layout_worker_free(worker);
	return layout->pattern.n > 0;
}

static int docker_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_wrapped w = { .inner = layout->own };
	struct layout_stamp stamp;
	struct str log, time;

	if (!docker_take(worker, line, &log, &time)) {
		losses->count[LOSS_JSON_BROKEN] += line.p[0] == '{';
		return 0;
	}
	if (!layout_times_value(layout->times, &worker->clock, time, &stamp))
		return 0;
	w.ns = layout_ns(layout, worker, &stamp, losses);
	while (log.n && (log.p[log.n - 1] == '\n' || log.p[log.n - 1] == '\r'))
		log.n--;
	w.payload = arena_str(arena, log);
	return layout_wrapped_parse(layout, worker, &w, arena, ev, losses);
}

static void single_done(struct layout *layout)
{
	layout_free(layout->own);
}

const struct layout_kind layout_docker = {
	.name = "docker",
	.learn = docker_learn,
	.parse = docker_parse,
	.done = single_done,
};

/* --- CRI: "2024-01-02T03:04:05.678901234Z stdout F message" ----------------------------------- */

static bool cri_take(const struct layout *layout, struct layout_worker *worker, struct str line,
		     struct layout_stamp *stamp, bool *partial, struct str *payload)
{
	struct str time;

	if (line.n < 20 || line.p[4] != '-' || !str_take_word(&line, &time) ||
	    !str_take_char(&line, ' '))
		return false;
	if (!str_take(&line, STR("stdout ")) && !str_take(&line, STR("stderr ")))
		return false;
	*partial = line.n && line.p[0] == 'P';
	if (line.n < 1 || (line.p[0] != 'P' && line.p[0] != 'F') ||
	    (line.n > 1 && line.p[1] != ' ' && line.p[1] != ':'))
		return false;
	*payload = str_skip(line, 2);
	return layout_times_value(layout->times, &worker->clock, time, stamp);
}

static bool cri_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct layout_sample inside = { .depth = sample->depth + 1 };
	struct layout_stamp stamp;
	bool partial, ok;

	inside.lines = mem_zalloc(mem_bytes(sample->nr + 1, sizeof(*inside.lines)));
	for (size_t i = 0; i < sample->nr; i++)
		if (cri_take(layout, worker, sample->lines[i], &stamp, &partial,
			     &inside.lines[inside.nr]))
			inside.nr++;
	ok = layout_most(inside.nr, sample->nr, 60);
	if (ok)
		layout->own = layout_learn_inner(layout, &inside);
	free(inside.lines);
	layout_worker_free(worker);
	return ok;
}

static int cri_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		     struct arena *arena, struct event *ev, struct losses *losses)
{
	struct layout_wrapped w = { .inner = layout->own };
	bool goes_on = worker->expects, partial;
	struct layout_stamp stamp;

	if (!cri_take(layout, worker, line, &stamp, &partial, &w.payload))
		return 0;
	worker->expects = partial;
	if (goes_on)
		return 0;
	w.ns = layout_ns(layout, worker, &stamp, losses);
	return layout_wrapped_parse(layout, worker, &w, arena, ev, losses);
}

const struct layout_kind layout_cri = {
	.name = "cri",
	.learn = cri_learn,
	.parse = cri_parse,
	.done = single_done,
};

/* --- docker compose: "web-1  | message" ------------------------------------------------------- */

struct compose {
	struct str name[LAYOUT_INNER_MAX];
	struct layout *inner[LAYOUT_INNER_MAX];
	size_t nr;
};

static bool compose_take(struct str line, struct str *name, struct str *payload)
{
	size_t n = 0;

	while (n < line.n && n < 80 &&
	       (isalnum((unsigned char)line.p[n]) || strchr("_.-", line.p[n])) && line.p[n])
		n++;
	*name = str_head(line, n);
	line = str_skip(line, n);
	if (!n || !isalpha((unsigned char)name->p[0]) || !str_take_spaces(&line) ||
	    !str_take_char(&line, '|'))
		return false;
	str_take_char(&line, ' ');
	*payload = line;
	return true;
}

static size_t compose_find(const struct compose *c, struct str name)
{
	size_t i = 0;

	while (i < c->nr && !str_eq(c->name[i], name))
		i++;
	return i;
}

static void compose_learn_service(struct layout *layout, struct compose *c, size_t service,
				  const struct layout_sample *sample)
{
	struct layout_sample inside = { .depth = sample->depth + 1 };
	struct str name, payload;

	inside.lines = mem_zalloc(mem_bytes(sample->nr + 1, sizeof(*inside.lines)));
	for (size_t i = 0; i < sample->nr; i++)
		if (compose_take(sample->lines[i], &name, &payload) &&
		    str_eq(name, c->name[service]) && str_trim(payload).n)
			inside.lines[inside.nr++] = payload;
	c->inner[service] = layout_learn_inner(layout, &inside);
	free(inside.lines);
}

static bool compose_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct compose *c = arena_new(&layout->arena, struct compose);
	struct str name, payload;
	size_t hits = 0, nr_inner = 0;

	for (size_t i = 0; i < sample->nr; i++) {
		if (!compose_take(sample->lines[i], &name, &payload))
			continue;
		hits++;
		if (compose_find(c, name) == c->nr && c->nr < LAYOUT_INNER_MAX)
			c->name[c->nr++] = arena_str(&layout->arena, name);
	}
	if (!layout_most(hits, sample->nr, 80) || c->nr * 2 > hits + 1)
		return false;
	for (size_t i = 0; i < c->nr; i++) {
		compose_learn_service(layout, c, i, sample);
		nr_inner += c->inner[i] != NULL;
	}
	layout->own = c;
	if (!nr_inner)
		return false;
	buf_add(&layout->pattern, STR("%node | "));
	for (size_t i = 0; i < c->nr; i++)
		if (c->inner[i]) {
			buf_add(&layout->pattern, layout_pattern(c->inner[i]));
			break;
		}
	return true;
}

static int compose_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			 struct arena *arena, struct event *ev, struct losses *losses)
{
	const struct compose *c = layout->own;
	struct layout_wrapped w = { .ns = NS_NONE };
	size_t service;

	if (!compose_take(line, &w.node, &w.payload))
		return 0;
	service = compose_find(c, w.node);
	/* a service that the sample did not have: the first that has a layout may fit */
	for (size_t i = 0; i < c->nr && (service == c->nr || !c->inner[service]); i++)
		if (c->inner[i])
			service = i;
	w.inner = service < c->nr ? c->inner[service] : NULL;
	w.nr = (unsigned)service;
	return layout_wrapped_parse(layout, worker, &w, arena, ev, losses);
}

static void compose_done(struct layout *layout)
{
	struct compose *c = layout->own;

	for (size_t i = 0; c && i < c->nr; i++)
		layout_free(c->inner[i]);
}

const struct layout_kind layout_compose = {
	.name = "compose",
	.learn = compose_learn,
	.parse = compose_parse,
	.done = compose_done,
};
