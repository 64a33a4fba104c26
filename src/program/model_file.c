/*
 * A file is mapped and checked once: that it is whole (by its sum), and that every number in it
 * stands for something that is there. From then on records are read without further questions.
 * Checking costs a walk over the file, a few milliseconds for ten megabytes; nothing is copied.
 */
#include "program/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "model/loss.h"
#include "program/model_format.h"

struct model_file {
	const struct disk_head *head;
	const uint32_t *sections[SECTION_NR];
	uint32_t nr[SECTION_NR];
	void *map; /* NULL when the bytes are borrowed */
	size_t bytes;
};

#define AGAIN "; run 'culprit learn' again to make a new one"

static const uint8_t words_of[] = {
#define SECTION_WORDS(id, words) words,
	MODEL_SECTIONS(SECTION_WORDS)
#undef SECTION_WORDS
};

/* A word of the records of a section that is the number of a record of another. */
struct rule {
	uint8_t section, word, target;
	enum {
		RULE_ONE,     /* a record that is there */
		RULE_MAYBE,   /* or MODEL_NONE */
		RULE_RANGE,   /* that many records from there on, the number in the next word */
		RULE_ATLEAST, /* 1, and no number of a record at all */
	} kind;
};

#define WORD(type, member) (offsetof(struct type, member) / sizeof(uint32_t))

static const struct rule rules[] = {
	{ SECTION_LOSSES, WORD(disk_loss, name), SECTION_STRINGS, RULE_ONE },
	{ SECTION_INPUTS, WORD(disk_input, name), SECTION_STRINGS, RULE_ONE },
	{ SECTION_METHODS, WORD(disk_method, class), SECTION_STRINGS, RULE_ONE },
	{ SECTION_METHODS, WORD(disk_method, name), SECTION_STRINGS, RULE_ONE },
	{ SECTION_METHODS, WORD(disk_method, type), SECTION_STRINGS, RULE_ONE },
	{ SECTION_METHODS, WORD(disk_method, file), SECTION_STRINGS, RULE_ONE },
	{ SECTION_METHODS, WORD(disk_method, top), SECTION_TOPS, RULE_MAYBE },
	{ SECTION_POINTS, WORD(disk_point, method), SECTION_METHODS, RULE_ONE },
	{ SECTION_POINTS, WORD(disk_point, logger), SECTION_STRINGS, RULE_ONE },
	{ SECTION_POINTS, WORD(disk_point, versions), SECTION_VERSIONS, RULE_RANGE },
	{ SECTION_POINTS, WORD(disk_point, tops), SECTION_TOP_LISTS, RULE_RANGE },
	{ SECTION_VERSIONS, WORD(disk_version, point), SECTION_POINTS, RULE_MAYBE },
	{ SECTION_VERSIONS, WORD(disk_version, parts), SECTION_PARTS, RULE_RANGE },
	{ SECTION_VERSIONS, WORD(disk_version, literal), SECTION_PARTS, RULE_MAYBE },
	{ SECTION_PARTS, WORD(disk_part, text), SECTION_STRINGS, RULE_ONE },
	{ SECTION_PARTS, WORD(disk_part, path), SECTION_STRINGS, RULE_ONE },
	{ SECTION_TOPS, WORD(disk_top, method), SECTION_METHODS, RULE_ONE },
	{ SECTION_TOPS, WORD(disk_top, ids), SECTION_IDS, RULE_RANGE },
	{ SECTION_TOPS, WORD(disk_top, nodes), SECTION_NODES, RULE_RANGE },
	{ SECTION_TOPS, WORD(disk_top, points), SECTION_POINT_LISTS, RULE_RANGE },
	{ SECTION_TOPS, WORD(disk_top, pairs), SECTION_PAIR_LISTS, RULE_RANGE },
	{ SECTION_IDS, WORD(disk_id, path), SECTION_STRINGS, RULE_ONE },
	{ SECTION_IDS, WORD(disk_id, name), SECTION_STRINGS, RULE_ONE },
	{ SECTION_NODES, WORD(disk_node, points), SECTION_POINT_LISTS, RULE_RANGE },
	{ SECTION_NODES, WORD(disk_node, next), SECTION_NODE_LISTS, RULE_RANGE },
	{ SECTION_PAIRS, WORD(disk_pair, from), SECTION_METHODS, RULE_ONE },
	{ SECTION_PAIRS, WORD(disk_pair, to), SECTION_METHODS, RULE_ONE },
	{ SECTION_PAIRS, WORD(disk_pair, where), SECTION_METHODS, RULE_ONE },
	{ SECTION_PAIRS, WORD(disk_pair, through), SECTION_STRINGS, RULE_ONE },
	{ SECTION_PAIRS, WORD(disk_pair, shared), SECTION_SHARED, RULE_RANGE },
	{ SECTION_SHARED, WORD(disk_shared, from), SECTION_STRINGS, RULE_ONE },
	{ SECTION_SHARED, WORD(disk_shared, to), SECTION_STRINGS, RULE_ONE },
	{ SECTION_NAMES, WORD(disk_name, method), SECTION_METHODS, RULE_ONE },
	{ SECTION_NAMES, WORD(disk_name, runs), SECTION_METHODS, RULE_MAYBE },
	{ SECTION_NAMES, WORD(disk_name, versions), SECTION_VERSIONS, RULE_RANGE },
	{ SECTION_LITERALS, WORD(disk_literal, text), SECTION_STRINGS, RULE_ONE },
	{ SECTION_LITERALS, WORD(disk_literal, version), SECTION_VERSIONS, RULE_ONE },
	{ SECTION_LOGGERS, WORD(disk_logger, name), SECTION_STRINGS, RULE_ONE },
	{ SECTION_LOGGERS, WORD(disk_logger, points), SECTION_POINT_LISTS, RULE_RANGE },
	{ SECTION_PLACES, WORD(disk_place, file), SECTION_STRINGS, RULE_ONE },
	{ SECTION_PLACES, WORD(disk_place, point), SECTION_POINTS, RULE_ONE },
	{ SECTION_POINT_LISTS, 0, SECTION_POINTS, RULE_ONE },
	{ SECTION_TOP_LISTS, 0, SECTION_TOPS, RULE_ONE },
	{ SECTION_PAIR_LISTS, 0, SECTION_PAIRS, RULE_ONE },
	{ SECTION_NODE_LISTS, 0, SECTION_NODES, RULE_ATLEAST },
};

