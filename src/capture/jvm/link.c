/*
 * Files in the machine's own /tmp, of its user, which nobody else may read: an order goes in, the
 * agent's answers come out. Each order has a file for answers of its own, as the agent may still be
 * at an earlier one when we have lost patience with it.
 */
#include "capture/jvm/link.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/file.h"
#include "capture/jvm/library.h"

struct jvm_link {
	int pid;
	uint64_t region;
	bool is_in;              /* the agent was loaded at least once */
	struct jvm_file answers; /* of the last order; its fd is -1 before the first */
	size_t heard;            /* bytes of them */
	char library[4096];
};

int jvm_link_open(struct jvm_link **out, int pid, uint64_t region, struct error *err)
{
	struct jvm_link *l = mem_zalloc(sizeof(*l));
	int r;

	l->pid = pid;
	l->region = region;
	l->answers.fd = -1;
	r = jvm_library_for(pid, l->library, sizeof(l->library), err);
	if (r < 0) {
		free(l);
		return r;
	}
	*out = l;
	return 0;
}

void jvm_link_hear(struct jvm_link *l, struct buf *told)
{
	struct error ignored = { 0 };
	struct buf all = { 0 };
	struct str more;

	if (l->answers.fd < 0)
		return;
	jvm_file_read(&l->answers, l->heard, &all, &ignored);
	more = buf_str(&all);
	/* a line that is being written comes the next time */
	while (more.n && more.p[more.n - 1] != '\n')
		more.n--;
	buf_add(told, more);
	l->heard += more.n;
	buf_done(&all);
}

static void order_write(const struct jvm_link *l, struct str wanted, struct buf *text)
{
	buf_fmt(text, "culprit-jvm\t1\nanswer\t%s\nregion\t%llx\n", l->answers.path,
		(unsigned long long)l->region);
	buf_add(text, wanted);
	buf_fmt(text, "end\n");
}

int jvm_link_order(struct jvm_link *l, struct str wanted, struct buf *told, struct error *err)
{
	struct jvm_file order = { .fd = -1 };
	struct buf text = { 0 };
	int r;

	/* what it says from now on goes to the new file */
	jvm_link_hear(l, told);
	jvm_file_close(&l->answers);
	l->heard = 0;
	r = jvm_file_open(&l->answers, l->pid, (struct str){ 0 }, err);
	if (r >= 0) {
		order_write(l, wanted, &text);
		r = jvm_file_open(&order, l->pid, buf_str(&text), err);
	}
	if (r >= 0)
		r = jvm_attach_load(l->pid, l->library, order.path, err);
	l->is_in |= r >= 0;
	jvm_link_hear(l, told);
	jvm_file_close(&order);
	buf_done(&text);
	return r;
}

void jvm_link_close(struct jvm_link *l)
{
	struct buf ignored = { 0 };
	struct error err = { 0 };

	if (!l)
		return;
	if (l->is_in)
		jvm_link_order(l, (struct str){ 0 }, &ignored, &err);
	jvm_file_close(&l->answers);
	buf_done(&ignored);
	free(l);
}
