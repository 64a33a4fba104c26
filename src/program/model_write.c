/*
 * Sections are made one after the other in memory and then laid behind a head. Numbers are given in
 * the order of the program, so the same program gives the same bytes.
 */
#include "program/model_write.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "program/model_making.h"

/* What the class came from: the jar it stands in, or the folder of the class file. */
static struct str input_of(struct str origin)
{
	size_t inner = str_find_char(origin, '!'), slash = 0;
	bool is_jar = inner < origin.n;
	struct str path = str_head(origin, inner);

	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/')
			slash = i + 1;
	return is_jar ? str_skip(path, slash) : STR("class files");
}

static void add_inputs(struct making *m)
{
	const struct program *p = m->learned->program;
	struct disk_input d = { 0 };
	uint64_t bytes = 0;

	for (size_t i = 0; i <= p->classes.nr; i++) {
		const struct program_class *c = i < p->classes.nr ? &p->classes.v[i] : NULL;
		uint32_t name = c ? making_string(m, input_of(c->origin)) : 0;

		if (i && name != d.name) {
			d.low = (uint32_t)bytes;
			d.high = (uint32_t)(bytes >> 32);
			making_add(m, SECTION_INPUTS, &d);
			d.nr_classes = 0;
			bytes = 0;
		}
		d.name = name;
		d.nr_classes++;
		bytes += c ? c->c.bytes.n : 0;
	}
}

static void add_losses(struct making *m)
{
	for (int i = 0; i < LOSS_NR; i++) {
		uint64_t count = m->learned->losses.count[i];
		struct disk_loss d = { making_string(m, str_of(loss_name((enum loss)i))),
				       (uint32_t)count, (uint32_t)(count >> 32) };

		if (count)
			making_add(m, SECTION_LOSSES, &d);
	}
}

static void pad(struct buf *b)
{
	while (b->n % sizeof(uint64_t))
		buf_char(b, '\0');
}

/* The strings and where each begins. */
static void lay_strings(struct making *m, struct buf *image, struct disk_head *head)
{
	uint32_t at = 0;

	head->sections[SECTION_TEXT].offset = image->n;
	for (uint32_t i = 0; i < m->strings.nr; i++) {
		struct str s = names_str(&m->strings, i);

		vec_push(&m->sections[SECTION_STRINGS], at);
		buf_add(image, s);
		at += (uint32_t)s.n;
	}
	vec_push(&m->sections[SECTION_STRINGS], at);
	head->sections[SECTION_TEXT].nr = at;
	pad(image);
}

static void lay(struct making *m, struct buf *image)
{
	struct disk_head head = { .version = MODEL_VERSION, .order = MODEL_ORDER };
	size_t from = offsetof(struct disk_head, sum) + sizeof(head.sum);

	memcpy(head.magic, MODEL_MAGIC, sizeof(head.magic));
	buf_add(image, (struct str){ (const char *)&head, sizeof(head) });
	lay_strings(m, image, &head);
	for (unsigned i = SECTION_STRINGS; i < SECTION_NR; i++) {
		struct str words = { (const char *)m->sections[i].v,
				     m->sections[i].nr * sizeof(uint32_t) };

		head.sections[i] = (struct disk_section){ image->n, making_nr(m, i) };
		if (words.n)
			buf_add(image, words);
		pad(image);
	}
	head.bytes = image->n;
	memcpy(image->p, &head, sizeof(head));
	head.sum = str_hash((struct str){ image->p + from, image->n - from });
	memcpy(image->p, &head, sizeof(head));
}

static void making_init(struct making *m, const struct learned *l)
{
	size_t nr = l->program->methods.nr;
	uint32_t top = 0;

	*m = (struct making){ .learned = l,
			      .methods = mem_zalloc(mem_bytes(nr + 1, sizeof(*m->methods))),
			      .tops = mem_zalloc(mem_bytes(nr + 1, sizeof(*m->tops))),
			      .flags = mem_zalloc(l->points.v.nr + 1) };
	vec_each (&l->identifiers.tops, method)
		m->tops[*method] = ++top;
}

static void making_done(struct making *m)
{
	for (unsigned i = 0; i < SECTION_NR; i++) {
		vec_done(&m->sections[i]);
		vec_done(&m->lists[i].made);
		free(m->lists[i].slots);
	}
	names_done(&m->strings);
	arena_done(&m->scratch);
	free(m->methods);
	free(m->tops);
	free(m->flags);
}

void model_write(const struct learned *l, struct buf *image)
{
	struct making m;

	making_init(&m, l);
	add_inputs(&m);
	making_points(&m);
	making_tops(&m);
	making_pairs(&m);
	making_index(&m);
	making_counts(&m);
	add_losses(&m);
	buf_clear(image);
	lay(&m, image);
	making_done(&m);
}