/* Strings have one more entry than there are strings: where the last one ends. */
static uint32_t nr_of(const struct model_file *m, unsigned section)
{
	uint32_t nr = m->nr[section];

	return section == SECTION_STRINGS && nr ? nr - 1 : nr;
}

static bool holds(const struct model_file *m, const struct rule *r)
{
	const uint32_t *word = m->sections[r->section] + r->word;
	uint32_t there = nr_of(m, r->target), step = words_of[r->section];

	for (uint32_t i = 0; i < m->nr[r->section]; i++, word += step) {
		switch (r->kind) {
		case RULE_ONE:
			if (word[0] >= there)
				return false;
			break;
		case RULE_MAYBE:
			if (word[0] >= there && word[0] != MODEL_NONE)
				return false;
			break;
		case RULE_RANGE:
			if (word[0] > there || word[1] > there - word[0])
				return false;
			break;
		case RULE_ATLEAST:
			if (!word[0])
				return false;
			break;
		}
	}
	return true;
}

static bool strings_hold(const struct model_file *m)
{
	const uint32_t *at = m->sections[SECTION_STRINGS];

	for (uint32_t i = 0; i + 1 < m->nr[SECTION_STRINGS]; i++)
		if (at[i] > at[i + 1])
			return false;
	return !m->nr[SECTION_STRINGS] || at[m->nr[SECTION_STRINGS] - 1] <= m->nr[SECTION_TEXT];
}

