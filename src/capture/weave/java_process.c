#include "capture/weave/java_process.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/carriers.h"
#include "capture/jvm/link.h"
#include "capture/weave/java.h"
#include "capture/weave/process.h"

/* Advice that has gone runs no more: its methods can wait, so that what it told is reported first,
 * and that queries which go together are one order. */
#define DUE_NS NS_S

struct java_process {
	struct jvm_link *link;
	VEC(uint32_t) carried; /* queries that want bags to be handed on */
	struct buf last;       /* what was ordered */
	int64_t due;           /* when less is to be ordered; 0: nothing has gone */
};

int java_process_enter(struct java_process **out, int pid, const struct probe_region *region,
		       struct error *err)
{
	struct java_process *j;
	int r;

	if (!jvm_is(pid))
		return 0;
	j = mem_zalloc(sizeof(*j));
	r = jvm_link_open(&j->link, pid, region->here, err);
	if (r < 0) {
		free(j);
		return r;
	}
	*out = j;
	return 0;
}

void java_process_leave(struct java_process *j)
{
	if (!j)
		return;
	jvm_link_close(j->link);
	vec_done(&j->carried);
	buf_done(&j->last);
	free(j);
}

void java_process_carry(struct java_process *j, uint32_t query)
{
	if (j)
		vec_push(&j->carried, query);
}

void java_process_uncarry(struct java_process *j, uint32_t query)
{
	for (size_t i = j ? j->carried.nr : 0; i-- > 0;)
		if (j->carried.v[i] == query)
			j->carried.v[i] = j->carried.v[--j->carried.nr];
}

void java_process_less(struct java_process *j)
{
	if (j)
		j->due = time_tick() + DUE_NS;
}

static void places_write(const struct woven_process *p, bool are_begins, struct buf *out)
{
	vec_each (&p->functions, f)
		if (f->java && f->nr_uses && f->is_begin == are_begins) {
			buf_fmt(out, "place\t%u\t", f->how.id);
			java_place_asked(str_of(f->java), f->inputs, out);
		}
}

/* Places of a method run in the order in which they are written. */
static void order_write(const struct woven_process *p, struct buf *out)
{
	size_t was = out->n;

	places_write(p, true, out);
	places_write(p, false, out);
	if (p->java->carried.nr)
		carriers_write(out, false);
	if (out->n > was)
		carriers_write(out, true);
}

static void refused_tell(const struct woven_process *p, const struct java_answer *a,
			 struct buf *told)
{
	if (told)
		buf_fmt(told, "process %d: " STR_FMT " is left as it is: " STR_FMT "\n", p->pid,
			STR_ARG(a->method), STR_ARG(a->why));
}

/* What was refused in one class may be woven in another. */
static void answers_take(struct woven_process *p, struct str text, struct buf *told)
{
	struct java_answer a;

	while (java_answer_take(&text, &a)) {
		if (a.said == JAVA_ERROR && told)
			buf_fmt(told, "process %d: " STR_FMT "\n", p->pid, STR_ARG(a.method));
		if (a.said == JAVA_REFUSED)
			refused_tell(p, &a, told);
		if (a.said == JAVA_LEFT && a.function < p->functions.nr)
			p->functions.v[a.function].nr_left++;
		if (a.said == JAVA_WOVEN && a.function < p->functions.nr)
			p->functions.v[a.function].nr_woven++;
	}
}

/* The agent knows better than the machine why it said no. */
static int error_take(const struct woven_process *p, struct str text, int r, struct error *err)
{
	struct java_answer a;

	while (java_answer_take(&text, &a))
		if (a.said == JAVA_ERROR)
			return error_set(err, -r, "process %d: " STR_FMT, p->pid,
					 STR_ARG(a.method));
	return r;
}

/* Classes may come later: what is ordered is on. */
static void functions_note(struct woven_process *p, struct buf *told)
{
	vec_each (&p->functions, f) {
		struct str line = str_of(f->java ? f->java : ""), word[4];

		if (!f->java || !f->nr_uses)
			continue;
		f->is_on = true;
		/* (where requests begin may be nowhere, and is told with what exports) */
		if (f->nr_woven || !told || f->is_begin)
			continue;
		for (size_t i = 0; i < 4; i++)
			if (!str_take_until(&line, '\t', &word[i]))
				word[i] = (struct str){ 0 };
		buf_fmt(told,
			"process %d: no method " STR_FMT "." STR_FMT
			" is loaded yet; it is woven when it is\n",
			p->pid, STR_ARG(word[2]), STR_ARG(word[3]));
	}
}

int java_process_apply(struct woven_process *p, struct buf *told, struct error *err)
{
	struct buf order = { 0 }, answers = { 0 };
	int r = 0;

	if (!p->java)
		return 0;
	p->java->due = 0;
	order_write(p, &order);
	if (!str_eq(buf_str(&order), buf_str(&p->java->last))) {
		vec_each (&p->functions, f)
			f->nr_woven = 0;
		r = jvm_link_order(p->java->link, buf_str(&order), &answers, err);
		if (r >= 0)
			answers_take(p, buf_str(&answers), told);
		else
			r = error_take(p, buf_str(&answers), r, err);
		buf_clear(&p->java->last);
		if (r >= 0)
			buf_add(&p->java->last, buf_str(&order));
	}
	if (r >= 0)
		functions_note(p, told);
	buf_done(&order);
	buf_done(&answers);
	return r;
}

void java_process_tend(struct woven_process *p)
{
	struct buf answers = { 0 };
	struct error ignored = { 0 };

	if (!p->java || p->has_ended)
		return;
	if (p->java->due && time_tick() >= p->java->due)
		java_process_apply(p, NULL, &ignored);
	jvm_link_hear(p->java->link, &answers);
	answers_take(p, buf_str(&answers), NULL);
	buf_done(&answers);
}
