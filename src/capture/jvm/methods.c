#include "capture/jvm/methods.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/jvm/link.h"
#include "capture/jvm/target.h"
#include "wire/probe_region.h"

#define STOPPER "VM Thread" /* as HotSpot calls it */
#define FIELDS 4

struct jvm_methods {
	struct jvm_link *link;
	uint32_t stopper;
	struct buf wanted; /* lines of the last order */
};

int jvm_methods_open(struct jvm_methods **out, int pid, const struct probe_region *region,
		     struct error *err)
{
	struct jvm_methods *m = mem_zalloc(sizeof(*m));
	int r = jvm_link_open(&m->link, pid, region->here, err);

	if (r < 0) {
		free(m);
		return r;
	}
	m->stopper = (uint32_t)jvm_thread(pid, STR(STOPPER));
	*out = m;
	return 0;
}

void jvm_methods_close(struct jvm_methods *m)
{
	if (!m)
		return;
	jvm_link_close(m->link);
	buf_done(&m->wanted);
	free(m);
}

uint32_t jvm_methods_stopper(const struct jvm_methods *m)
{
	return m->stopper;
}

/* --- answers -----------------------------------------------------------------------------------
 */

void jvm_heard_done(struct jvm_heard *h)
{
	vec_done(&h->found);
	vec_done(&h->calls);
	vec_done(&h->verdicts);
	arena_done(&h->arena);
}

static void fields_take(struct jvm_heard *h, struct str line, struct str *f)
{
	line = arena_str(&h->arena, line);
	for (size_t i = 0; i < FIELDS; i++) {
		f[i] = (struct str){ 0 };
		if (i + 1 == FIELDS || !str_take_until(&line, '\t', &f[i])) {
			f[i] = line;
			line.n = 0;
		}
	}
}

static void line_take(struct jvm_heard *h, struct str line)
{
	struct str f[FIELDS], digits;
	uint64_t n = 0;

	fields_take(h, line, f);
	digits = f[1];
	if (str_eq(f[0], STR("error")))
		h->error = f[1];
	if (!str_take_uint(&digits, &n) || digits.n || n > UINT32_MAX)
		return;
	if (str_eq(f[0], STR("found")))
		vec_push(&h->found, (struct jvm_found){ (uint32_t)n, f[2], f[3] });
	else if (str_eq(f[0], STR("calls")))
		vec_push(&h->calls, (struct jvm_calls){ (uint32_t)n, { f[2], f[3] } });
	else if (str_eq(f[0], STR("woven")))
		vec_push(&h->verdicts, (struct jvm_verdict){ (uint32_t)n, { 0 } });
	else if (str_eq(f[0], STR("refused")))
		vec_push(&h->verdicts,
			 (struct jvm_verdict){ (uint32_t)n, f[3].n ? f[3] : STR("refused") });
}

void jvm_heard_take(struct jvm_heard *h, struct str text)
{
	struct str line;

	while (str_take_until(&text, '\n', &line))
		line_take(h, line);
}

/* --- orders ------------------------------------------------------------------------------------
 */

static int order(struct jvm_methods *m, struct str wanted, struct jvm_heard *heard,
		 struct error *err)
{
	struct buf answers = { 0 };
	int r = jvm_link_order(m->link, wanted, &answers, err);

	jvm_heard_take(heard, buf_str(&answers));
	buf_done(&answers);
	return r;
}

int jvm_methods_look(struct jvm_methods *m, const struct jvm_look *v, size_t nr,
		     struct jvm_heard *heard, struct error *err)
{
	struct buf text = { 0 };
	int r;

	buf_add(&text, buf_str(&m->wanted));
	for (size_t i = 0; i < nr; i++)
		buf_fmt(&text, "look\t%zu\t" STR_FMT "\t" STR_FMT "\n", i, STR_ARG(v[i].class),
			STR_ARG(v[i].method));
	r = order(m, buf_str(&text), heard, err);
	buf_done(&text);
	return r;
}

/* Monitors tell by themselves; these are where locks of the library wait, in all versions. What is
 * short did not. */
static void locks_add(struct buf *out, uint32_t number)
{
	static const char *const methods[] = { "acquire", "acquireInterruptibly", "acquireShared" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		buf_fmt(out,
			"time\t%u\t8\tjava.util.concurrent.locks.AbstractQueuedSynchronizer\t%s"
			"\t(int)\n",
			number, methods[i]);
}

/* Flags as WANTED_MARK of agent/jvm/order.h and the following. */
static void method_add(struct buf *out, const struct jvm_method *v)
{
	buf_fmt(out, "time\t%u\t%d\t" STR_FMT "\t" STR_FMT "\t\t" STR_FMT "\t" STR_FMT "\n",
		v->number,
		v->is_mark | v->is_unit << 1 | v->is_mark_at_exit << 2 | v->is_amount << 4,
		STR_ARG(v->class), STR_ARG(v->method), STR_ARG(v->value),
		STR_ARG(v->value_at_exit));
}

int jvm_methods_watch(struct jvm_methods *m, const struct jvm_method *v, size_t nr,
		      const struct jvm_stops *stops, struct jvm_heard *heard, struct error *err)
{
	buf_clear(&m->wanted);
	for (size_t i = 0; i < nr; i++)
		method_add(&m->wanted, &v[i]);
	if (nr) {
		buf_fmt(&m->wanted, "stops\t%u\t%u\n", stops->pauses, stops->locks);
		locks_add(&m->wanted, stops->locks);
	}
	return order(m, buf_str(&m->wanted), heard, err);
}

void jvm_methods_hear(struct jvm_methods *m, struct jvm_heard *heard)
{
	struct buf answers = { 0 };

	jvm_link_hear(m->link, &answers);
	jvm_heard_take(heard, buf_str(&answers));
	buf_done(&answers);
}
