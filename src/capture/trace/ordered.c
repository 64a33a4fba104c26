#include "capture/trace/ordered.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "capture/weave/reap.h"

/* What is read of a row, and behind it its texts. */
struct ordered_copy {
	uint32_t flags;
	uint8_t nr;
	struct advice_value columns[];
};

void ordered_done(struct ordered *o)
{
	vec_each (&o->v, one)
		free(one->row);
	vec_done(&o->v);
}

static struct ordered_copy *copy_of(const struct reaped *row)
{
	size_t texts = 0;
	struct ordered_copy *c;
	char *to;

	for (size_t i = 0; i < row->nr_columns; i++)
		texts += row->columns[i].type == ADVICE_TEXTUAL ? row->columns[i].length : 0;
	c = mem_alloc(sizeof(*c) + row->nr_columns * sizeof(*c->columns) + texts);
	c->flags = row->flags;
	c->nr = row->nr_columns;
	to = (char *)(c->columns + c->nr);
	for (size_t i = 0; i < c->nr; i++) {
		struct advice_value *v = &c->columns[i];

		*v = row->columns[i];
		if (v->type != ADVICE_TEXTUAL)
			continue;
		memcpy(to, v->text, v->length);
		v->text = to;
		to += v->length;
	}
	return c;
}

void ordered_add(struct ordered *o, int64_t ns, ordered_row *to, const struct reaped *row)
{
	const struct ordered_one one = { ns, o->nr++, to, copy_of(row) };

	vec_push(&o->v, one);
	o->last = ns > o->last ? ns : o->last;
}

static int one_cmp(const void *a, const void *b)
{
	const struct ordered_one *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

static void one_pass(const struct ordered_one *one, void *ctx)
{
	struct reaped row = { .nr_columns = one->row->nr, .flags = one->row->flags, .times = 1 };

	memcpy(row.columns, one->row->columns, row.nr_columns * sizeof(*row.columns));
	one->to(ctx, &row);
	free(one->row);
}

void ordered_pass(struct ordered *o, bool is_over, void *ctx)
{
	size_t nr = 0;

	if (o->v.nr)
		qsort(o->v.v, o->v.nr, sizeof(*o->v.v), one_cmp);
	while (nr < o->v.nr && (is_over || o->v.v[nr].ns <= o->before))
		one_pass(&o->v.v[nr++], ctx);
	if (nr)
		memmove(o->v.v, o->v.v + nr, (o->v.nr - nr) * sizeof(*o->v.v));
	o->v.nr -= nr;
	o->before = o->last;
}
