#include "capture/trace/marks.h"

#include "capture/trace/spans.h"

#define IS_END 1u /* in the value of a slot, which is a pointer */

static struct trace_span *span_of(uint64_t value)
{
	return (struct trace_span *)(uintptr_t)(value & ~(uint64_t)IS_END);
}

static void map_drop(struct map *m, marks_drop *drop, void *ctx)
{
	for (const struct map_slot *at = NULL; (at = map_next(m, at));)
		drop(ctx, span_of(at->value));
	map_done(m);
}

void marks_done(struct marks *m, marks_drop *drop, void *ctx)
{
	map_drop(&m->now, drop, ctx);
	map_drop(&m->before, drop, ctx);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

uint64_t mark_name(const struct trace_mark *at)
{
	uint64_t name =
		mix(mix(mix(0, (uint64_t)at->process), (uint64_t)at->thread), (uint64_t)at->ns);

	return name ? name : 1;
}

void marks_add(struct marks *m, const struct trace_mark *at, struct trace_span *span, bool is_end,
	       marks_drop *drop, void *ctx)
{
	uint64_t *value = map_at(&m->now, mark_name(at)), was = *value;

	*value = (uintptr_t)span | (is_end ? IS_END : 0);
	if (was)
		drop(ctx, span_of(was));
}

struct trace_span *marks_find(const struct marks *m, const struct trace_mark *at, bool *is_end)
{
	uint64_t name = mark_name(at);
	const uint64_t *value = map_find(&m->now, name);

	value = value ? value : map_find(&m->before, name);
	if (!value || !*value)
		return NULL;
	*is_end = *value & IS_END;
	return span_of(*value);
}

void marks_renew(struct marks *m, marks_drop *drop, void *ctx)
{
	struct map old = m->before;

	m->before = m->now;
	m->now = (struct map){ 0 };
	for (const struct map_slot *at = NULL; (at = map_next(&old, at));) {
		struct trace_span *span = span_of(at->value);

		if (span->is_running)
			*map_at(&m->now, at->key) = at->value;
		else
			drop(ctx, span);
	}
	map_done(&old);
}
