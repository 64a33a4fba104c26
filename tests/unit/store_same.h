/* What the tests of the store share: the same thing, told field by field. */
#ifndef CULPRIT_TESTS_STORE_SAME_H
#define CULPRIT_TESTS_STORE_SAME_H

#include "unit.h"

#include "model/event.h"
#include "model/span.h"

#define OK(call) \
	do { \
		int ok_ = (call); \
		if (ok_) \
			fail_msg("%d: %s", ok_, err.msg); \
	} while (0)

static inline void assert_same_str(struct str a, struct str b)
{
	assert_true(str_eq(a, b));
}

/* What is set aside for inference comes without attrs and text. */
static inline void assert_same_event(const struct event *a, const struct event *b, bool staged)
{
	assert_true(a->ns == b->ns && a->kind == b->kind && a->level == b->level);
	assert_true(a->file == b->file && a->nr_lines == b->nr_lines && a->line == b->line);
	assert_true(a->offset == b->offset && a->length == b->length && a->op == b->op);
	assert_true(a->key_kind == b->key_kind && a->duration == b->duration);
	assert_same_str(a->node, b->node);
	assert_same_str(a->thread, b->thread);
	assert_same_str(a->point, b->point);
	assert_same_str(a->key, b->key);
	assert_same_str(a->span, b->span);
	assert_same_str(a->title, b->title);
	assert_same_str(a->peer, b->peer);
	assert_same_str(a->id, b->id);
	assert_same_str(a->after, b->after);
	if (staged)
		return;
	assert_same_str(a->attrs, b->attrs);
	assert_same_str(a->text, b->text);
}

static inline void assert_same_span(const struct span *a, const struct span *b)
{
	assert_true(a->start == b->start && a->end == b->end && a->parent == b->parent);
	assert_true(a->kind == b->kind && a->status == b->status && a->follows == b->follows);
	assert_true(a->confidence == b->confidence);
	assert_same_str(a->key, b->key);
	assert_same_str(a->id, b->id);
	assert_same_str(a->parent_id, b->parent_id);
	assert_same_str(a->name, b->name);
	assert_same_str(a->node, b->node);
	assert_same_str(a->host, b->host);
	assert_same_str(a->thread, b->thread);
	assert_same_str(a->links, b->links);
	assert_same_str(a->attrs, b->attrs);
}

#endif
