/* Class files: everything that is told lies within the bytes, the values of every method hold
 * together, and what is put into methods gives a class again. */
#include <stdlib.h>

#include "base/error.h"
#include "program/annotation.h"
#include "program/class.h"
#include "program/dominance.h"
#include "program/rewrite/rewrite.h"
#include "program/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void must_lie_in(struct str inner, const uint8_t *data, size_t size)
{
	const char *from = (const char *)data;

	must(!inner.n || (inner.p >= from && inner.p + inner.n <= from + size));
}

static void check_constants(const struct class *c)
{
	for (uint32_t i = 0; i < c->nr_constants + 2U && i <= UINT16_MAX; i++) {
		struct member_ref m;
		struct handle_ref h;
		int64_t bits;

		class_tag(c, (uint16_t)i);
		must_lie_in(class_utf8(c, (uint16_t)i), (const uint8_t *)c->bytes.p, c->bytes.n);
		must_lie_in(class_named(c, (uint16_t)i), (const uint8_t *)c->bytes.p, c->bytes.n);
		if (class_member(c, (uint16_t)i, &m) || class_name_and_type(c, (uint16_t)i, &m))
			must_lie_in(m.type, (const uint8_t *)c->bytes.p, c->bytes.n);
		class_handle(c, (uint16_t)i, &h);
		class_number(c, (uint16_t)i, &bits);
	}
}

static void check_values(const struct values *v)
{
	for (uint32_t i = 0; i < v->nr; i++) {
		must(v->v[i].kind <= VALUE_UNLOCK && v->v[i].pc < v->method->code->bytes.n + 1);
		must(!i || v->v[i].block < v->flow.nr);
		for (uint32_t k = 0; k < v->v[i].nr; k++)
			must(v->args[v->v[i].first + k] < v->nr);
		code_line(v->method->code, v->v[i].pc);
	}
}

static void check_flow(const struct flow *f, struct arena *a)
{
	struct dominance d;

	must(f->nr_walk <= f->nr);
	for (uint32_t i = 0; i < f->nr; i++)
		for (uint32_t k = 0; k < f->blocks[i].nr_next + f->blocks[i].nr_handlers; k++)
			must(f->edges[f->blocks[i].first_next + k] < f->nr);
	dominance_init(&d, f, a);
	for (uint32_t i = 0; i < f->nr_walk && i < 64; i++)
		must(dominance_holds(&d, f->walk[0], f->walk[i]));
}

static void check_rewrite(const struct class *c, struct arena *a)
{
	static const char code[] = "\x08\x57"; /* a number, and away with it */
	struct rewrite r = { .class = c };
	struct error err = { 0 };
	struct rewrite_put *puts =
		arena_array(a, struct rewrite_put, 6 * (size_t)c->nr_methods + 1);
	struct buf out = { 0 };
	struct class again;
	size_t nr = 0;

	for (uint16_t i = 0; i < c->nr_methods; i++)
		for (int where = REWRITE_ENTRY; where <= REWRITE_AFTER_CALL; where++)
			puts[nr++] = (struct rewrite_put){ .method = i,
							   .where = (enum rewrite_where)where,
							   .line = 1,
							   .code = { code, 2 },
							   .stack = 1 };
	if (rewrite_write(&r, puts, nr, &out, &err) < 0) {
		must(err.code > 0 && err.msg[0]);
	} else {
		must(class_read(&again, buf_str(&out), a, &err) >= 0);
		must(again.nr_methods == c->nr_methods &&
		     again.nr_constants == c->nr_constants + r.nr);
	}
	rewrite_done(&r);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct error err = { 0 };
	struct class c;

	if (class_read(&c, (struct str){ (const char *)data, size }, &a, &err) < 0) {
		must(err.code > 0 && err.msg[0]);
	} else {
		check_constants(&c);
		check_rewrite(&c, &a);
		annotation_among(&c, c.annotations, STR("no.Such"));
		for (uint16_t i = 0; i < c.nr_methods; i++) {
			struct arena scratch = { 0 };
			struct values v;

			must_lie_in(c.methods[i].name, data, size);
			annotation_among(&c, c.methods[i].annotations, STR("Deprecated"));
			if (c.methods[i].code && values_init(&v, &c, &c.methods[i], &scratch)) {
				check_values(&v);
				check_flow(&v.flow, &scratch);
			}
			arena_done(&scratch);
		}
	}
	arena_done(&a);
	return 0;
}