/* Where each section lies; false when one lies outside. */
static bool find_sections(struct model_file *m)
{
	for (unsigned i = 0; i < SECTION_NR; i++) {
		const struct disk_section *s = &m->head->sections[i];
		uint64_t size = words_of[i] ? words_of[i] * sizeof(uint32_t) : 1;

		if (s->offset % sizeof(uint64_t) || s->offset > m->bytes || s->nr >= UINT32_MAX ||
		    s->nr > (m->bytes - s->offset) / size)
			return false;
		m->sections[i] = (const void *)((const char *)m->head + s->offset);
		m->nr[i] = (uint32_t)s->nr;
	}
	return m->nr[SECTION_COUNTS] == COUNT_NR;
}

static bool is_whole(struct model_file *m)
{
	size_t from = offsetof(struct disk_head, sum) + sizeof(m->head->sum);
	struct str rest = { (const char *)m->head + from, m->bytes - from };

	if (m->head->bytes != m->bytes || m->head->sum != str_hash(rest) || !find_sections(m) ||
	    !strings_hold(m))
		return false;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!holds(m, &rules[i]))
			return false;
	return true;
}

static int check(struct model_file *m, struct error *err)
{
	const struct disk_head *h = m->head;

	if (m->bytes < sizeof(h->magic) || memcmp(h->magic, MODEL_MAGIC, sizeof(h->magic)))
		return error_set(err, EINVAL, "this is no model of a program" AGAIN);
	if (m->bytes < offsetof(struct disk_head, sum))
		return error_set(err, EBADMSG, "the model is cut short" AGAIN);
	if (h->order != MODEL_ORDER)
		return error_set(err, EINVAL,
				 "the model was made on a machine of another byte order" AGAIN);
	if (h->version != MODEL_VERSION)
		return error_set(err, EINVAL,
				 "the model is of version %u, and this program reads %u" AGAIN,
				 h->version, MODEL_VERSION);
	if (m->bytes < sizeof(*h) || h->bytes > m->bytes)
		return error_set(err, EBADMSG, "the model is cut short" AGAIN);
	if (!is_whole(m))
		return error_set(err, EBADMSG, "the model is damaged" AGAIN);
	return 0;
}

int model_of_bytes(struct model_file **out, struct str bytes, struct error *err)
{
	struct model_file *m = mem_zalloc(sizeof(*m));
	int got;

	m->head = (const void *)bytes.p;
	m->bytes = bytes.n;
	got = check(m, err);
	if (got < 0)
		free(m);
	else
		*out = m;
	return got;
}

/* The file in memory; NULL for an empty one. */
static int map_file(const char *path, void **map, size_t *bytes, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), got = 0;
	struct stat st;

	if (fd < 0)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) < 0) {
		got = error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		got = error_set(err, EINVAL, "'%s' is no file", path);
	} else if (st.st_size) {
		*bytes = (size_t)st.st_size;
		*map = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*map == MAP_FAILED)
			got = error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	}
	close(fd);
	return got;
}

int model_open(struct model_file **out, const char *path, struct error *err)
{
	struct model_file *m;
	size_t bytes = 0;
	void *map = NULL;
	int got = map_file(path, &map, &bytes, err);

	if (got < 0)
		return got;
	got = model_of_bytes(&m, (struct str){ map, bytes }, err);
	if (got < 0) {
		if (map)
			munmap(map, bytes);
		return error_prefix(err, "'%s'", path);
	}
	m->map = map;
	*out = m;
	return 0;
}

void model_close(struct model_file *m)
{
	if (!m)
		return;
	if (m->map)
		munmap(m->map, m->bytes);
	free(m);
}

