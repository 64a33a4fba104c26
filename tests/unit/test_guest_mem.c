/* A class is read, stitched and written while memory ends at each place in turn: the work is left,
 * and nothing else. */
#include "agent/jvm/mem.h"

#include <stdlib.h>

#include "agent/jvm/stitch.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "class_writer.h"
#include "program/class.h"

/* How many more are given; the linker leads here what asks (tests/unit/meson.build). */
static long nr_left;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__real_calloc(size_t nr, size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);

/* what a compiler makes of a realloc of nothing */
void *__wrap_malloc(size_t bytes)
{
	return nr_left-- > 0 ? __real_malloc(bytes) : NULL;
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return nr_left-- > 0 ? __real_realloc(p, bytes) : NULL;
}

void *__wrap_calloc(size_t nr, size_t bytes)
{
	return nr_left-- > 0 ? __real_calloc(nr, bytes) : NULL;
}

struct weaving {
	struct str bytes;
	bool is_done;
	struct buf out;
};

static void weave(void *data)
{
	struct weaving *w = data;
	struct arena arena = { 0 };
	struct class class;
	struct error err = { 0 };
	struct rewrite r = { .class = &class };
	struct stitch s = { 0 };
	struct stitch_place p = { .r = &r,
				  .where = REWRITE_THROW,
				  .advice = STR("culprit/Advice") };
	struct stitch_root thrown = { .kind = ROOT_THROWN };
	struct rewrite_put put = { .where = REWRITE_THROW };

	assert_int_equal(class_read(&class, w->bytes, &arena, &err), 0);
	p.method = class.methods;
	assert_true(stitch_at(&s, &p, &thrown, 1));
	put.code = buf_str(&s.code);
	put.stack = s.stack;
	put.locals = s.locals;
	assert_true(rewrite_write(&r, &put, 1, &w->out, &err) >= 0);
	assert_null(put.refused);
	w->is_done = true;
	stitch_done(&s);
	rewrite_done(&r);
	arena_done(&arena);
}

static void memory_ends_everywhere(void **state)
{
	struct buf bytes = { 0 };
	struct class_writer writer;
	struct weaving w = { 0 };
	long nr = 0;

	(void)state;
	nr_left = 1000;
	writer_init(&writer, "a/B", "java/lang/Object");
	writer_method(&writer, "f", "(I)V", 1, 1, STR("\xb1"), STR(""));
	writer_done(&writer, 52, &bytes);
	w.bytes = buf_str(&bytes);
	for (;; nr++) {
		nr_left = nr;
		w.out = (struct buf){ 0 };
		if (mem_guarded(weave, &w))
			break;
		assert_false(w.is_done);
		assert_int_equal(mem_nr_ended(), nr + 1);
	}
	assert_true(w.is_done && w.out.n > bytes.n);
	assert_true(nr > 10);
	buf_done(&w.out);
	buf_done(&bytes);
}

static void too_much(void *data)
{
	(void)data;
	mem_bytes(SIZE_MAX, 2);
}

static void twice(void *data)
{
	bool *is = data;

	assert_false(mem_guarded(too_much, NULL));
	*is = true;
	nr_left = 0;
	mem_alloc(1);
	*is = false;
}

static void only_the_inner_work_is_left(void **state)
{
	bool is = false;

	(void)state;
	assert_false(mem_guarded(twice, &is));
	assert_true(is);
	nr_left = 1;
	free(mem_zalloc(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_ends_everywhere),
		cmocka_unit_test(only_the_inner_work_is_left),
	};

	return RUN(tests);
}
