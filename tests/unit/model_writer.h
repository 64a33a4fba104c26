/* Writes a small model by hand: log statements and names of threads, from texts such as
 * "Receiving {} src: {}". */
#ifndef CULPRIT_TESTS_MODEL_WRITER_H
#define CULPRIT_TESTS_MODEL_WRITER_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "model/level.h"
#include "program/model_file.h"
#include "program/model_format.h"

/* In texts {} is a hole for text, {i} for an integer, {b} for a boolean, {*} for anything. */
struct written_point {
	const char *logger; /* its class as well; "" for none; "*" at the end: or a class below */
	const char *file;
	uint32_t line;
	enum level level;
	const char *texts[4]; /* the last ones NULL */
};

struct model_writer {
	struct buf sections[SECTION_NR];
	uint32_t nr[SECTION_NR];
	uint32_t nr_strings;
};

static inline uint32_t written_string(struct model_writer *w, struct str s)
{
	uint32_t at = (uint32_t)w->sections[SECTION_TEXT].n;

	buf_add(&w->sections[SECTION_STRINGS], (struct str){ (const char *)&at, sizeof(at) });
	buf_add(&w->sections[SECTION_TEXT], s);
	w->nr[SECTION_TEXT] += (uint32_t)s.n;
	return w->nr[SECTION_STRINGS]++;
}

static inline uint32_t written(struct model_writer *w, enum model_section section, const void *v,
			       size_t bytes)
{
	buf_add(&w->sections[section], (struct str){ v, bytes });
	return w->nr[section]++;
}

static inline void written_part(struct model_writer *w, enum part_kind kind, enum hole_type type,
				struct str text)
{
	struct disk_part d = { .flags = (uint32_t)kind | (uint32_t)type << PART_TYPE_SHIFT |
					(kind == PART_HOLE ? PART_IS_ID : 0) };

	d.text = written_string(w, text);
	d.path = written_string(w, STR(""));
	written(w, SECTION_PARTS, &d, sizeof(d));
}

static inline void written_version(struct model_writer *w, uint32_t point, const char *text)
{
	struct disk_version d = { .point = point, .literal = MODEL_NONE };
	const char *at = text;

	d.parts.first = w->nr[SECTION_PARTS];
	while (*at) {
		const char *open = strchr(at, '{');
		size_t n = open ? (size_t)(open - at) : strlen(at);

		if (n)
			written_part(w, PART_TEXT, HOLE_TEXT, (struct str){ at, n });
		d.letters += (uint32_t)n;
		if (!open)
			break;
		written_part(w, open[1] == '*' ? PART_ANY : PART_HOLE,
			     open[1] == 'i'   ? HOLE_INTEGER
			     : open[1] == 'b' ? HOLE_BOOLEAN
					      : HOLE_TEXT,
			     STR("hole"));
		at = strchr(open, '}') + 1;
	}
	d.parts.nr = w->nr[SECTION_PARTS] - d.parts.first;
	written(w, SECTION_VERSIONS, &d, sizeof(d));
}

static inline uint32_t written_method(struct model_writer *w, struct str class, const char *file)
{
	struct disk_method d = { .top = MODEL_NONE };

	d.class = written_string(w, class);
	d.name = written_string(w, STR("run"));
	d.type = written_string(w, STR("()V"));
	d.file = written_string(w, str_of(file));
	return written(w, SECTION_METHODS, &d, sizeof(d));
}

/* Points are to come in the order of their files and lines. */
static inline void written_point(struct model_writer *w, const struct written_point *p)
{
	struct str logger = str_of(p->logger);
	struct disk_point d = { .line = p->line, .level = (uint32_t)p->level };
	struct disk_logger l = { .points = { w->nr[SECTION_POINT_LISTS], 1 } };
	struct disk_place place = { .line = p->line, .point = w->nr[SECTION_POINTS] };

	if (logger.n && logger.p[logger.n - 1] == '*') {
		d.flags |= POINT_ANY_BELOW;
		logger.n--;
	}
	d.method = written_method(w, logger, p->file);
	d.logger = written_string(w, logger);
	d.versions.first = w->nr[SECTION_VERSIONS];
	for (unsigned i = 0; i < 4 && p->texts[i]; i++)
		written_version(w, w->nr[SECTION_POINTS], p->texts[i]);
	d.versions.nr = w->nr[SECTION_VERSIONS] - d.versions.first;
	written(w, SECTION_POINTS, &d, sizeof(d));
	place.file = written_string(w, str_of(p->file));
	written(w, SECTION_PLACES, &place, sizeof(place));
	if (!logger.n)
		return;
	l.name = d.logger;
	written(w, SECTION_POINT_LISTS, &place.point, sizeof(place.point));
	written(w, SECTION_LOGGERS, &l, sizeof(l));
}

static inline void written_thread(struct model_writer *w, const char *text)
{
	struct disk_name d = { .runs = MODEL_NONE, .versions = { w->nr[SECTION_VERSIONS], 1 } };

	d.method = written_method(w, STR("Threads"), "Threads.java");
	written_version(w, MODEL_NONE, text);
	written(w, SECTION_NAMES, &d, sizeof(d));
}

/* The bytes of the file, aligned to eight; the writer is done. */
static inline void written_end(struct model_writer *w, struct buf *image)
{
	struct disk_head h = { .magic = MODEL_MAGIC,
			       .version = MODEL_VERSION,
			       .order = MODEL_ORDER };
	static const char zeros[8 * COUNT_NR + 8];
	size_t from = offsetof(struct disk_head, sum) + sizeof(h.sum);

	written_string(w, STR("")); /* where the last one ends */
	buf_add(&w->sections[SECTION_COUNTS], (struct str){ zeros, 8 * COUNT_NR });
	w->nr[SECTION_COUNTS] = COUNT_NR;
	buf_add(image, (struct str){ (const char *)&h, sizeof(h) });
	for (unsigned i = 0; i < SECTION_NR; i++) {
		h.sections[i] = (struct disk_section){ image->n, w->nr[i] };
		buf_add(image, buf_str(&w->sections[i]));
		buf_add(image, (struct str){ zeros, (8 - image->n % 8) % 8 });
		buf_done(&w->sections[i]);
	}
	h.bytes = image->n;
	memcpy(image->p, &h, sizeof(h));
	h.sum = str_hash((struct str){ image->p + from, image->n - from });
	memcpy(image->p, &h, sizeof(h));
}

#endif