bool model_is_model(const char *path)
{
	char magic[sizeof(MODEL_MAGIC) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		  !memcmp(magic, MODEL_MAGIC, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

/* A record; of numbers that the file does not have, one of zeros. */
static const void *record(const struct model_file *m, enum model_section section, uint32_t i)
{
	static const uint32_t nothing[16];

	return i < m->nr[section] ? m->sections[section] + (size_t)i * words_of[section] : nothing;
}

static struct str string(const struct model_file *m, uint32_t i)
{
	const uint32_t *at = m->sections[SECTION_STRINGS];

	if (i >= nr_of(m, SECTION_STRINGS))
		return STR("");
	return (struct str){ (const char *)m->sections[SECTION_TEXT] + at[i], at[i + 1] - at[i] };
}

static struct model_list list(const struct model_file *m, enum model_section section,
			      struct disk_range r)
{
	return (struct model_list){ m->sections[section] + r.first, r.nr };
}

static struct model_range range(struct disk_range r)
{
	return (struct model_range){ r.first, r.nr };
}

static uint64_t wide(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

uint64_t model_count(const struct model_file *m, enum model_count what)
{
	const uint32_t *c = record(m, SECTION_COUNTS, what);

	return wide(c[0], c[1]);
}

void model_losses(const struct model_file *m, struct losses *losses)
{
	for (uint32_t i = 0; i < m->nr[SECTION_LOSSES]; i++) {
		const struct disk_loss *d = record(m, SECTION_LOSSES, i);
		struct str name = string(m, d->name);
		char z[64];
		enum loss loss;

		if (name.n >= sizeof(z))
			continue;
		memcpy(z, name.p, name.n);
		z[name.n] = '\0';
		if (loss_find(z, &loss))
			losses->count[loss] += wide(d->low, d->high);
	}
}

#define NR(function, section) \
	uint32_t function(const struct model_file *m) \
	{ \
		return m->nr[section]; \
	}

NR(model_nr_inputs, SECTION_INPUTS)
NR(model_nr_methods, SECTION_METHODS)
NR(model_nr_points, SECTION_POINTS)
NR(model_nr_versions, SECTION_VERSIONS)
NR(model_nr_tops, SECTION_TOPS)
NR(model_nr_pairs, SECTION_PAIRS)
NR(model_nr_thread_names, SECTION_NAMES)
NR(model_nr_literals, SECTION_LITERALS)
NR(model_nr_loggers, SECTION_LOGGERS)
NR(model_nr_places, SECTION_PLACES)

struct model_input model_input(const struct model_file *m, uint32_t input)
{
	const struct disk_input *d = record(m, SECTION_INPUTS, input);

	return (struct model_input){ string(m, d->name), d->nr_classes, wide(d->low, d->high) };
}

struct model_method model_method(const struct model_file *m, uint32_t method)
{
	const struct disk_method *d = record(m, SECTION_METHODS, method);

	return (struct model_method){ .class = string(m, d->class),
				      .name = string(m, d->name),
				      .type = string(m, d->type),
				      .file = string(m, d->file),
				      .top = d->top };
}

struct model_point model_point(const struct model_file *m, uint32_t point)
{
	const struct disk_point *d = record(m, SECTION_POINTS, point);

	return (struct model_point){
		.method = d->method,
		.line = d->line,
		.pc = d->pc,
		.level = d->level <= LEVEL_FATAL ? (enum level)d->level : LEVEL_NONE,
		.logger = string(m, d->logger),
		.is_below = d->flags & POINT_ANY_BELOW,
		.has_error = d->flags & POINT_HAS_ERROR,
		.is_handed = d->flags & POINT_IS_HANDED,
		.is_exceptional = d->flags & POINT_IS_EXCEPTIONAL,
		.has_id = d->flags & POINT_HAS_ID,
		.is_common = d->flags & POINT_IS_COMMON,
		.versions = range(d->versions),
		.tops = list(m, SECTION_TOP_LISTS, d->tops),
	};
}

struct model_version model_version(const struct model_file *m, uint32_t version)
{
	const struct disk_version *d = record(m, SECTION_VERSIONS, version);

	return (struct model_version){ d->point, range(d->parts), d->letters, d->literal };
}

struct model_part model_part(const struct model_file *m, uint32_t part)
{
	const struct disk_part *d = record(m, SECTION_PARTS, part);
	unsigned kind = d->flags & PART_KIND_MASK, type = d->flags >> PART_TYPE_SHIFT & 0xf;

	return (struct model_part){
		.kind = kind <= PART_ANY ? (enum part_kind)kind : PART_ANY,
		.type = type <= HOLE_ERROR ? (enum hole_type)type : HOLE_OBJECT,
		.text = string(m, d->text),
		.path = string(m, d->path),
		.is_id = d->flags & PART_IS_ID,
	};
}

struct model_top model_top(const struct model_file *m, uint32_t top)
{
	const struct disk_top *d = record(m, SECTION_TOPS, top);

	return (struct model_top){
		.method = d->method,
		.why = d->flags & TOP_WHY_MASK,
		.may_be_silent = d->flags & TOP_MAY_BE_SILENT,
		.total = d->total,
		.ids = range(d->ids),
		.nodes = range(d->nodes),
		.points = list(m, SECTION_POINT_LISTS, d->points),
		.pairs = list(m, SECTION_PAIR_LISTS, d->pairs),
	};
}

struct model_id model_id(const struct model_file *m, uint32_t id)
{
	const struct disk_id *d = record(m, SECTION_IDS, id);

	return (struct model_id){ string(m, d->path), string(m, d->name), d->count };
}

struct model_node model_node(const struct model_file *m, uint32_t node)
{
	const struct disk_node *d = record(m, SECTION_NODES, node);

	return (struct model_node){
		.is_repeated = d->flags & NODE_IS_REPEATED,
		.is_exceptional = d->flags & NODE_IS_EXCEPTIONAL,
		.is_first = d->flags & NODE_IS_FIRST,
		.is_last = d->flags & NODE_IS_LAST,
		.points = list(m, SECTION_POINT_LISTS, d->points),
		.ahead = list(m, SECTION_NODE_LISTS, d->next),
	};
}

struct model_pair model_pair(const struct model_file *m, uint32_t pair)
{
	const struct disk_pair *d = record(m, SECTION_PAIRS, pair);

	return (struct model_pair){ .from = d->from,
				    .to = d->to,
				    .kind = d->flags & PAIR_KIND_MASK,
				    .is_many = d->flags & PAIR_TO_MANY,
				    .from_is_link = d->flags & PAIR_FROM_LINK,
				    .to_is_link = d->flags & PAIR_TO_LINK,
				    .where = d->where,
				    .line = d->line,
				    .through = string(m, d->through),
				    .shared = range(d->shared) };
}

struct model_shared model_shared(const struct model_file *m, uint32_t shared)
{
	const struct disk_shared *d = record(m, SECTION_SHARED, shared);

	return (struct model_shared){ string(m, d->from), string(m, d->to) };
}

struct model_thread_name model_thread_name(const struct model_file *m, uint32_t name)
{
	const struct disk_name *d = record(m, SECTION_NAMES, name);

	return (struct model_thread_name){ d->method, d->runs, d->line, d->is_own != 0,
					   range(d->versions) };
}

struct model_literal model_literal(const struct model_file *m, uint32_t literal)
{
	const struct disk_literal *d = record(m, SECTION_LITERALS, literal);

	return (struct model_literal){ string(m, d->text), d->version };
}

struct model_logger model_logger(const struct model_file *m, uint32_t logger)
{
	const struct disk_logger *d = record(m, SECTION_LOGGERS, logger);

	return (struct model_logger){ string(m, d->name), list(m, SECTION_POINT_LISTS, d->points) };
}

struct model_place model_place(const struct model_file *m, uint32_t place)
{
	const struct disk_place *d = record(m, SECTION_PLACES, place);

	return (struct model_place){ string(m, d->file), d->line, d->point };
}
