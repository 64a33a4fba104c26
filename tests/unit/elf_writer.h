/* Writes ELF files of any width and byte order, with sections or with segments only. */
#ifndef CULPRIT_TESTS_ELF_WRITER_H
#define CULPRIT_TESTS_ELF_WRITER_H

#include "base/buf.h"
#include "unit.h"

enum { ELF_SECTIONS_MAX = 8 };

struct elf_section {
	const char *name;
	unsigned type, flags; /* as the format has them */
	uint64_t address;
	struct str bytes;
};

struct elf_writer {
	bool is_64, is_big, has_segments_only;
	unsigned machine;
	struct elf_section sections[ELF_SECTIONS_MAX];
	unsigned nr;
	struct buf to;
};

static inline void elf_put(struct elf_writer *w, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_char(&w->to, (char)(v >> 8 * (w->is_big ? bytes - 1 - i : i)));
}

static inline void elf_put_word(struct elf_writer *w, uint64_t v)
{
	elf_put(w, w->is_64 ? 8 : 4, v);
}

static inline void elf_section(struct elf_writer *w, const char *name, unsigned type,
			       unsigned flags, uint64_t address, struct str bytes)
{
	w->sections[w->nr++] = (struct elf_section){ name, type, flags, address, bytes };
}

static inline void elf_head(struct elf_writer *w, uint64_t segments, uint64_t sections)
{
	buf_add(&w->to, STR("\177ELF"));
	elf_put(w, 1, w->is_64 ? 2 : 1);
	elf_put(w, 1, w->is_big ? 2 : 1);
	elf_put(w, 1, 1);
	buf_add(&w->to, STR("\0\0\0\0\0\0\0\0\0"));
	elf_put(w, 2, 2); /* a program */
	elf_put(w, 2, w->machine);
	elf_put(w, 4, 1);
	elf_put_word(w, 0);
	elf_put_word(w, segments);
	elf_put_word(w, sections);
	elf_put(w, 4, 0);
	elf_put(w, 2, w->is_64 ? 64 : 52);
	elf_put(w, 2, w->is_64 ? 56 : 32);
	elf_put(w, 2, segments ? w->nr : 0);
	elf_put(w, 2, w->is_64 ? 64 : 40);
	elf_put(w, 2, sections ? w->nr + 2U : 0);
	elf_put(w, 2, sections ? w->nr + 1U : 0);
}

static inline void elf_put_segment(struct elf_writer *w, const struct elf_section *s, uint64_t at)
{
	/* may be read; written and run as the section says */
	unsigned flags = 4U | (s->flags & 1 ? 2U : 0) | (s->flags & 4 ? 1U : 0);

	elf_put(w, 4, 1);
	if (w->is_64)
		elf_put(w, 4, flags);
	elf_put_word(w, at);
	elf_put_word(w, s->address);
	elf_put_word(w, s->address);
	elf_put_word(w, s->bytes.n);
	elf_put_word(w, s->bytes.n);
	if (!w->is_64)
		elf_put(w, 4, flags);
	elf_put_word(w, 1);
}

static inline void elf_put_section(struct elf_writer *w, unsigned name, unsigned type,
				   unsigned flags, uint64_t address, uint64_t at, uint64_t size)
{
	elf_put(w, 4, name);
	elf_put(w, 4, type);
	elf_put_word(w, flags);
	elf_put_word(w, address);
	elf_put_word(w, at);
	elf_put_word(w, size);
	elf_put(w, 4, 0);
	elf_put(w, 4, 0);
	elf_put_word(w, 1);
	elf_put_word(w, 0);
}

static inline void elf_tables(struct elf_writer *w, uint64_t at, const struct buf *names)
{
	unsigned name = 1;

	elf_put_section(w, 0, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < w->nr; i++) {
		const struct elf_section *s = &w->sections[i];

		elf_put_section(w, name, s->type, s->flags, s->address, at, s->bytes.n);
		at += s->bytes.n;
		name += (unsigned)strlen(s->name) + 1;
	}
	elf_put_section(w, 0, 3, 0, 0, at, names->n);
}

/* The file; buf_done(&w->to) is the caller's. */
static inline struct str elf_write(struct elf_writer *w)
{
	struct buf names = { 0 };
	uint64_t head = w->is_64 ? 64 : 52, at = head, segment = w->is_64 ? 56 : 32;

	buf_char(&names, '\0');
	for (unsigned i = 0; i < w->nr; i++)
		buf_add(&names,
			(struct str){ w->sections[i].name, strlen(w->sections[i].name) + 1 });
	if (w->has_segments_only) {
		elf_head(w, head, 0);
		at += segment * w->nr;
		for (unsigned i = 0; i < w->nr; at += w->sections[i++].bytes.n)
			elf_put_segment(w, &w->sections[i], at);
	} else {
		for (unsigned i = 0; i < w->nr; i++)
			at += w->sections[i].bytes.n;
		elf_head(w, 0, at + names.n);
	}
	for (unsigned i = 0; i < w->nr; i++)
		buf_add(&w->to, w->sections[i].bytes);
	if (!w->has_segments_only) {
		buf_add(&w->to, buf_str(&names));
		elf_tables(w, head, &names);
	}
	buf_done(&names);
	return buf_str(&w->to);
}

#endif
