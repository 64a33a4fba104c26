#include "program/strings_class.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pipeline.h"
#include "model/loss.h"
#include "program/class.h"
#include "program/container.h"
#include "program/strings.h"
#include "program/strings_builder.h"
#include "program/strings_text.h"

#define NR_SLOTS 64

/* A recipe has 1 where an argument goes and 2 where a constant of the call does. */
static bool is_recipe(struct str s)
{
	return s.n && (memchr(s.p, 1, s.n) || memchr(s.p, 2, s.n));
}

static void give_recipe(const struct strings_sink *to, struct str s, struct losses *losses)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < s.n; i++)
		buf_char(&b, s.p[i] == 2 ? (char)STRING_ANY : s.p[i]);
	strings_give_marked(to, buf_str(&b), losses);
	buf_done(&b);
}

/* Loggers and exceptions are printed by the names of their classes. */
static void give_name(const struct strings_sink *to, struct str name, struct losses *losses)
{
	struct buf b = { 0 };

	if (str_find_char(name, '/') == name.n)
		return;
	for (size_t i = 0; i < name.n; i++)
		buf_char(&b, name.p[i] == '/' ? '.' : name.p[i]);
	strings_give_marked(to, buf_str(&b), losses);
	buf_done(&b);
}

static void give_class(const struct strings_sink *to, const struct class *c, struct losses *losses)
{
	bool *used = mem_zalloc(c->nr_constants + 1U);

	give_name(to, c->name, losses);
	strings_of_builders(c, used, to, losses);
	for (uint32_t i = 1; i < c->nr_constants; i++) {
		struct str s;

		/* part of a pattern, it is given with that */
		if (class_tag(c, (uint16_t)i) != CONSTANT_STRING || used[i])
			continue;
		s = class_named(c, (uint16_t)i);
		if (is_recipe(s))
			give_recipe(to, s, losses);
		else
			strings_give(to, s, losses);
	}
	free(used);
}

void strings_of_class(struct str bytes, const struct strings_sink *to, struct losses *losses)
{
	struct arena a = { 0 };
	struct class c;

	if (class_read(&c, bytes, &a, NULL) < 0)
		losses->count[LOSS_CLASSES_BROKEN]++;
	else
		give_class(to, &c, losses);
	arena_done(&a);
}

struct slot {
	struct packed packed;
	struct arena arena;
	struct class class;
	bool is_good;
};

struct reading {
	struct container *container;
	const struct strings_sink *to;
	struct losses *losses;
};

static int fill(void *ctx, void *slot, struct error *err)
{
	struct slot *s = slot;

	return container_next(((struct reading *)ctx)->container, &s->packed, err);
}

static void work(void *ctx, void *slot)
{
	struct slot *s = slot;
	struct str bytes;

	(void)ctx;
	s->is_good = packed_unpack(&s->packed, &s->arena, &bytes) &&
		     class_read(&s->class, bytes, &s->arena, NULL) >= 0;
}

static int drain(void *ctx, void *slot, struct error *err)
{
	struct reading *r = ctx;
	struct slot *s = slot;

	(void)err;
	if (s->is_good)
		give_class(r->to, &s->class, r->losses);
	else
		r->losses->count[LOSS_CLASSES_BROKEN]++;
	packed_done(&s->packed);
	arena_reset(&s->arena);
	return 0;
}

int strings_of_container(const char *path, const struct strings_sink *to, struct losses *losses,
			 struct error *err)
{
	struct reading r = { .to = to, .losses = losses };
	struct pipeline line = { fill, work, drain, &r };
	struct slot *slots;
	void *pointers[NR_SLOTS];
	int ret = container_open(&r.container, &path, 1, losses, err);

	if (ret < 0)
		return ret;
	slots = mem_zalloc(mem_bytes(NR_SLOTS, sizeof(*slots)));
	for (size_t i = 0; i < NR_SLOTS; i++)
		pointers[i] = &slots[i];
	ret = pipeline_run(&line, pointers, NR_SLOTS, pipeline_cores(), err);
	for (size_t i = 0; i < NR_SLOTS; i++) {
		packed_done(&slots[i].packed);
		arena_done(&slots[i].arena);
	}
	free(slots);
	container_close(r.container);
	return ret;
}
